package charter

import (
	"context"

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
	Charters(ctx context.Context, scope string) ([]governor.CharterInfo, error)
}

type listOptions struct {
	*factory.Factory
	Open  func(context.Context) (lister, error)
	Scope string // "" for all
}

func newList(f *factory.Factory, runF func(context.Context, *listOptions) error) *cobra.Command {
	opts := &listOptions{Factory: f, Open: func(ctx context.Context) (lister, error) { return f.Governor(ctx) }}
	return &cobra.Command{
		Use:     "list [SCOPE]",
		Aliases: []string{"ls"},
		Short:   "List bulk runs with their books",
		Example: `  tractionctl charter list
  tractionctl charter list crm:acme/contact-sync
  tractionctl charter list -o json | jq '.[] | select(.state == "OPEN")'`,
		Args: command.AtMost("SCOPE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				opts.Scope = args[0]
				s, err := wire.ParseScope(opts.Scope)
				if err != nil {
					return err
				}
				if s.Run != "" {
					return exit.WithHint(exit.Usagef("%s is one run: want an airport or a gate", s), "tractionctl charter show %s", s)
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
	list, err := gov.Charters(ctx, opts.Scope)
	if err != nil {
		return err
	}
	if opts.Output != render.AsTable {
		return render.List(opts.Out, opts.Output, form.Each(list, form.OfCharter))
	}
	if len(list) == 0 {
		opts.Notef("no bulk run stands here; tractionctl dispatch --charter opens one\n")
		return nil
	}
	t := render.Table{Columns: []render.Column{
		{Name: "CHARTER"}, {Name: "STATE"}, {Name: "EXPECTED", Right: true}, {Name: "LANDED", Right: true},
		{Name: "PENDING", Right: true}, {Name: "PARKED", Right: true}, {Name: "REJECTED", Right: true},
		{Name: "SKIPPED", Right: true, Spare: true}, {Name: "DISCARDED", Right: true, Spare: true}, {Name: "ETA", Spare: true},
	}}
	n := func(i int) string { return render.Count(i).String() }
	for _, c := range list {
		b := c.Books
		eta := ""
		if c.State == governor.CharterOpen && c.ETA > 0 {
			eta = render.Rough(c.ETA)
		}
		t.Rows = append(t.Rows, []string{c.Charter, string(c.State), n(b.Expected), n(b.Landed), n(b.Pending()), n(b.Parked), n(b.Rejected),
			n(b.Skipped), n(b.Discarded), eta})
	}
	t.Style = func(r, c int) render.Style {
		if c == 1 {
			return style(list[r].State)
		}
		return render.Plain
	}
	return t.Write(opts.Out, opts.Width, opts.Palette())
}
