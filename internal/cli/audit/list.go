package audit

import (
	"context"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/traction-go/traction/internal/cli/command"
	"github.com/traction-go/traction/internal/cli/factory"
	"github.com/traction-go/traction/internal/cli/form"
	"github.com/traction-go/traction/internal/cli/render"
	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/governor"
)

type lister interface {
	Audit(ctx context.Context, f governor.AuditFilter) ([]governor.AuditEntry, error)
}

type listOptions struct {
	*factory.Factory
	Open func(context.Context) (lister, error)

	Scope string // "" for all
	Since command.Duration
	Limit int
}

func newList(f *factory.Factory, runF func(context.Context, *listOptions) error) *cobra.Command {
	opts := &listOptions{Factory: f, Open: func(ctx context.Context) (lister, error) { return f.Governor(ctx) }}
	cmd := &cobra.Command{
		Use:     "list [SCOPE]",
		Aliases: []string{"ls"},
		Short:   "List every operator action: who, when, what, result, count",
		Example: `  tractionctl audit list
  tractionctl audit list crm:acme --since 24h --limit 50`,
		Args: command.AtMost("SCOPE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				opts.Scope = args[0]
				if _, err := wire.ParseScope(opts.Scope); err != nil {
					return err
				}
			}
			if err := command.Filled(cmd, "since", "limit"); err != nil {
				return err
			}
			if runF != nil {
				return runF(cmd.Context(), opts)
			}
			return runList(cmd.Context(), opts)
		},
	}
	cmd.Flags().Var(&opts.Since, "since", "only the last `DURATION`, such as 90m or 7d")
	cmd.Flags().IntVar(&opts.Limit, "limit", 0, "at most `N` entries, the newest (default all)")
	return cmd
}

func runList(ctx context.Context, opts *listOptions) error {
	ctx, cancel := opts.Bound(ctx)
	defer cancel()
	gov, err := opts.Open(ctx)
	if err != nil {
		return err
	}
	filter := governor.AuditFilter{Scope: opts.Scope, Limit: opts.Limit}
	if opts.Since > 0 {
		filter.Since = opts.Now().Add(-time.Duration(opts.Since))
	}
	list, err := gov.Audit(ctx, filter)
	if err != nil {
		return err
	}
	if opts.Output != render.AsTable {
		return render.List(opts.Out, opts.Output, form.Each(list, form.OfAudit))
	}
	if len(list) == 0 {
		opts.Notef("no operator has done anything here yet\n")
		return nil
	}
	t := render.Table{Columns: []render.Column{
		{Name: "AT"}, {Name: "ACTOR"}, {Name: "ACTION"}, {Name: "SCOPE"}, {Name: "COUNT", Right: true, Spare: true},
		{Name: "RESULT", Flex: true}, {Name: "REASON", Flex: true},
	}}
	for _, e := range list {
		t.Rows = append(t.Rows, []string{e.At.UTC().Format(time.RFC3339), e.Actor, e.Action, e.Scope,
			strconv.Itoa(e.Count), e.Result, e.Reason})
	}
	return t.Write(opts.Out, opts.Width, opts.Palette())
}
