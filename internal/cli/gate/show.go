package gate

import (
	"context"
	"fmt"
	"slices"

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
	Airport(ctx context.Context, id string) (governor.AirportInfo, error)
}

type showOptions struct {
	*factory.Factory
	Open func(context.Context) (shower, error)
	Gate string
}

func newShow(f *factory.Factory, runF func(context.Context, *showOptions) error) *cobra.Command {
	opts := &showOptions{Factory: f, Open: func(ctx context.Context) (shower, error) { return f.Governor(ctx) }}
	return &cobra.Command{
		Use:   "show GATE",
		Short: "Show one gate: state, reason, what waits, and what to do",
		Example: `  tractionctl gate show crm:acme/contact-sync
  tractionctl gate show crm:acme/contact-sync -o json | jq .parked`,
		Args: command.Exactly("GATE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.Gate = args[0]
			if runF != nil {
				return runF(cmd.Context(), opts)
			}
			return runShow(cmd.Context(), opts)
		},
	}
}

func runShow(ctx context.Context, opts *showOptions) error {
	scope, err := wire.ParseGate(opts.Gate)
	if err != nil {
		return err
	}
	ctx, cancel := opts.Bound(ctx)
	defer cancel()
	gov, err := opts.Open(ctx)
	if err != nil {
		return err
	}
	a, err := gov.Airport(ctx, scope.Airport)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(a.Gates, func(g governor.GateInfo) bool { return g.Gate == scope.String() })
	if i < 0 {
		s, err := opts.Settings()
		if err != nil {
			return err
		}
		return fmt.Errorf("gate %s: %w in namespace %s", scope, governor.ErrNotFound, s.Namespace)
	}
	g := a.Gates[i]
	if opts.Output != render.AsTable {
		return render.One(opts.Out, opts.Output, form.OfGate(g))
	}
	return render.Fields(opts.Out, fields(g, a, opts), opts.Width, opts.Palette())
}

func fields(g governor.GateInfo, a governor.AirportInfo, opts *showOptions) []render.Field {
	f := []render.Field{
		{Name: "gate", Value: wire.Visible(g.Gate), Style: render.Bold},
		{Name: "state", Value: string(g.State), Style: render.StateStyle(g.State)},
		{Name: "since", Value: render.Since(opts.Now(), g.Since)},
		{Name: "reason", Value: wire.Visible(g.Reason)},
		{Name: "evidence", Value: wire.Visible(g.Evidence)},
		{Name: "by", Value: wire.Visible(g.By)},
		{Name: "incident", Value: wire.Visible(g.Incident)},
		{Name: "next probe", Value: render.Stamp(g.DelayProbeAt)},
	}
	if g.Canary > 0 {
		f = append(f, render.Field{Name: "canary", Value: fmt.Sprintf("%d of %d landed", g.CanaryLanded, g.Canary)})
	}
	if a.State != wire.Open {
		// What holds a gate is as often its airport as itself.
		f = append(f, render.Field{Name: "airport", Value: advice.Standing(a, render.Since(opts.Now(), a.Since)), Style: render.StateStyle(a.State)})
	}
	for _, h := range slices.Concat(advice.Holds(g, a), advice.Feeders(g, a)) {
		f = append(f, render.Field{Name: "may wait for", Style: render.Warn, Value: fmt.Sprintf("%s, which is %s: %s", wire.Visible(h.Gate), h.Is, h.So)})
	}
	f = append(f,
		render.Field{Name: "adopted", Value: form.AdoptedOf(g, opts.Now())},
		render.Field{Name: "runway", Value: render.Count(g.Runway).String()},
		render.Field{Name: "oldest", Value: form.AgeOf(opts.Now(), g.Oldest, g.Runway)},
		render.Field{Name: "holding", Value: render.Count(g.Holding).String()},
		render.Field{Name: "in the air", Value: render.Count(g.InAir).String()},
		render.Field{Name: "parked", Value: render.Count(g.Parked).String()},
		render.Field{Name: "rejected", Value: render.Count(g.Rejected).String()},
		render.Field{Name: "landed", Value: render.Thousands(g.Landed)},
		render.Field{Name: "acked", Value: form.Acked(g.Acked)},
		render.Field{Name: "drain", Value: form.DrainOf(g.Drain, g.Pace)},
		render.Field{Name: "ceiling", Value: form.CeilingOf(g)},
		render.Field{Name: "redelivered", Value: form.MarksOf(g)},
	)
	f = append(f, staff(g, opts.Now())...)
	f = append(f, render.Field{Name: "when stopped", Value: onStop[form.OnStop(g)]})
	for _, line := range advice.Within(g, a) {
		f = append(f, render.Field{Name: "next", Value: line})
	}
	return f
}

var onStop = map[string]string{
	"park": "its flights are parked, for a replay",
	"stay": "its flights stay on the runway, in order",
}
