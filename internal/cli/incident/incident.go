// Package incident is `tractionctl incident`: one file per verb.
package incident

import (
	"github.com/spf13/cobra"

	"github.com/traction-go/traction/internal/cli/factory"
)

// New makes the command and its verbs.
func New(f *factory.Factory) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "incident",
		Short: "What stopped, on which evidence, and how it ended: list, show",
		Long:  "An incident is one stop with its reason, its evidence, the records implicated, and how it ended.",
		Example: `  tractionctl incident list --open
  tractionctl incident show crm:acme`,
	}
	cmd.AddCommand(newList(f, nil), newShow(f, nil))
	return cmd
}
