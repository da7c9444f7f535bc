package suspect

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/traction-go/traction/internal/cli/command"
	"github.com/traction-go/traction/internal/cli/factory"
	"github.com/traction-go/traction/internal/cli/form"
	"github.com/traction-go/traction/internal/cli/render"
	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/governor"
)

type shower interface {
	Suspect(ctx context.Context, flight string) (governor.SuspectInfo, error)
}

type showOptions struct {
	*factory.Factory
	Open   func(context.Context) (shower, error)
	Flight string
}

func newShow(f *factory.Factory, runF func(context.Context, *showOptions) error) *cobra.Command {
	opts := &showOptions{Factory: f, Open: func(ctx context.Context) (shower, error) { return f.Governor(ctx) }}
	return &cobra.Command{
		Use:     "show FLIGHT",
		Short:   "Show which workers died with a flight in the air, and what happens next",
		Example: "  tractionctl suspect show 01909c3e-8f2a-7c11-b1a4-5f0e9d7c2b10",
		Args:    command.Exactly("FLIGHT"),
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.Flight = args[0]
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
	s, err := gov.Suspect(ctx, opts.Flight)
	if err != nil {
		return hinted(err)
	}
	if opts.Output != render.AsTable {
		return render.One(opts.Out, opts.Output, form.OfSuspect(s))
	}
	verdict := render.Field{Name: "verdict", Value: wire.Visible(s.Verdict)}
	next := "it flies alone; a landing acquits it, one more death convicts it"
	switch {
	case s.Verdict == "CONVICTED" && s.Incident == "":
		verdict.Style = render.Alarm
		next = "it flies no more: it is parked as POISON_PILL, with its incident and notification, when a worker meets it next, within about ten seconds where one is alive"
	case s.Verdict == "CONVICTED":
		verdict.Style = render.Alarm
		next = "it is parked as POISON_PILL: tractionctl parked list " + wire.Visible(s.Airport) + " --flight " + wire.Visible(s.Flight)
	}
	return render.Fields(opts.Out, []render.Field{
		{Name: "flight", Value: wire.Visible(s.Flight), Style: render.Bold},
		{Name: "airport", Value: wire.Visible(s.Airport)},
		verdict,
		{Name: "workers", Value: render.Join(s.Workers)},
		{Name: "last death", Value: render.Since(opts.Now(), s.LastDeath)},
		{Name: "incident", Value: wire.Visible(s.Incident)},
		{Name: "next", Value: next},
	}, opts.Width, opts.Palette())
}
