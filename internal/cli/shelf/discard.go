package shelf

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/traction-go/traction/internal/cli/command"
	"github.com/traction-go/traction/internal/cli/factory"
)

// NewDiscard makes the command. runF replaces what it runs, in tests.
func NewDiscard(f *factory.Factory, noun Noun, runF func(context.Context, *MoveOptions) error) *cobra.Command {
	opts := newMove(f, noun, "discard")
	cmd := &cobra.Command{
		Use:   "discard SCOPE --confirm SCOPE",
		Short: fmt.Sprintf("Drop the %s %s of an airport or a gate for good", noun.Name(), noun.Things),
		Long: fmt.Sprintf(`Drops what was %s when the command began and matches the filters. There is no way
back. --confirm must be the exact scope: the SCOPE, or airport/gate where --gate narrows
it; anything else is refused (exit 4) and drops nothing. A charter counts the flight as
discarded before it is dropped.

Moved, skipped, unknown and left add up to what was there, and are printed also when the
command is interrupted (exit 130) or ends early (exit 6). Unknown is what was acknowledged
as the connection was lost. What somebody else has in hand (a look, a backup) is not
counted: the rest is moved, and the exit code is 6.`, noun.Name()),
		Example: fmt.Sprintf(`  tractionctl %[1]s discard crm:acme/contact-sync --older-than 30d --dry-run
  tractionctl %[1]s discard crm:acme/contact-sync --older-than 30d --confirm crm:acme/contact-sync
  tractionctl %[1]s discard crm:acme --charter import-7 --confirm crm:acme`, noun.Name()),
		Args: command.Exactly("SCOPE"),
		RunE: func(cmd *cobra.Command, args []string) error { return opts.start(cmd, args[0], runF) },
	}
	opts.flags(cmd, noun)
	cmd.Flags().BoolVar(&opts.DryRun, "dry-run", false, "count what would be dropped, and change nothing")
	cmd.Flags().StringVar(&opts.Confirm, "confirm", "", "the exact `SCOPE`, to say that it is meant")
	return cmd
}
