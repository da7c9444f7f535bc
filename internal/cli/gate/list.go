package gate

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/traction-go/traction/internal/cli/advice"
	"github.com/traction-go/traction/internal/cli/command"
	"github.com/traction-go/traction/internal/cli/factory"
	"github.com/traction-go/traction/internal/cli/form"
	"github.com/traction-go/traction/internal/cli/render"
	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/governor"
)

type lister interface {
	Airport(ctx context.Context, id string) (governor.AirportInfo, error)
	Airports(ctx context.Context) ([]governor.AirportInfo, error)
}

type listOptions struct {
	*factory.Factory
	Open    func(context.Context) (lister, error)
	Airport string // "" for all
}

func newList(f *factory.Factory, runF func(context.Context, *listOptions) error) *cobra.Command {
	opts := &listOptions{Factory: f, Open: func(ctx context.Context) (lister, error) { return f.Governor(ctx) }}
	return &cobra.Command{
		Use:     "list [AIRPORT]",
		Aliases: []string{"ls"},
		Short:   "List the gates of one airport, or of all, the stopped ones first",
		Example: `  tractionctl gate list
  tractionctl gate list crm:acme -o jsonl`,
		Args: command.AtMost("AIRPORT"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				opts.Airport = args[0]
				if _, err := wire.ParseAirport(opts.Airport); err != nil {
					return err
				}
			}
			if runF != nil {
				return runF(cmd.Context(), opts)
			}
			return runList(cmd.Context(), opts)
		},
	}
}

func runList(ctx context.Context, opts *listOptions) error {
	ctx, cancel := opts.Bound(ctx)
	defer cancel()
	gov, err := opts.Open(ctx)
	if err != nil {
		return err
	}
	airports, err := chosen(ctx, gov, opts.Airport)
	if err != nil {
		return err
	}
	var gates []governor.GateInfo
	above := map[string]governor.AirportInfo{} // by gate
	for _, a := range airports {
		for _, g := range a.Gates {
			gates, above[g.Gate] = append(gates, g), a
		}
	}
	form.SortGates(gates)
	if opts.Output != render.AsTable {
		return render.List(opts.Out, opts.Output, form.Each(gates, form.OfGate))
	}
	if len(gates) == 0 {
		opts.Notef("no gate is declared here yet: a worker declares its gates when it starts\n")
		return nil
	}
	because := func(g governor.GateInfo) string { return advice.Because(g, above[g.Gate]) }
	return form.GateTable(gates, because, opts.Now()).Write(opts.Out, opts.Width, opts.Palette())
}

// chosen reads one airport, or all ("").
func chosen(ctx context.Context, gov lister, airport string) ([]governor.AirportInfo, error) {
	if airport == "" {
		return gov.Airports(ctx)
	}
	a, err := gov.Airport(ctx, airport)
	return []governor.AirportInfo{a}, err
}
