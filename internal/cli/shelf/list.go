package shelf

import (
	"context"
	"errors"
	"fmt"
	"strings"

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
	Shelved(ctx context.Context, shelf governor.Shelf, scope string, f governor.ParkedFilter) ([]governor.ParkedFlight, error)
}

// ListOptions are one list as it was typed.
type ListOptions struct {
	*factory.Factory
	Open func(context.Context) (lister, error)
	Noun Noun

	chosen
	GroupBy string
}

// NewList makes the command. runF replaces what it runs, in tests.
func NewList(f *factory.Factory, noun Noun, runF func(context.Context, *ListOptions) error) *cobra.Command {
	opts := &ListOptions{Factory: f, Noun: noun, Open: func(ctx context.Context) (lister, error) { return f.Governor(ctx) }}
	cmd := &cobra.Command{
		Use:     "list SCOPE",
		Aliases: []string{"ls"},
		Short:   fmt.Sprintf("List the %s %s of an airport or a gate, or count them by cause", noun.Name(), noun.Things),
		Long: fmt.Sprintf(`Looking changes nothing: all of them stay %s, in their place. With --group-by the limit
is for groups, and each group counts all of its %s.

What somebody else has in hand at the same moment (a look, a backup, a replay) cannot be
seen. After two seconds of waiting the rest is listed, and the exit code is 6.`, noun.Name(), noun.Things),
		Example: fmt.Sprintf(`  tractionctl %[1]s list crm:acme --group-by evidence
  tractionctl %[1]s list crm:acme/contact-sync --reason %[2]s --older-than 1h
  tractionctl %[1]s list crm:acme --evidence '^404' --limit 20
  tractionctl %[1]s list crm:acme -o jsonl | jq -r .business_id`, noun.Name(), noun.Reason),
		Args: command.Exactly("SCOPE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := opts.read(cmd, noun, "list", args[0]); err != nil {
				return err
			}
			if cmd.Flags().Changed("group-by") && groupings[opts.GroupBy] == nil {
				return exit.Usagef("--group-by %q: want reason, evidence or charter", wire.Visible(opts.GroupBy))
			}
			if runF != nil {
				return runF(cmd.Context(), opts)
			}
			return runList(cmd.Context(), opts)
		},
	}
	opts.flags(cmd, noun)
	cmd.Flags().StringVar(&opts.GroupBy, "group-by", "", "count by `CAUSE`: reason, evidence or charter")
	_ = cmd.RegisterFlagCompletionFunc("group-by", cobra.FixedCompletions([]string{"reason", "evidence", "charter"}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func runList(ctx context.Context, opts *ListOptions) error {
	ctx, cancel := opts.Bound(ctx)
	defer cancel()
	gov, err := opts.Open(ctx)
	if err != nil {
		return err
	}
	filter := opts.Filter
	if opts.GroupBy != "" {
		filter.Limit = 0 // the limit is for groups; each counts all of its flights
	}
	flights, err := gov.Shelved(ctx, opts.Noun.Shelf, opts.Scope, filter)
	if err != nil && !errors.Is(err, governor.ErrPartial) {
		return err
	}
	if err == nil || len(flights) > 0 || opts.Output != render.AsTable {
		err = errors.Join(printList(opts, flights), err)
	}
	return err // of what others have in hand, beside a list of the rest
}

func printList(opts *ListOptions, flights []governor.ParkedFlight) error {
	if opts.GroupBy != "" {
		heaps := group(flights, groupings[opts.GroupBy])
		if n := opts.Filter.Limit; n > 0 && n < len(heaps) {
			opts.Notef("--limit %d: %s not shown\n", n, render.Plural(render.Count(len(heaps)-n), "more group"))
			heaps = heaps[:n]
		}
		return printGroups(opts, heaps)
	}
	if opts.Output != render.AsTable {
		return render.List(opts.Out, opts.Output, form.Each(flights, form.OfParked))
	}
	if len(flights) == 0 {
		opts.nothing()
		return nil
	}
	now := opts.Now()
	t := render.Table{Columns: []render.Column{
		{Name: "FLIGHT"}, {Name: "BUSINESS-ID", Flex: true}, {Name: "GATE", Spare: true}, {Name: "REASON"}, {Name: opts.Noun.Since},
		{Name: "CHARTER", Spare: true}, {Name: "EVIDENCE", Flex: true},
	}}
	for _, p := range flights {
		t.Rows = append(t.Rows, []string{p.Flight, p.BusinessID, p.Gate, string(p.Reason), render.Ago(now, p.ParkedAt), p.Charter, p.Evidence})
	}
	if opts.Filter.Limit > 0 && len(flights) == opts.Filter.Limit {
		defer opts.Notef("--limit %d: there may be more\n", opts.Filter.Limit)
	}
	return t.Write(opts.Out, opts.Width, opts.Palette())
}

func (o *ListOptions) nothing() {
	o.Notef("nothing is %s at %s that matches\n", strings.ToLower(o.Noun.Since), o.Scope)
}
