package governor

import (
	"context"
	"errors"
	"testing"
	"time"
)

// A program that was killed at the timeout says so in words, with the gate's timeout.
func TestATimeoutIsSaidInWords(t *testing.T) {
	ctx := context.WithValue(t.Context(), timeoutKey{}, 30*time.Second)
	err := stopped(ctx, context.DeadlineExceeded, "slow")
	if e := evidence(err, nil); e.Class != "" || e.Excerpt != "killed at its timeout of 30s: slow" {
		t.Errorf("%+v", e)
	}
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Error("it is no deadline any more")
	}
	if e := evidence(stopped(ctx, context.Canceled, ""), nil); e.Excerpt != "killed as the worker was told to stop" {
		t.Errorf("%+v", e)
	}
}
