// Package suspect is `tractionctl suspect`: one file per verb.
package suspect

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/traction-go/traction/internal/cli/exit"
	"github.com/traction-go/traction/internal/cli/factory"
	"github.com/traction-go/traction/pkg/governor"
)

// New makes the command and its verbs.
func New(f *factory.Factory) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "suspect",
		Short: "Flights that were in the air when a worker died: list, show, clear",
		Long: `A flight that was in the air when a worker died is a suspect: it flies alone, in a process
that has nothing else in the air. A landing acquits it; a second death convicts it. It is
parked as POISON_PILL, with its incident and notification, when a worker meets it next:
about ten seconds later.`,
		Example: `  tractionctl suspect list
  tractionctl suspect clear 01909c3e-8f2a-7c11-b1a4-5f0e9d7c2b10`,
	}
	cmd.AddCommand(newList(f, nil), newShow(f, nil), newClear(f, nil))
	return cmd
}

// hinted says where to look for a flight that is no suspect.
func hinted(err error) error {
	if errors.Is(err, governor.ErrNotFound) {
		return exit.WithHint(err, "tractionctl suspect list shows the suspects there are")
	}
	return err
}
