package exit

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"testing"

	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/governor"
)

func TestCode(t *testing.T) {
	wrap := func(err error) error { return fmt.Errorf("airport crm:acme: %w", err) }
	_, badName := wire.ParseScope("a b")
	for _, c := range []struct {
		name string
		err  error
		want int
	}{
		{"nil", nil, 0},
		{"no class", errors.New("boom"), 1},
		{"usage", wrap(Usagef("no such flag")), 2},
		{"bad name", wrap(badName), 2},
		{"bad namespace", governor.Config{AMQP: "a", Redis: "b", Namespace: "A B"}.Validate(), 2},
		{"no such file", wrap(governor.ErrFile), 2},
		{"not found", wrap(governor.ErrNotFound), 3},
		{"refused", wrap(governor.ErrRefused), 4},
		{"unreachable", wrap(governor.ErrUnreachable), 5},
		{"timed out", wrap(context.DeadlineExceeded), 5},
		{"partial", wrap(governor.ErrPartial), 6},
		{"partial, for want of a broker", errors.Join(governor.ErrUnreachable, governor.ErrPartial), 6},
		{"hint keeps the class", WithHint(wrap(governor.ErrRefused), "do %s", "that"), 4},
		{"interrupt", wrap(&SignalError{os.Interrupt}), 130},
		{"interrupt in the middle", errors.Join(governor.ErrPartial, &SignalError{os.Interrupt}), 130},
		{"terminate", wrap(&SignalError{syscall.SIGTERM}), 143},
	} {
		if got := Code(c.err); got != c.want {
			t.Errorf("%s: Code(%v) = %d, want %d", c.name, c.err, got, c.want)
		}
	}
}

func TestEveryCodeHasAMeaning(t *testing.T) {
	last := -1
	for _, m := range Codes() {
		if m.Code <= last || m.Name == "" || m.Text == "" {
			t.Errorf("%+v: want ascending codes with a name and a text", m)
		}
		last = m.Code
		if Name(m.Code) != m.Name {
			t.Errorf("Name(%d) = %q, want %q", m.Code, Name(m.Code), m.Name)
		}
	}
}

func TestWithHintKeepsNil(t *testing.T) {
	if err := WithHint(nil, "x"); err != nil {
		t.Fatalf("WithHint(nil) = %v, want nil", err)
	}
}
