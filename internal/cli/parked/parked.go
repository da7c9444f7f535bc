// Package parked is `tractionctl parked`; its verbs stand in package shelf.
package parked

import (
	"github.com/spf13/cobra"

	"github.com/traction-go/traction/internal/cli/factory"
	"github.com/traction-go/traction/internal/cli/shelf"
)

// New makes the command and its verbs.
func New(f *factory.Factory) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "parked",
		Short: "Flights that wait for a human: list, show, replay, discard",
		Long: `A parked flight did not fly, or could not land, and is kept until a human decides.
It is recoverable and never counted as failed.`,
		Example: `  tractionctl parked list crm:acme --group-by reason
  tractionctl parked show crm:acme/contact-sync 01956a3e-0001
  tractionctl parked replay crm:acme/contact-sync --canary 3
  tractionctl parked discard crm:acme/contact-sync --reason MALFORMED --confirm crm:acme/contact-sync`,
	}
	cmd.AddCommand(shelf.NewList(f, shelf.Parked, nil), shelf.NewShow(f, shelf.Parked, nil),
		shelf.NewReplay(f, shelf.Parked, nil), shelf.NewDiscard(f, shelf.Parked, nil))
	return cmd
}
