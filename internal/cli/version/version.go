// Package version is `tractionctl version`.
package version

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/traction-go/traction/internal/cli/command"
	"github.com/traction-go/traction/internal/cli/factory"
	"github.com/traction-go/traction/internal/cli/render"
)

// Version is set when a release is built (-ldflags -X); otherwise the module's
// version is shown.
var Version string

type options struct{ *factory.Factory }

// New makes the command.
func New(f *factory.Factory) *cobra.Command { return newCmd(f, nil) }

func newCmd(f *factory.Factory, runF func(context.Context, *options) error) *cobra.Command {
	opts := &options{f}
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version of this binary",
		Example: "  tractionctl version\n  tractionctl version -o json | jq -r .commit",
		Args:    command.None,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if runF != nil {
				return runF(cmd.Context(), opts)
			}
			return run(opts)
		},
	}
}

// Info is what is known of a binary.
type Info struct {
	Version  string `json:"version"`
	Commit   string `json:"commit"`
	Modified bool   `json:"modified"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

// Read gives the facts of the running binary.
func Read() Info {
	i := Info{Version: Version, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	b, ok := debug.ReadBuildInfo()
	if !ok {
		b = &debug.BuildInfo{}
	}
	if i.Version == "" {
		i.Version = b.Main.Version
	}
	if i.Version == "" || i.Version == "(devel)" {
		i.Version = "devel"
	}
	for _, s := range b.Settings {
		switch s.Key {
		case "vcs.revision":
			i.Commit = s.Value
		case "vcs.modified":
			i.Modified = s.Value == "true"
		}
	}
	return i
}

func run(opts *options) error {
	i := Read()
	if opts.Output != render.AsTable {
		return render.One(opts.Out, opts.Output, i)
	}
	line := "tractionctl " + i.Version
	if i.Commit != "" {
		line += " (" + i.Commit[:min(12, len(i.Commit))]
		if i.Modified {
			line += ", modified"
		}
		line += ")"
	}
	_, err := fmt.Fprintf(opts.Out, "%s %s %s\n", line, i.Go, i.Platform)
	return err
}
