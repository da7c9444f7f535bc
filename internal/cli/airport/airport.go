// Package airport is `tractionctl airport`: one file per verb.
package airport

import (
	"github.com/spf13/cobra"

	"github.com/traction-go/traction/internal/cli/factory"
	"github.com/traction-go/traction/internal/cli/scopeverb"
)

// New makes the command and its verbs.
func New(f *factory.Factory) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "airport",
		Short: "What is governed: list, show, reopen, pause, remove",
		Long:  "An airport is one governed dependency: one quota, one credential, one outage fate.",
		Example: `  tractionctl airport list
  tractionctl airport show crm:acme
  tractionctl airport reopen crm:acme`,
	}
	cmd.AddCommand(newList(f, nil), newShow(f, nil),
		scopeverb.NewReopen(f, scopeverb.Airport, nil), scopeverb.NewPause(f, scopeverb.Airport, nil),
		scopeverb.NewRemove(f, scopeverb.Airport, nil))
	return cmd
}
