package workercmd

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/traction-go/traction/internal/cli/command"
)

// Version is set when a release is built (-ldflags -X); otherwise the module's
// version is shown.
var Version string

func version() string {
	if Version != "" {
		return Version
	}
	if b, ok := debug.ReadBuildInfo(); ok && b.Main.Version != "" && b.Main.Version != "(devel)" {
		return b.Main.Version
	}
	return "devel"
}

func newVersionCmd(w *World) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version of this binary",
		Args:  command.None,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintf(w.Out, "traction-worker %s %s %s/%s\n", version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		},
	}
}
