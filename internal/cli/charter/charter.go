// Package charter is `tractionctl charter`: one file per verb. A charter is a bulk
// run whose books the store keeps; `tractionctl dispatch --charter` opens one.
package charter

import (
	"github.com/spf13/cobra"

	"github.com/traction-go/traction/internal/cli/factory"
	"github.com/traction-go/traction/internal/cli/render"
	"github.com/traction-go/traction/pkg/governor"
)

// New makes the command and its verbs.
func New(f *factory.Factory) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "charter",
		Short: "Bulk runs and their books: list, show, abort",
		Long: `A charter is a bulk run with an expected count, named airport/gate/run. Its books balance
when landed + rejected + skipped + parked + discarded = expected. tractionctl dispatch
--charter opens one.`,
		Example: `  tractionctl charter list crm:acme
  tractionctl charter show crm:acme/contact-sync/import-7
  tractionctl charter abort crm:acme/contact-sync/import-7 --confirm crm:acme/contact-sync/import-7`,
	}
	cmd.AddCommand(newList(f, nil), newShow(f, nil), newAbort(f, nil))
	return cmd
}

func style(s governor.CharterState) render.Style {
	switch s {
	case governor.CharterOpen:
		return render.Warn
	case governor.CharterComplete:
		return render.Good
	}
	return render.Alarm
}
