// Package doctor is `tractionctl doctor`: is everything that Traction stands on the
// way it must be?
package doctor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"

	"github.com/spf13/cobra"

	"github.com/traction-go/traction/internal/cli/command"
	"github.com/traction-go/traction/internal/cli/exit"
	"github.com/traction-go/traction/internal/cli/factory"
	"github.com/traction-go/traction/internal/cli/form"
	"github.com/traction-go/traction/internal/cli/render"
	"github.com/traction-go/traction/internal/config"
	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/governor"
)

type options struct {
	*factory.Factory
	// Examine looks; tests replace it.
	Examine func(ctx context.Context, c governor.Config, airports ...governor.Airport) ([]governor.Finding, error)

	Config     string // a worker's file, or ""
	Management string
}

// New makes the command.
func New(f *factory.Factory) *cobra.Command { return newDoctor(f, nil) }

func newDoctor(f *factory.Factory, runF func(context.Context, *options) error) *cobra.Command {
	opts := &options{Factory: f, Examine: governor.Examine}
	cmd := &cobra.Command{
		Use:   "doctor [-c traction.yaml]",
		Short: "Look whether broker, store and fleet are as they must be, and how to mend it",
		Long: `Looks at the broker and the store, their versions and settings, the queues and the
policies that act on them, clocks, workers, towers and unsent notifications. With a
worker's configuration it also compares what that wants with what is declared, and says
which declaration would be refused. It changes nothing.

Each finding is ok, a note, a warning or serious, with its fix. Exit 1 when one is
serious. The flags and the environment say where to look; where they are silent, the
configuration does.`,
		Example: `  tractionctl doctor
  tractionctl doctor -c traction.yaml
  tractionctl doctor -o json | jq -r '.[] | select(.level == "serious") | .fix'`,
		Args: command.None,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if runF != nil {
				return runF(cmd.Context(), opts)
			}
			return run(cmd.Context(), opts)
		},
	}
	cmd.Flags().StringVarP(&opts.Config, "config", "c", "", "compare with what the worker's configuration `FILE` wants")
	cmd.Flags().StringVar(&opts.Management, "management-url", "", "`URL` of the broker's management API (default the broker's host, port 15672)")
	return cmd
}

// finding is a finding as JSON.
type finding struct {
	Level   string    `json:"level"`
	Check   string    `json:"check"`
	Subject wire.Text `json:"subject"`
	Found   wire.Text `json:"found"`
	Fix     wire.Text `json:"fix"`
}

func run(ctx context.Context, opts *options) error {
	s, err := opts.Settings()
	if err != nil {
		return err
	}
	var airports []governor.Airport
	if opts.Config != "" {
		wanted, err := config.Load(opts.Config, os.LookupEnv)
		if err != nil {
			return exit.Usagef("%w", err)
		}
		var closes func()
		if airports, closes, err = wanted.Declare(); err != nil {
			return exit.Usagef("%w", err)
		}
		defer closes()
		s = s.Where(wanted.AMQP, wanted.Redis, wanted.Namespace)
		if wanted.Namespace != "" && wanted.Namespace != s.Namespace {
			opts.Notef("note: %s is for namespace %s; looking at namespace %s\n", opts.Config, wanted.Namespace, s.Namespace)
		}
	}
	c := governor.Config{AMQP: s.AMQP, Redis: s.Redis, Namespace: s.Namespace, Name: "tractionctl", NoTower: true, Management: opts.Management,
		// What goes wrong is a finding, not a line of a log.
		Logger: slog.New(slog.NewTextHandler(io.Discard, nil))}
	ctx, cancel := opts.Bound(ctx)
	defer cancel()
	found, err := opts.Examine(ctx, c, airports...)
	if err != nil {
		return err
	}
	if err := print(opts, found); err != nil {
		return err
	}
	return verdict(found)
}

var errSick = errors.New("something is seriously wrong")

// verdict is an error where a finding is serious.
func verdict(found []governor.Finding) error {
	n, fix := 0, ""
	for _, f := range found {
		if f.Level == governor.LevelSerious {
			if n++; fix == "" {
				fix = f.Fix
			}
		}
	}
	if n == 0 {
		return nil
	}
	return exit.WithHint(fmt.Errorf("%s: %w", render.Plural(render.Count(n), "serious finding"), errSick), "%s", fix)
}

func print(opts *options, found []governor.Finding) error {
	if opts.Output != render.AsTable {
		return render.List(opts.Out, opts.Output, form.Each(found, func(f governor.Finding) finding {
			return finding{string(f.Level), f.Check, wire.Text(f.Subject), wire.Text(f.Found), wire.Text(f.Fix)}
		}))
	}
	// Not cut to the terminal: a fix that is cut is none.
	p := opts.Palette()
	for _, f := range found {
		subject := ""
		if f.Subject != "" {
			subject = " " + wire.Visible(f.Subject)
		}
		if _, err := fmt.Fprintf(opts.Out, "%s  %s%s: %s\n", p.Paint(style(f.Level), fmt.Sprintf("%-7s", f.Level)), f.Check, subject, wire.Visible(f.Found)); err != nil {
			return err
		}
		if f.Fix != "" {
			if _, err := fmt.Fprintf(opts.Out, "         fix: %s\n", wire.Visible(f.Fix)); err != nil {
				return err
			}
		}
	}
	return nil
}

func style(l governor.Level) render.Style {
	switch l {
	case governor.LevelOK:
		return render.Good
	case governor.LevelWarning:
		return render.Warn
	case governor.LevelSerious:
		return render.Alarm
	}
	return render.Plain
}
