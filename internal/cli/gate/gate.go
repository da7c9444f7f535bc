// Package gate is `tractionctl gate`: one file per verb.
package gate

import (
	"github.com/spf13/cobra"

	"github.com/traction-go/traction/internal/cli/factory"
	"github.com/traction-go/traction/internal/cli/scopeverb"
)

// New makes the command and its verbs.
func New(f *factory.Factory) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "gate",
		Short: "One kind of work on an airport: list, show, scale, reopen, pause, remove",
		Long:  "A gate is one work type on an airport, stoppable on its own. Its scope is airport/gate.",
		Example: `  tractionctl gate list crm:acme
  tractionctl gate show crm:acme/contact-sync
  tractionctl gate scale crm:acme/contact-sync --workers 8
  tractionctl gate pause crm:acme/contact-sync --reason "schema change"`,
	}
	cmd.AddCommand(newList(f, nil), newShow(f, nil), newScale(f, nil),
		scopeverb.NewReopen(f, scopeverb.Gate, nil), scopeverb.NewPause(f, scopeverb.Gate, nil),
		scopeverb.NewRemove(f, scopeverb.Gate, nil))
	return cmd
}
