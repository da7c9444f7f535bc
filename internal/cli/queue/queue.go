// Package queue is `tractionctl queue`: one file per verb.
package queue

import (
	"github.com/spf13/cobra"

	"github.com/traction-go/traction/internal/cli/factory"
)

// New makes the command and its verbs.
func New(f *factory.Factory) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "queue",
		Short: "Whole queues, Traction's or not: backup, restore, rehearse",
		Example: `  tractionctl queue backup analytical-event.incoming.queue events.backup
  tractionctl queue restore events.backup
  tractionctl queue rehearse -c traction.yaml`,
	}
	cmd.AddCommand(newBackup(f, nil), newRestore(f, nil), newRehearse(f, nil))
	return cmd
}
