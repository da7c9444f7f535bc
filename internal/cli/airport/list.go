package airport

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/traction-go/traction/internal/cli/command"
	"github.com/traction-go/traction/internal/cli/factory"
	"github.com/traction-go/traction/internal/cli/form"
	"github.com/traction-go/traction/internal/cli/render"
	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/governor"
)

type lister interface {
	Airports(ctx context.Context) ([]governor.AirportInfo, error)
}

type listOptions struct {
	*factory.Factory
	Open func(context.Context) (lister, error)
}

func newList(f *factory.Factory, runF func(context.Context, *listOptions) error) *cobra.Command {
	opts := &listOptions{Factory: f, Open: func(ctx context.Context) (lister, error) { return f.Governor(ctx) }}
	return &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List every airport, the stopped ones first",
		Example: `  tractionctl airport list
  tractionctl airport list -o json | jq -r '.[] | select(.state != "OPEN") | .airport'`,
		Args: command.None,
		RunE: func(cmd *cobra.Command, _ []string) error {
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
	airports, err := gov.Airports(ctx)
	if err != nil {
		return err
	}
	form.SortAirports(airports)
	if opts.Output != render.AsTable {
		return render.List(opts.Out, opts.Output, form.Each(airports, form.OfAirport))
	}
	if len(airports) == 0 {
		s, err := opts.Settings()
		if err != nil {
			return err
		}
		opts.Notef("no airport is declared in namespace %s yet: a worker declares its airports when it starts\n", s.Namespace)
		return nil
	}
	return table(airports, opts).Write(opts.Out, opts.Width, opts.Palette())
}

func table(airports []governor.AirportInfo, opts *listOptions) render.Table {
	now := opts.Now()
	t := render.Table{Columns: []render.Column{
		{Name: "AIRPORT"}, {Name: "STATE"}, {Name: "SINCE"}, {Name: "RUNWAY", Right: true},
		{Name: "HOLDING", Right: true, Spare: true}, {Name: "PARKED", Right: true}, {Name: "IN-AIR", Right: true, Spare: true},
		{Name: "WORKERS", Right: true}, {Name: "SLOTS", Spare: true}, {Name: "REASON", Flex: true},
	}}
	adopt := slices.ContainsFunc(airports, func(a governor.AirportInfo) bool { return form.Adopts(a.Gates) })
	if adopt {
		t.Columns = slices.Insert(t.Columns, len(t.Columns)-1, render.Column{Name: "ADOPTED", Right: true})
	}
	for _, a := range airports {
		row := []string{
			a.Airport, string(a.State), render.Ago(now, a.Since), render.Count(a.Runway).String(),
			render.Count(a.Holding).String(), render.Count(a.Parked).String(), render.Count(a.InAir).String(),
			render.Count(a.Workers).String(), slots(a), form.Why(a.Reason, a.Evidence),
		}
		if adopt {
			n := ""
			if form.Adopts(a.Gates) {
				n = render.Count(a.Adopted).String()
			}
			row = slices.Insert(row, len(row)-1, n)
		}
		t.Rows = append(t.Rows, row)
	}
	t.Style = func(r, c int) render.Style {
		if c == 1 {
			return render.StateStyle(airports[r].State)
		}
		return render.Plain
	}
	return t
}

// slots is one word, so that a script can count columns: 3/20/1s.
func slots(a governor.AirportInfo) string {
	if a.Slots == 0 {
		return "unlimited"
	}
	return fmt.Sprintf("%s/%s/%s", used(a.SlotsUsed), strconv.Itoa(a.Slots), wire.ShortDuration(a.Window))
}

func used(n int) string {
	if n < 0 {
		return "?"
	}
	return strconv.Itoa(n)
}
