package queue

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/traction-go/traction/internal/cli/command"
	"github.com/traction-go/traction/internal/cli/exit"
	"github.com/traction-go/traction/internal/cli/factory"
	"github.com/traction-go/traction/internal/cli/render"
	"github.com/traction-go/traction/internal/cli/settings"
	"github.com/traction-go/traction/internal/config"
	"github.com/traction-go/traction/internal/rehearse"
	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/governor"
)

type rehearseOptions struct {
	*factory.Factory
	Rehearse func(context.Context, rehearse.Options) (*rehearse.Report, error)

	Config  string
	Flights int
	Verbose bool
}

func newRehearse(f *factory.Factory, runF func(context.Context, *rehearseOptions) error) *cobra.Command {
	opts := &rehearseOptions{Factory: f, Rehearse: rehearse.Run}
	cmd := &cobra.Command{
		Use:   "rehearse -c traction.yaml",
		Short: "Fly a worker's configuration through everything, in a throw-away namespace",
		Long: `Lays the topology that the configuration wants in a namespace of its own, and sends
flights through every settlement and back: land, reject, hold, park, replay, discard, a
stop and a reopen of every gate and airport, the intake and the routes of adopted queues,
and the way back to their old consumer. Then it removes everything, looks again, and
prints a verdict; also after a failure and on Ctrl-C.

No vendor is called, and no queue of the configuration's own namespace is touched. What
stands there is compared with what the configuration wants, and a declaration that the
broker would refuse is found. For an adopted queue a stand-in is declared with the type
and arguments that the real one has on that broker.

The flags and the environment say where; where they are silent, the configuration does.
--namespace names the throw-away namespace: one that is not empty is refused (exit 4).
A failed step exits 1. A process that is killed leaves a namespace rehearse-XXXXXXXX.`,
		Example: `  tractionctl queue rehearse -c traction.yaml
  tractionctl queue rehearse -c traction.yaml --amqp-url amqp://localhost --redis-url redis://localhost
  tractionctl queue rehearse -c traction.yaml -o json | jq -r .verdict`,
		Args: command.None,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if opts.Config == "" {
				return exit.Usagef("rehearse wants the worker's configuration: -c traction.yaml")
			}
			if opts.Flights < 1 || opts.Flights > rehearse.MaxFlights {
				return exit.Usagef("--flights %d: want 1 to %d", opts.Flights, rehearse.MaxFlights)
			}
			if runF != nil {
				return runF(cmd.Context(), opts)
			}
			return runRehearse(cmd.Context(), opts)
		},
	}
	cmd.Flags().StringVarP(&opts.Config, "config", "c", "", "the worker's configuration `FILE`")
	cmd.Flags().IntVar(&opts.Flights, "flights", rehearse.DefaultFlights, "send `N` flights to each gate in each step")
	cmd.Flags().BoolVar(&opts.Verbose, "verbose", false, "show the log of the rehearsal's workers")
	return cmd
}

func runRehearse(ctx context.Context, opts *rehearseOptions) error {
	s, err := opts.Settings()
	if err != nil {
		return err
	}
	if s.ReadOnly {
		return exit.WithHint(fmt.Errorf("context %s is read-only: %w", s.Context, governor.ErrRefused), "choose another --context: a rehearsal declares queues, in a namespace of its own")
	}
	wanted, err := config.Load(opts.Config, os.LookupEnv)
	if err != nil {
		return exit.Usagef("%w", err)
	}
	airports, closes, err := wanted.Declare()
	if err != nil {
		return exit.Usagef("%w", err)
	}
	defer closes()
	at := s.Where(wanted.AMQP, wanted.Redis, "")
	o := rehearse.Options{AMQP: at.AMQP, Redis: at.Redis, Namespace: opts.Flags.Namespace, Wanted: wanted.Namespace, Airports: airports,
		Flights: opts.Flights, Actor: s.Actor, Timeout: opts.Timeout}
	if opts.Verbose {
		o.Logger = slog.New(slog.NewTextHandler(opts.Err, nil))
	}
	p := &printer{rehearseOptions: opts}
	o.Begun, o.Told = p.begun(&settings.Settings{AMQP: o.AMQP, Redis: o.Redis}), p.told
	r, err := opts.Rehearse(ctx, o)
	if r == nil {
		return hinted(err)
	}
	return errors.Join(hinted(err), p.ended(r))
}

// hinted says what to do next.
func hinted(err error) error {
	var m *rehearse.Mismatch
	switch {
	case errors.As(err, &m):
		return exit.WithHint(err, "%s", m.Next)
	case errors.Is(err, governor.ErrRefused):
		return exit.WithHint(err, "leave out --namespace, or name one that nothing uses")
	}
	return err
}

// printer prints a rehearsal as it goes on. Its methods are called by one goroutine.
type printer struct {
	*rehearseOptions
	failed error // of the output
}

func (p *printer) printf(format string, args ...any) {
	if p.failed == nil && p.Output == render.AsTable {
		_, p.failed = fmt.Fprintf(p.Out, format, args...)
	}
}

// stepWidth is the longest name of a step.
const stepWidth = len("airport reopen")

func (p *printer) begun(where *settings.Settings) func(*rehearse.Report) {
	return func(r *rehearse.Report) {
		amqp, redis := where.Masked()
		p.Notef("broker %s  store %s  namespace %s\n", amqp, redis, r.Namespace)
		p.printf("rehearsal of %s in namespace %s, %s to each gate in each step\n", wire.Visible(filepath.Base(p.Config)), r.Namespace, render.Plural(render.Count(r.Flights), "flight"))
		for _, n := range r.Notes {
			p.printf("  %s\n", wire.Visible(n))
		}
		p.printf("\n%s\n", p.Palette().Paint(render.Dim, fmt.Sprintf("%-*s  RESULT     TOOK  SEEN", stepWidth, "STEP")))
	}
}

func (p *printer) told(s rehearse.Step) {
	seen := s.Seen
	if s.Result == rehearse.Failed {
		seen = fmt.Sprintf("wanted %s; saw %s", s.Wanted, s.Seen)
	}
	p.printf("%-*s  %s  %5.1fs  %s\n", stepWidth, s.Name, p.Palette().Paint(style(s.Result), fmt.Sprintf("%-7s", s.Result)), s.Took.Seconds(), or(wire.Visible(seen), "-"))
}

func style(r rehearse.Result) render.Style {
	switch r {
	case rehearse.Passed:
		return render.Good
	case rehearse.Failed:
		return render.Alarm
	}
	return render.Dim
}

func (p *printer) ended(r *rehearse.Report) error {
	if p.Output != render.AsTable {
		return render.One(p.Out, p.Output, rehearsed(p.Config, r))
	}
	if len(r.Books) > 0 && p.failed == nil {
		p.printf("\n")
		p.failed = errors.Join(p.failed, books(r).Write(p.Out, p.Width, p.Palette()))
	}
	p.printf("\n")
	for _, s := range r.Failures() {
		p.printf("next: %s\n", wire.Visible(s.Next))
	}
	p.printf("%s\n", p.Palette().Paint(render.Bold, wire.Visible("verdict: "+r.Verdict())))
	return p.failed
}

func books(r *rehearse.Report) render.Table {
	t := render.Table{Columns: []render.Column{{Name: "GATE", Flex: true}, {Name: "SENT", Right: true}, {Name: "LANDED", Right: true}, {Name: "REJECTED", Right: true},
		{Name: "PARKED", Right: true}, {Name: "DISCARDED", Right: true}, {Name: "LEFT", Right: true}}}
	for _, b := range r.Books {
		row := []string{b.Gate}
		for _, n := range []int{b.Sent, b.Landed, b.Rejected, b.Parked, b.Discarded, b.Left} {
			row = append(row, render.Count(n).String())
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func or(s, other string) string {
	if s == "" {
		return other
	}
	return s
}
