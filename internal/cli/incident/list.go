package incident

import (
	"context"
	"time"

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
	Incidents(ctx context.Context, f governor.IncidentFilter) ([]governor.Incident, error)
}

type listOptions struct {
	*factory.Factory
	OpenGov func(context.Context) (lister, error)

	Scope string // "" for all
	Open  bool
	Since command.Duration
}

func newList(f *factory.Factory, runF func(context.Context, *listOptions) error) *cobra.Command {
	opts := &listOptions{Factory: f, OpenGov: func(ctx context.Context) (lister, error) { return f.Governor(ctx) }}
	cmd := &cobra.Command{
		Use:     "list [SCOPE]",
		Aliases: []string{"ls"},
		Short:   "List incidents, the newest first",
		Example: `  tractionctl incident list --open
  tractionctl incident list crm:acme --since 7d
  tractionctl incident list -o json | jq -r '.[].evidence'`,
		Args: command.AtMost("SCOPE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				opts.Scope = args[0]
				if s, err := wire.ParseScope(opts.Scope); err != nil {
					return err
				} else if s.Run != "" {
					return exit.Usagef("%s is a charter's run: want an airport or a gate", s)
				}
			}
			if err := command.Filled(cmd, "since"); err != nil {
				return err
			}
			if runF != nil {
				return runF(cmd.Context(), opts)
			}
			return runList(cmd.Context(), opts)
		},
	}
	cmd.Flags().BoolVar(&opts.Open, "open", false, "only those that have not ended")
	cmd.Flags().Var(&opts.Since, "since", "only those opened within `DURATION`, such as 90m or 7d")
	return cmd
}

func runList(ctx context.Context, opts *listOptions) error {
	ctx, cancel := opts.Bound(ctx)
	defer cancel()
	gov, err := opts.OpenGov(ctx)
	if err != nil {
		return err
	}
	filter := governor.IncidentFilter{Scope: opts.Scope, Open: opts.Open}
	if opts.Since > 0 {
		filter.Since = opts.Now().Add(-time.Duration(opts.Since))
	}
	list, err := gov.Incidents(ctx, filter)
	if err != nil {
		return err
	}
	if opts.Output != render.AsTable {
		return render.List(opts.Out, opts.Output, form.Each(list, form.OfIncident))
	}
	if len(list) == 0 {
		opts.Notef("no incident\n")
		return nil
	}
	now := opts.Now()
	t := render.Table{Columns: []render.Column{
		{Name: "ID"}, {Name: "KIND", Spare: true}, {Name: "STATE"}, {Name: "OPENED"}, {Name: "LASTED"}, {Name: "CLOSED-BY", Spare: true},
		{Name: "EVIDENCE", Flex: true},
	}}
	for _, i := range list {
		kind := i.Kind
		if i.Observed {
			kind += "(observed)"
		}
		t.Rows = append(t.Rows, []string{i.ID, kind, form.IncidentState(i), i.OpenedAt.UTC().Format(time.RFC3339),
			lasted(i, now), i.ClosedBy, form.Why(i.Reason, i.Evidence)})
	}
	t.Style = func(r, c int) render.Style {
		if c == 2 && list[r].Open() {
			return render.Alarm
		}
		return render.Plain
	}
	return t.Write(opts.Out, opts.Width, opts.Palette())
}

func lasted(i governor.Incident, now time.Time) string {
	if i.Open() {
		return render.Ago(now, i.OpenedAt)
	}
	return render.Rough(i.ClosedAt.Sub(i.OpenedAt))
}
