package shelf

import (
	"context"
	"fmt"
	"math"

	"github.com/spf13/cobra"

	"github.com/traction-go/traction/internal/cli/command"
	"github.com/traction-go/traction/internal/cli/exit"
	"github.com/traction-go/traction/internal/cli/factory"
	"github.com/traction-go/traction/pkg/governor"
)

// NewReplay makes the command. runF replaces what it runs, in tests.
func NewReplay(f *factory.Factory, noun Noun, runF func(context.Context, *MoveOptions) error) *cobra.Command {
	opts := newMove(f, noun, "replay")
	cmd := &cobra.Command{
		Use:   "replay SCOPE",
		Short: fmt.Sprintf("Send the %s %s of an airport or a gate back to their runways", noun.Name(), noun.Things),
		Long: fmt.Sprintf(`Moves what was %[1]s when the command began, with a fresh budget of holds. Fix the cause
and reopen first: into a stopped gate it warns, and what is moved is parked again.

--canary N replays N at each gate and goes on only when all N have landed; otherwise the
rest stays %[1]s. --rate bounds how many go per second; the airport's slots hold anyway.

Moved, skipped, unknown and left add up to what was there, and are printed also when the
command is interrupted (exit 130) or ends early (exit 6). Unknown is what was acknowledged
as the connection was lost. What somebody else has in hand (a look, a backup) is not
counted: the rest is moved, and the exit code is 6. Run it again for what is left. One
operator at a time moves the flights of a gate (exit 4).`, noun.Name()),
		Example: fmt.Sprintf(`  tractionctl %[1]s replay crm:acme/contact-sync --dry-run
  tractionctl %[1]s replay crm:acme/contact-sync --canary 3
  tractionctl %[1]s replay crm:acme --reason %[2]s --rate 50`, noun.Name(), noun.Reason),
		Args: command.Exactly("SCOPE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("canary") && (opts.Canary < 1 || opts.Canary > governor.MaxCanary) {
				return exit.Usagef("--canary %d: want 1 to %d, or leave it out", opts.Canary, governor.MaxCanary)
			}
			if cmd.Flags().Changed("rate") && (!(opts.Rate > 0) || math.IsInf(opts.Rate, 0)) {
				return exit.Usagef("--rate %v: want more than 0 a second, or leave it out", opts.Rate)
			}
			return opts.start(cmd, args[0], runF)
		},
	}
	opts.flags(cmd, noun)
	fl := cmd.Flags()
	fl.BoolVar(&opts.DryRun, "dry-run", false, "count what would be replayed, and change nothing")
	fl.Float64Var(&opts.Rate, "rate", 0, "at most `N` a second (default as fast as it goes)")
	fl.IntVar(&opts.Canary, "canary", 0, "replay `N` first, and the rest when all of them have landed")
	return cmd
}

func newMove(f *factory.Factory, noun Noun, verb string) *MoveOptions {
	return &MoveOptions{Factory: f, Noun: noun, Verb: verb, Open: func(ctx context.Context) (mover, error) { return f.Governor(ctx) }}
}

func (o *MoveOptions) start(cmd *cobra.Command, scope string, runF func(context.Context, *MoveOptions) error) error {
	if err := o.read(cmd, o.Noun, o.Verb, scope); err != nil {
		return err
	}
	if runF != nil {
		return runF(cmd.Context(), o)
	}
	return runMove(cmd.Context(), o)
}
