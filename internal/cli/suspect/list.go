package suspect

import (
	"context"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/traction-go/traction/internal/cli/command"
	"github.com/traction-go/traction/internal/cli/exit"
	"github.com/traction-go/traction/internal/cli/factory"
	"github.com/traction-go/traction/internal/cli/form"
	"github.com/traction-go/traction/internal/cli/render"
	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/governor"
)

type lister interface {
	Suspects(ctx context.Context, airport string) ([]governor.SuspectInfo, error)
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
		Short:   "List suspects and convicted flights, the latest death first",
		Example: `  tractionctl suspect list crm:acme
  tractionctl suspect list -o json | jq -r '.[] | select(.verdict == "CONVICTED") | .flight'`,
		Args: command.AtMost("AIRPORT"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				opts.Airport = args[0]
				if s, err := wire.ParseScope(opts.Airport); err != nil {
					return err
				} else if s.Gate != "" {
					return exit.Usagef("%s is not an airport: suspects are an airport's, %s", s, s.Airport)
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
	list, err := gov.Suspects(ctx, opts.Airport)
	if err != nil {
		return err
	}
	if opts.Output != render.AsTable {
		return render.List(opts.Out, opts.Output, form.Each(list, form.OfSuspect))
	}
	if len(list) == 0 {
		opts.Notef("no suspects: no flight was in the air when a worker died; one that is gone counts as dead after five heartbeats\n")
		return nil
	}
	now := opts.Now()
	t := render.Table{Columns: []render.Column{
		{Name: "FLIGHT"}, {Name: "AIRPORT", Spare: true}, {Name: "VERDICT"}, {Name: "DEATHS", Right: true}, {Name: "LAST"},
		{Name: "WORKERS", Flex: true},
	}}
	for _, s := range list {
		t.Rows = append(t.Rows, []string{s.Flight, s.Airport, s.Verdict, strconv.Itoa(len(s.Workers)), render.Ago(now, s.LastDeath), render.Join(s.Workers)})
	}
	t.Style = func(r, c int) render.Style {
		if c == 2 && list[r].Verdict == "CONVICTED" {
			return render.Alarm
		}
		return render.Plain
	}
	return t.Write(opts.Out, opts.Width, opts.Palette())
}
