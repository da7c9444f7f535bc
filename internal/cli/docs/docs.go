// Package docs is `tractionctl docs`: the manual, written from the command tree, so
// that a page cannot say anything else than the help does. It needs neither broker
// nor store. The man pages carry the month they were written in, or that of
// SOURCE_DATE_EPOCH, by which builds that must come out the same fix it.
package docs

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/traction-go/traction/internal/cli/command"
	"github.com/traction-go/traction/internal/cli/exit"
	"github.com/traction-go/traction/internal/cli/factory"
	"github.com/traction-go/traction/internal/cli/version"
)

// New makes the command and its verbs.
func New(f *factory.Factory) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "docs",
		Short: "Write the manual of this binary: man, markdown",
		Example: `  tractionctl docs man /usr/local/share/man/man1
  tractionctl docs markdown ./manual`,
	}
	cmd.AddCommand(newMan(f, nil), newMarkdown(f, nil))
	return cmd
}

type options struct {
	*factory.Factory
	Dir  string
	Root *cobra.Command
}

func newMan(f *factory.Factory, runF func(context.Context, *options) error) *cobra.Command {
	return newVerb(f, runF, man, &cobra.Command{
		Use:     "man DIR",
		Short:   "Write a man page for each command",
		Example: "  tractionctl docs man ./man1\n  man ./man1/tractionctl-parked-replay.1",
	})
}

func newMarkdown(f *factory.Factory, runF func(context.Context, *options) error) *cobra.Command {
	return newVerb(f, runF, markdown, &cobra.Command{
		Use:     "markdown DIR",
		Short:   "Write a Markdown page for each command",
		Example: "  tractionctl docs markdown ./manual",
	})
}

func newVerb(f *factory.Factory, runF func(context.Context, *options) error, write func(*options) error, cmd *cobra.Command) *cobra.Command {
	cmd.Long = "DIR is made where it does not exist; pages that are there are written anew, and nothing\nelse in it is touched."
	cmd.Args = command.Exactly("DIR")
	cmd.ValidArgsFunction = func(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return nil, cobra.ShellCompDirectiveFilterDirs
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		opts := &options{Factory: f, Dir: args[0], Root: cmd.Root()}
		if runF != nil {
			return runF(cmd.Context(), opts)
		}
		return run(opts, write)
	}
	return cmd
}

func run(opts *options, write func(*options) error) error {
	if opts.Dir == "" {
		return exit.Usagef("DIR is empty: want a folder for the pages")
	}
	if err := os.MkdirAll(opts.Dir, 0o755); err != nil {
		return unusable(opts, fmt.Errorf("make the folder for the pages: %w", err))
	}
	// A page with the day it was written on would differ every day.
	opts.Root.DisableAutoGenTag = true
	if err := write(opts); err != nil {
		return unusable(opts, fmt.Errorf("write the pages: %w", err))
	}
	opts.Notef("the manual is in %s\n", opts.Dir)
	return nil
}

func unusable(opts *options, err error) error {
	return exit.WithHint(exit.Usagef("%w", err), "%s must be a folder that is there or can be made, and can be written to", opts.Dir)
}

func man(opts *options) error {
	return doc.GenManTree(opts.Root, &doc.GenManHeader{
		Section: "1", Source: "tractionctl " + version.Read().Version, Manual: "Traction",
	}, opts.Dir)
}

func markdown(opts *options) error { return doc.GenMarkdownTree(opts.Root, opts.Dir) }
