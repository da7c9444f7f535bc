// Package audit is `tractionctl audit`: one file per verb.
package audit

import (
	"github.com/spf13/cobra"

	"github.com/traction-go/traction/internal/cli/factory"
)

// New makes the command and its verbs.
func New(f *factory.Factory) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "audit",
		Short:   "What operators did: list",
		Example: "  tractionctl audit list --since 24h",
	}
	cmd.AddCommand(newList(f, nil))
	return cmd
}
