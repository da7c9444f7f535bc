// Package status is `tractionctl status`, the first thing to type: what is
// stopped, delayed or parked, why, since when, what waits, and the next command.
package status

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/traction-go/traction/internal/cli/command"
	"github.com/traction-go/traction/internal/cli/factory"
	"github.com/traction-go/traction/internal/cli/form"
	"github.com/traction-go/traction/internal/cli/render"
	"github.com/traction-go/traction/pkg/governor"
)

type reader interface {
	Airports(ctx context.Context) ([]governor.AirportInfo, error)
	Processes(ctx context.Context) ([]governor.ProcessInfo, error)
}

type options struct {
	*factory.Factory
	Open func(context.Context) (reader, error)
}

// New makes the command.
func New(f *factory.Factory) *cobra.Command { return newCmd(f, nil) }

func newCmd(f *factory.Factory, runF func(context.Context, *options) error) *cobra.Command {
	opts := &options{Factory: f, Open: func(ctx context.Context) (reader, error) { return f.Governor(ctx) }}
	return &cobra.Command{
		Use:   "status",
		Short: "What is stopped, delayed or parked, why, and what to do next",
		Long: `Reads everything once and prints what needs attention, the strictest state first, each
with its reason, what waits, and the next command. It is what tractionctl does when it
is typed alone. It exits 0 whether or not something is stopped.`,
		Example: `  tractionctl
  tractionctl status -o json | jq -r '.attention[].scope'`,
		Args: command.None,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if runF != nil {
				return runF(cmd.Context(), opts)
			}
			return run(cmd.Context(), opts)
		},
	}
}

func run(ctx context.Context, opts *options) error {
	s, err := opts.Settings()
	if err != nil {
		return err
	}
	ctx, cancel := opts.Bound(ctx)
	defer cancel()
	gov, err := opts.Open(ctx)
	if err != nil {
		return err
	}
	airports, err := gov.Airports(ctx)
	if err != nil {
		return err
	}
	processes, err := gov.Processes(ctx)
	if err != nil {
		return err
	}
	form.SortAirports(airports)
	r := Survey(airports, processes)
	r.Namespace = s.Namespace
	if opts.Output != render.AsTable {
		return render.One(opts.Out, opts.Output, r)
	}
	return r.print(opts)
}
