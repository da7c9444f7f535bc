package workercmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/traction-go/traction/internal/cli/exit"
	"github.com/traction-go/traction/internal/config"
	"github.com/traction-go/traction/internal/wire"
)

// Run runs one command line and gives its exit code. Errors are written to w.Err.
func Run(ctx context.Context, w *World, args []string) int {
	root := newRoot(w)
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		return exit.Done
	}
	report(w.Err, cmd.CommandPath(), err)
	return exit.Code(err)
}

// report writes an error: a configuration's problems one by one, as an editor can
// jump to them; anything else in a line, and what to do next.
func report(to io.Writer, command string, err error) {
	var problems config.Problems
	if errors.As(err, &problems) {
		fmt.Fprintf(to, "%s\n%s: the configuration is refused; nothing was started\n", problems, command)
		return
	}
	fmt.Fprintf(to, "%s: %s\n", command, wire.Visible(wire.Mask(err.Error())))
	var hint *exit.Hint
	if errors.As(err, &hint) {
		fmt.Fprintf(to, "  next: %s\n", hint.Next)
	} else if errors.Is(err, exit.ErrUsage) {
		fmt.Fprintf(to, "  next: %s --help\n", command)
	}
}

// untilSignal gives a context that ends with an exit.SignalError at the first
// signal. A second one ends the process at once.
func untilSignal(parent context.Context, signals <-chan os.Signal, end func(code int)) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(parent)
	done := make(chan struct{})
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		for first := true; ; first = false {
			select {
			case <-done:
				return
			case s := <-signals:
				if !first {
					end(exit.Code(&exit.SignalError{Signal: s}))
					return
				}
				cancel(&exit.SignalError{Signal: s})
			}
		}
	}()
	return ctx, func() {
		close(done)
		<-gone
		cancel(nil)
	}
}
