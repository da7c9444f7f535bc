package incident

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/traction-go/traction/internal/cli/advice"
	"github.com/traction-go/traction/internal/cli/command"
	"github.com/traction-go/traction/internal/cli/factory"
	"github.com/traction-go/traction/internal/cli/form"
	"github.com/traction-go/traction/internal/cli/render"
	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/governor"
)

type shower interface {
	Incident(ctx context.Context, idOrScope string) (governor.Incident, error)
}

type showOptions struct {
	*factory.Factory
	Open func(context.Context) (shower, error)
	ID   string // an incident's id, or a scope for its latest
}

func newShow(f *factory.Factory, runF func(context.Context, *showOptions) error) *cobra.Command {
	opts := &showOptions{Factory: f, Open: func(ctx context.Context) (shower, error) { return f.Governor(ctx) }}
	return &cobra.Command{
		Use:   "show ID|SCOPE",
		Short: "Show one incident, by its id, or the latest of a scope",
		Example: `  tractionctl incident show crm:acme
  tractionctl incident show crm:acme@1772590269123-7f3a`,
		Args: command.Exactly("ID|SCOPE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.ID = args[0]
			if runF != nil {
				return runF(cmd.Context(), opts)
			}
			return runShow(cmd.Context(), opts)
		},
	}
}

func runShow(ctx context.Context, opts *showOptions) error {
	ctx, cancel := opts.Bound(ctx)
	defer cancel()
	gov, err := opts.Open(ctx)
	if err != nil {
		return err
	}
	i, err := gov.Incident(ctx, opts.ID)
	if err != nil {
		return err
	}
	if opts.Output != render.AsTable {
		return render.One(opts.Out, opts.Output, form.OfIncident(i))
	}
	return render.Fields(opts.Out, fields(i, opts), opts.Width, opts.Palette())
}

func fields(i governor.Incident, opts *showOptions) []render.Field {
	now := opts.Now()
	state := render.Field{Name: "state", Value: "open for " + render.Ago(now, i.OpenedAt), Style: render.Alarm}
	if !i.Open() {
		state = render.Field{Name: "state", Value: "closed after " + render.Rough(i.ClosedAt.Sub(i.OpenedAt))}
	}
	kind := i.Kind
	if i.Observed {
		kind += " (would have stopped: the airport is only observed)"
	}
	notified := render.Stamp(i.NotifiedAt)
	if notified == "" && !i.Observed {
		notified = "not yet: no hook has taken it"
	}
	f := []render.Field{
		{Name: "incident", Value: wire.Visible(i.ID), Style: render.Bold},
		{Name: "scope", Value: wire.Visible(i.Scope)},
		{Name: "kind", Value: wire.Visible(kind)},
		state,
		{Name: "reason", Value: wire.Visible(i.Reason)},
		{Name: "evidence", Value: wire.Visible(i.Evidence)},
		{Name: "opened", Value: render.Since(now, i.OpenedAt)},
		{Name: "closed", Value: render.Since(now, i.ClosedAt)},
		{Name: "closed by", Value: wire.Visible(i.ClosedBy)},
		{Name: "notified", Value: notified},
		{Name: "records", Value: render.Join(i.Records)},
		{Name: "workers", Value: workers(i)},
	}
	if i.Faults > 0 {
		f = append(f, render.Field{Name: "faults", Value: fmt.Sprint(i.Faults)})
	}
	if i.Open() && !i.Observed {
		f = append(f, render.Field{Name: "next", Value: next(i)})
	}
	return f
}

// next is the command that goes on from here. A poison pill's first record is its flight.
func next(i governor.Incident) string {
	if i.Kind != wire.PoisonPill || len(i.Records) == 0 {
		return advice.Show(i.Scope)
	}
	flight := wire.Visible(i.Scope) + " --flight " + wire.Visible(i.Records[0])
	return "tractionctl parked list " + flight + "; when what it kills is fixed: tractionctl parked replay " + flight
}

// workers says so when all the evidence came from one process: it may be that
// one that is broken.
func workers(i governor.Incident) string {
	if len(i.Workers) == 1 && i.Faults > 1 {
		return wire.Visible(i.Workers[0]) + " (all of the evidence: look at this worker first)"
	}
	return render.Join(i.Workers)
}
