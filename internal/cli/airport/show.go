package airport

import (
	"context"
	"fmt"
	"time"

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
	Open    func(context.Context) (shower, error)
	Airport string
}

func newShow(f *factory.Factory, runF func(context.Context, *showOptions) error) *cobra.Command {
	opts := &showOptions{Factory: f, Open: func(ctx context.Context) (shower, error) { return f.Governor(ctx) }}
	return &cobra.Command{
		Use:   "show AIRPORT",
		Short: "Show one airport: state, reason, what waits, and what to do",
		Example: `  tractionctl airport show crm:acme
  tractionctl airport show crm:acme -o json | jq .gates`,
		Args: command.Exactly("AIRPORT"),
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.Airport = args[0]
			if runF != nil {
				return runF(cmd.Context(), opts)
			}
			return runShow(cmd.Context(), opts)
		},
	}
}

func runShow(ctx context.Context, opts *showOptions) error {
	if _, err := wire.ParseAirport(opts.Airport); err != nil {
		return err
	}
	ctx, cancel := opts.Bound(ctx)
	defer cancel()
	gov, err := opts.Open(ctx)
	if err != nil {
		return err
	}
	a, err := gov.Airport(ctx, opts.Airport)
	if err != nil {
		return err
	}
	if opts.Output != render.AsTable {
		return render.One(opts.Out, opts.Output, form.OfAirport(a))
	}
	if err := render.Fields(opts.Out, fields(a, opts), opts.Width, opts.Palette()); err != nil {
		return err
	}
	if len(a.Gates) == 0 {
		return nil
	}
	if _, err := fmt.Fprintln(opts.Out); err != nil {
		return err
	}
	because := func(g governor.GateInfo) string {
		if a.State != wire.Open {
			return "" // it stands above
		}
		return advice.Because(g, a)
	}
	return form.GateTable(a.Gates, because, opts.Now()).Write(opts.Out, opts.Width, opts.Palette())
}

func fields(a governor.AirportInfo, opts *showOptions) []render.Field {
	now := opts.Now()
	f := []render.Field{
		{Name: "airport", Value: wire.Visible(a.Airport), Style: render.Bold},
		{Name: "state", Value: string(a.State), Style: render.StateStyle(a.State)},
		{Name: "since", Value: render.Since(now, a.Since)},
		{Name: "reason", Value: wire.Visible(a.Reason)},
		{Name: "evidence", Value: wire.Visible(a.Evidence)},
		{Name: "by", Value: wire.Visible(a.By)},
		{Name: "incident", Value: wire.Visible(a.Incident)},
		{Name: "throttled until", Value: render.Stamp(a.ThrottledUntil)},
		{Name: "canary", Value: canary(a.CanaryLanded, a.Canary)},
		{Name: "mode", Value: mode(a.Mode)},
		{Name: "slots", Value: render.Slots(a.SlotsUsed, a.Slots, a.Window)},
		{Name: "adopted", Value: form.AdoptedIn(a)},
		{Name: "runway", Value: render.Count(a.Runway).String()},
		{Name: "holding", Value: render.Count(a.Holding).String()},
		{Name: "in the air", Value: render.Count(a.InAir).String()},
		{Name: "parked", Value: render.Count(a.Parked).String()},
		{Name: "rejected", Value: render.Count(a.Rejected).String()},
		{Name: "landed", Value: render.Thousands(a.Landed)},
		{Name: "acked", Value: form.Acked(a.Acked)},
		{Name: "drain", Value: drain(a)},
		workers(a),
	}
	if a.Suspects > 0 {
		f = append(f, render.Field{Name: "suspects", Style: render.Warn,
			Value: render.Plural(render.Count(a.Suspects), "flight") + " in the air at a death, to fly alone: tractionctl suspect list " + wire.Visible(a.Airport)})
	}
	if a.Unsent > 0 {
		f = append(f, render.Field{Name: "unsent", Style: render.Alarm,
			Value: render.Plural(render.Count(a.Unsent), "notification") + " no hook has taken yet"})
	}
	for _, line := range advice.Next(advice.OfAirport(a)) {
		f = append(f, render.Field{Name: "next", Value: line})
	}
	return f
}

func workers(a governor.AirportInfo) render.Field {
	f := render.Field{Name: "workers", Value: render.Count(a.Workers).String()}
	if a.Workers == 0 {
		f.Value, f.Style = "NONE ALIVE: nothing flies until one starts: "+advice.Start, render.Alarm
	}
	if a.Deaths > 0 {
		f.Value += "; " + render.Plural(render.Count(a.Deaths), "death") + " in the last hour"
	}
	return f
}

func canary(landed, n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d landed", landed, n)
}

// mode names what is not the default.
func mode(m governor.Mode) string {
	if m == governor.Observe {
		return "observe: incidents are told, nothing is stopped"
	}
	return ""
}

// drain is how long what waits takes at the pace of its gates, or, where that is not
// known, at the full rate.
func drain(a governor.AirportInfo) string {
	if a.Drain > 0 {
		return form.DrainOf(a.Drain, a.Pace)
	}
	d, ok := form.Drain(a)
	switch {
	case !ok || d < time.Second:
		return ""
	case a.State == wire.Open:
		return render.Rough(d) + " at the full rate"
	}
	return render.Rough(d) + " at the full rate, once it flies"
}
