// Package notify is `tractionctl notify`: one file per verb.
package notify

import (
	"github.com/spf13/cobra"

	"github.com/traction-go/traction/internal/cli/factory"
)

// New makes the command and its verbs.
func New(f *factory.Factory) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "notify",
		Short:   "The hooks that tell people: test",
		Example: "  tractionctl notify test crm:acme",
	}
	cmd.AddCommand(newTest(f, nil))
	return cmd
}
