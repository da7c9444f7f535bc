// Package top is `tractionctl top`: it decides what the live view is shown on, and
// keeps the log off the screen while it stands there.
package top

import (
	"context"
	"errors"
	"fmt"
	"io"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/traction-go/traction/internal/cli/command"
	"github.com/traction-go/traction/internal/cli/exit"
	"github.com/traction-go/traction/internal/cli/factory"
	"github.com/traction-go/traction/internal/cli/render"
	"github.com/traction-go/traction/internal/cli/settings"
	"github.com/traction-go/traction/internal/top"
	"github.com/traction-go/traction/internal/wire"
)

// looked is what the view looks at and acts on.
type looked interface {
	top.Reader
	top.Verbs
}

type options struct {
	*factory.Factory
	Open func(context.Context) (looked, error)

	Once     bool
	ReadOnly bool
	Interval time.Duration
}

// New makes the command.
func New(f *factory.Factory) *cobra.Command { return newCmd(f, nil) }

func newCmd(f *factory.Factory, runF func(context.Context, *options) error) *cobra.Command {
	opts := &options{Factory: f, Open: func(ctx context.Context) (looked, error) { return f.Governor(ctx) }}
	cmd := &cobra.Command{
		Use:   "top",
		Short: "Watch every airport live, and act on what is stopped",
		Long: `Shows every airport, the stopped ones first: what waits, flies, lands and is parked, and
when the rest will have landed at this pace. Enter goes into an airport: its gates,
incidents, parked flights and charters. ? lists the keys.

Reopen, pause and replay ask first, naming the scope. With --read-only, or in a context
that says read_only, they are not there.

Each panel says how old its data is. When the broker or the store does not answer, it
keeps what it knew, says STALE and for how long, and goes on by itself.

Without a terminal it prints a plain frame every interval until it is stopped.`,
		Example: `  tractionctl top
  tractionctl top --read-only --interval 5s
  tractionctl top --once | grep STOPPED`,
		Args: command.None,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if opts.Interval < top.MinInterval {
				return exit.Usagef("--interval %s: want at least %s", opts.Interval, top.MinInterval)
			}
			if f.Output != render.AsTable {
				return exit.WithHint(exit.Usagef("top shows frames, not %s", f.Output), "tractionctl airport list -o %s", f.Output)
			}
			if runF != nil {
				return runF(cmd.Context(), opts)
			}
			return run(cmd.Context(), opts)
		},
	}
	cmd.Flags().BoolVar(&opts.Once, "once", false, "print one frame as text and end")
	cmd.Flags().BoolVar(&opts.ReadOnly, "read-only", false, "only look: no reopen, pause or replay")
	cmd.Flags().DurationVar(&opts.Interval, "interval", top.DefaultInterval, "`DURATION` between two looks")
	return cmd
}

func run(ctx context.Context, opts *options) error {
	s, err := opts.Settings()
	if err != nil {
		return err
	}
	live := opts.InTTY && opts.OutTTY && !opts.Once
	// The governor logs to the Err it was opened with. On a screen that would tear
	// the picture; what it would say stands in the picture itself.
	toldTo := opts.Err
	if live {
		opts.Err = io.Discard
	}
	bound, cancel := opts.Bound(ctx)
	gov, err := opts.Open(bound)
	cancel()
	opts.Err = toldTo
	if err != nil {
		return err
	}
	o := view(opts, s, gov)
	if opts.Once {
		return top.Once(ctx, o, opts.Out, opts.Width)
	}
	if !live {
		return top.Frames(ctx, o, opts.Out, opts.Width)
	}
	told, err := top.Run(ctx, o, opts.In, opts.Out)
	if told != "" {
		fmt.Fprintln(opts.Err, told)
	}
	if hangup := (*top.HangupError)(nil); errors.As(err, &hangup) {
		return &exit.SignalError{Signal: syscall.SIGHUP}
	}
	return err
}

// view gives what the view is made from.
func view(opts *options, s *settings.Settings, gov looked) top.Options {
	o := top.Options{
		Reader: gov, Verbs: gov, Interval: opts.Interval, Timeout: opts.Timeout, Namespace: s.Namespace, Actor: s.Actor,
		Command: shell(s.Context, opts.Flags.Context, s.Namespace), Color: opts.Palette().Color, ASCII: top.ASCIIOnly(opts.Getenv), Now: opts.Now,
	}
	switch {
	case opts.ReadOnly:
		o.ReadOnly = "--read-only"
	case s.ReadOnly:
		o.ReadOnly = "context " + wire.Visible(s.Context)
	}
	return o
}

// shell is how an equivalent command begins: with the context that was named, or
// the namespace where it is not the usual one. URLs are left out: they may carry
// a password.
func shell(context, named, namespace string) string {
	switch {
	case context != "" && named != "":
		return "tractionctl --context " + wire.Visible(context)
	case context == "" && namespace != string(wire.DefaultNamespace):
		return "tractionctl --namespace " + wire.Visible(namespace)
	}
	return "tractionctl"
}
