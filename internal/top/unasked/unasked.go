// Package unasked keeps a terminal from being asked for its background colour when the
// program starts.
//
// Bubble Tea asks in its init, in every program that imports it, whatever the command:
// `tractionctl version` too. A terminal that does not answer, as that of a script with
// expect, costs each command five seconds, and the question stands in its output.
// Nothing here depends on the answer.
//
// Whoever asks (termenv) does not where the environment says CI. So CI is set while
// packages are initialised, and package top, which imports Bubble Tea, calls Done in its
// own init. That this init comes before Bubble Tea's is no luck: of the packages whose
// imports are initialised Go takes the first by path; this one needs syscall alone, and
// Bubble Tea needs golang.org/x/sys, which needs syscall and comes later by path. A test
// with a terminal holds it (TestNothingIsAskedOfTheTerminal).
package unasked

import "syscall"

const name = "CI"

var (
	was, found = syscall.Getenv(name)
	asSet      = found && was != "" // nothing is asked
	_          = begin()
)

func begin() error {
	if asSet {
		return nil
	}
	return syscall.Setenv(name, "unasked")
}

// Done gives the environment back as it was. Neither call can fail: the name is a good
// one.
func Done() {
	switch {
	case asSet:
	case found:
		_ = syscall.Setenv(name, was)
	default:
		_ = syscall.Unsetenv(name)
	}
}
