package charter

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/traction-go/traction/internal/cli/command"
	"github.com/traction-go/traction/internal/cli/exit"
	"github.com/traction-go/traction/internal/cli/factory"
	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/governor"
)

type aborter interface {
	AbortCharter(ctx context.Context, run, confirm, actor, reason string) (governor.CharterInfo, error)
}

type abortOptions struct {
	*factory.Factory
	Open    func(context.Context) (aborter, error)
	Charter string
	Confirm string
	Reason  string
}

func newAbort(f *factory.Factory, runF func(context.Context, *abortOptions) error) *cobra.Command {
	opts := &abortOptions{Factory: f, Open: func(ctx context.Context) (aborter, error) { return f.Governor(ctx) }}
	cmd := &cobra.Command{
		Use:   "abort CHARTER --confirm CHARTER",
		Short: "End a bulk run: what has not flown is skipped",
		Long: `What was not dispatched is skipped at once, what waits is skipped as it reaches a worker,
and calls in the air finish. What has landed stays landed. What is parked stays parked
until it is replayed, and then skipped, or discarded. There is no way back: dispatch what
is still wanted under another run.

--confirm must be the exact CHARTER; anything else is refused (exit 4) and ends nothing.`,
		Example: `  tractionctl charter abort crm:acme/contact-sync/import-7 \
    --confirm crm:acme/contact-sync/import-7 --reason "wrong list"`,
		Args: command.Exactly("CHARTER"),
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.Charter = args[0]
			if _, err := parse(opts.Charter); err != nil {
				return err
			}
			if runF != nil {
				return runF(cmd.Context(), opts)
			}
			return runAbort(cmd.Context(), opts)
		},
	}
	cmd.Flags().StringVar(&opts.Confirm, "confirm", "", "the exact `CHARTER`, to say that it is meant")
	cmd.Flags().StringVar(&opts.Reason, "reason", "", "`TEXT` for the audit: why")
	return cmd
}

func runAbort(ctx context.Context, opts *abortOptions) error {
	if err := opts.Change(); err != nil {
		return err
	}
	if opts.Confirm != opts.Charter {
		return exit.WithHint(fmt.Errorf("%w: an abort skips what has not landed and wants --confirm with the exact charter %s, got %q; nothing was ended",
			governor.ErrRefused, opts.Charter, wire.Visible(opts.Confirm)),
			"look first: tractionctl charter show %s; then: --confirm %s", opts.Charter, opts.Charter)
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
	c, err := gov.AbortCharter(ctx, opts.Charter, opts.Confirm, actor, opts.Reason)
	if err != nil {
		return absent(err, opts.Charter)
	}
	return show(opts.Factory, c)
}
