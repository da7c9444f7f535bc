// Package rejected is `tractionctl rejected`; its verbs stand in package shelf.
package rejected

import (
	"github.com/spf13/cobra"

	"github.com/traction-go/traction/internal/cli/factory"
	"github.com/traction-go/traction/internal/cli/shelf"
)

// New makes the command and its verbs.
func New(f *factory.Factory) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "rejected",
		Short: "Records that were refused as bad: list, show, replay, discard",
		Long: `A rejected record has landed as far as its queue goes: the other side refused the record
itself. It is kept for seven days. When so many were rejected that their gate stopped,
the verdict was probably wrong: replay them once the cause is fixed.`,
		Example: `  tractionctl rejected list crm:acme --group-by evidence
  tractionctl rejected replay crm:acme/contact-sync --evidence 'unknown field'
  tractionctl rejected discard crm:acme/contact-sync --confirm crm:acme/contact-sync`,
	}
	cmd.AddCommand(shelf.NewList(f, shelf.Rejected, nil), shelf.NewShow(f, shelf.Rejected, nil),
		shelf.NewReplay(f, shelf.Rejected, nil), shelf.NewDiscard(f, shelf.Rejected, nil))
	return cmd
}
