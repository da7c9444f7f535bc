package governor

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/traction-go/traction/internal/store"
)

// A call that is under way when its caller is told to stop says why it ended, not that
// the store does not answer.
func TestAnInterruptedCallSaysWhy(t *testing.T) {
	t.Parallel()
	signal, own := errors.New("ended by a signal"), errors.New("refused")
	live := t.Context()
	stopped, stop := context.WithCancelCause(live)
	stop(signal)
	call := classed(fmt.Errorf("%w: %w", store.ErrUnreachable, context.Canceled))
	partly := fmt.Errorf("%w: %w", ErrPartial, signal)
	for name, c := range map[string]struct {
		ctx  context.Context
		err  error
		want error
	}{
		"a call under way":       {stopped, call, signal},
		"one that said why":      {stopped, partly, partly},
		"another failure":        {stopped, own, own},
		"none":                   {stopped, nil, nil},
		"while it still is on":   {live, call, call},
		"and nothing went amiss": {live, nil, nil},
	} {
		if got := interrupted(c.ctx, c.err); !errors.Is(got, c.want) || c.want == signal && errors.Is(got, ErrUnreachable) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
