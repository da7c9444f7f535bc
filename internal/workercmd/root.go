package workercmd

import (
	"github.com/spf13/cobra"

	"github.com/traction-go/traction/internal/cli/command"
	"github.com/traction-go/traction/internal/cli/exit"
)

func newRoot(w *World) *cobra.Command {
	root := &cobra.Command{
		Use:   "traction-worker",
		Short: "Fly the flights of a configuration, governed",
		Long: "traction-worker flies what waits on the runways of the airports in a configuration,\n" +
			"one HTTP call or program a flight, and stops the right scope on the right evidence.\n\n" +
			"Exit codes: 0 done (also drained after a signal); 1 failed; 2 the command line or the\n" +
			"configuration is wrong, nothing was started; 130, 143 a second signal ended it at once.",
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetOut(w.Out)
	root.SetErr(w.Err)
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return exit.Usagef("%w", err) })
	root.CompletionOptions.HiddenDefaultCmd = true
	root.AddCommand(newRunCmd(w, run), newCheckCmd(w, check), newVersionCmd(w))
	command.Strict(root)
	return root
}

// needFile refuses a missing -c.
func needFile(path string) error {
	if path == "" {
		return exit.Usagef("wants a configuration: -c FILE")
	}
	return nil
}
