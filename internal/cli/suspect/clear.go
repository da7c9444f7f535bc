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

type clearer interface {
	ClearSuspect(ctx context.Context, flight, actor string) (governor.SuspectInfo, error)
}

type clearOptions struct {
	*factory.Factory
	Open   func(context.Context) (clearer, error)
	Flight string
}

func newClear(f *factory.Factory, runF func(context.Context, *clearOptions) error) *cobra.Command {
	opts := &clearOptions{Factory: f, Open: func(ctx context.Context) (clearer, error) { return f.Governor(ctx) }}
	return &cobra.Command{
		Use:   "clear FLIGHT",
		Short: "Forget a flight's deaths: you answer for it",
		Long: `The flight flies beside others again, and its incident ends. What it was
parked for stays parked until it is replayed; a replay of it remembers one death, and
this, after the replay, forgets that one too.`,
		Example: "  tractionctl suspect clear 01909c3e-8f2a-7c11-b1a4-5f0e9d7c2b10",
		Args:    command.Exactly("FLIGHT"),
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.Flight = args[0]
			if runF != nil {
				return runF(cmd.Context(), opts)
			}
			return runClear(cmd.Context(), opts)
		},
	}
}

func runClear(ctx context.Context, opts *clearOptions) error {
	if err := opts.Change(); err != nil {
		return err
	}
	actor, err := opts.Actor()
	if err != nil {
		return err
	}
	ctx, cancel := opts.Bound(ctx)
	defer cancel()
	gov, err := opts.Open(ctx)
	if err != nil {
		return err
	}
	was, err := gov.ClearSuspect(ctx, opts.Flight, actor)
	if err != nil {
		return hinted(err)
	}
	if opts.Output != render.AsTable {
		return render.One(opts.Out, opts.Output, form.OfSuspect(was))
	}
	opts.Notef("flight %s is no suspect any more: it was %s\n", wire.Visible(was.Flight), wire.Visible(was.Verdict))
	if was.Verdict == "CONVICTED" && was.Incident != "" { // without one it is not parked yet, and is not now
		opts.Notef("it is parked still: tractionctl parked replay %s --flight %s\n", wire.Visible(was.Airport), wire.Visible(was.Flight))
	}
	return nil
}
