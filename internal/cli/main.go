package cli

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/traction-go/traction/internal/cli/exit"
	"github.com/traction-go/traction/internal/cli/factory"
	"github.com/traction-go/traction/internal/cli/streams"
	"github.com/traction-go/traction/internal/store"
	"github.com/traction-go/traction/internal/wire"
)

// closeTimeout bounds the goodbye to the broker and the store.
const closeTimeout = 2 * time.Second

// Main runs tractionctl with the process's arguments and gives its exit code.
func Main() int {
	store.Quiet()
	ctx, stop := untilSignal(context.Background())
	defer stop()
	f := factory.New(streams.System(os.Getenv), os.Getenv)
	return Run(ctx, f, os.Args[1:])
}

// Run runs one command line and gives its exit code. Errors are written to f.Err.
func Run(ctx context.Context, f *factory.Factory, args []string) int {
	root := NewRoot(f)
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(ctx)
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
	defer cancel()
	if closeErr := f.Close(closing); err == nil && closeErr != nil {
		// The command is done: a goodbye that failed changes nothing about that.
		f.Notef("warning: closing the connections: %s\n", wire.Visible(closeErr.Error()))
	}
	// A call that was cut off says "context canceled"; the cause says by what.
	var signal *exit.SignalError
	if err != nil && errors.As(context.Cause(ctx), &signal) && exit.Code(err) != exit.Code(signal) {
		err = errors.Join(err, signal)
	}
	if err != nil {
		report(f, cmd, err)
	}
	return exit.Code(err)
}

// untilSignal gives a context that ends with a SignalError at the first SIGINT or
// SIGTERM. A second one ends the process at once.
func untilSignal(parent context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	done := make(chan struct{})
	go func() {
		for n := 0; ; n++ {
			select {
			case <-done:
				return
			case s := <-signals:
				if n > 0 {
					os.Exit(exit.Code(&exit.SignalError{Signal: s}))
				}
				cancel(&exit.SignalError{Signal: s})
			}
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		close(done)
		cancel(nil)
	}
}
