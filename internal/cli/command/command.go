// Package command holds what the commands share in cobra's terms: arguments that
// are checked with the right exit code, and groups that refuse an unknown verb
// instead of printing help and succeeding.
package command

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/traction-go/traction/internal/cli/exit"
	"github.com/traction-go/traction/internal/wire"
)

// None refuses any argument.
func None(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return exit.Usagef("%s takes no argument, got %q", cmd.CommandPath(), wire.Visible(args[0]))
	}
	return nil
}

// Exactly wants one argument for each name.
func Exactly(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == len(names) {
			return nil
		}
		return exit.Usagef("%s wants %s, got %s", cmd.CommandPath(), strings.Join(names, " "), count(len(args)))
	}
}

// AtMost wants up to one argument for each name.
func AtMost(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) <= len(names) {
			return nil
		}
		return exit.Usagef("%s wants at most %s, got %s", cmd.CommandPath(), strings.Join(names, " "), count(len(args)))
	}
}

// Filled refuses those of the named flags that were typed with a value that chooses
// nothing: empty, or a limit or an age of 0. An unset variable of a script would
// otherwise mean all.
func Filled(cmd *cobra.Command, names ...string) error {
	for _, name := range names {
		f := cmd.Flags().Lookup(name)
		if f == nil || !f.Changed {
			continue
		}
		switch v := f.Value.String(); {
		case f.Value.Type() == "int":
			if n, err := strconv.Atoi(v); err == nil && n < 1 {
				return exit.Usagef("--%s %d: want 1 or more, or leave it out for all", name, n)
			}
		case f.Value.Type() == "duration" && v == "":
			return exit.Usagef("--%s 0: want more than 0, or leave it out for all", name)
		case v == "":
			return exit.WithHint(exit.Usagef("--%s is empty, and would choose all: give it a value, or leave it out where all is meant", name),
				"look whether a variable on the command line is unset")
		}
	}
	return nil
}

func count(n int) string {
	if n == 1 {
		return "1 argument"
	}
	return fmt.Sprintf("%d arguments", n)
}

// Strict makes every group under cmd refuse what is not one of its verbs, and a
// missing verb, as a usage error. cobra alone prints the help and exits 0.
func Strict(cmd *cobra.Command) {
	for _, sub := range cmd.Commands() {
		Strict(sub)
	}
	if cmd.HasSubCommands() && cmd.Run == nil && cmd.RunE == nil {
		cmd.Args = cobra.ArbitraryArgs
		cmd.RunE = group
	}
}

func group(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return exit.Usagef("%s wants a verb: %s", cmd.CommandPath(), strings.Join(verbs(cmd), ", "))
	}
	return Unknown(cmd, args[0])
}

// Unknown is the error for a word that is not one of cmd's verbs.
func Unknown(cmd *cobra.Command, word string) error {
	err := exit.Usagef("unknown command %q for %s", wire.Visible(word), cmd.CommandPath())
	cmd.SuggestionsMinimumDistance = 2
	if near := cmd.SuggestionsFor(word); len(near) > 0 {
		return exit.WithHint(err, "did you mean %s %s?", cmd.CommandPath(), near[0])
	}
	return exit.WithHint(err, "%s has: %s", cmd.CommandPath(), strings.Join(verbs(cmd), ", "))
}

func verbs(cmd *cobra.Command) []string {
	var names []string
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			names = append(names, sub.Name())
		}
	}
	return names
}
