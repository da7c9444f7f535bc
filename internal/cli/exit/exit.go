// Package exit maps errors to the exit codes of the command line. The mapping is
// one pure function, so that a script can rely on what a code means.
package exit

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"

	"github.com/traction-go/traction/pkg/governor"
)

// The exit codes.
const (
	Done        = 0
	Failed      = 1
	Usage       = 2
	NotFound    = 3
	Refused     = 4
	Unreachable = 5
	Partial     = 6
	Interrupted = 130
	Terminated  = 143
)

// Meaning is one code and what it tells a script.
type Meaning struct {
	Code int
	Name string // two or three words, for the first line of an error
	Text string
}

// Codes lists every code in ascending order.
func Codes() []Meaning {
	return []Meaning{
		{Done, "done", "done; an empty list, a dry run and --help are done too"},
		{Failed, "failed", "failed for a reason that has no code of its own"},
		{Usage, "usage", "the command line, the configuration or a file cannot be used; nothing was tried"},
		{NotFound, "not found", "the scope, incident or flight does not exist"},
		{Refused, "refused", "a precondition does not hold; nothing was changed"},
		{Unreachable, "unreachable", "the broker or the store did not answer within --timeout"},
		{Partial, "partly done", "some of it was done; the output says what was not"},
		{Interrupted, "interrupted", "ended by SIGINT (Ctrl-C)"},
		{Terminated, "terminated", "ended by SIGTERM"},
	}
}

// Name gives the words for a code.
func Name(code int) string {
	for _, m := range Codes() {
		if m.Code == code {
			return m.Name
		}
	}
	return "failed"
}

// ErrUsage is the class of what is wrong with the command line itself.
var ErrUsage = errors.New("usage")

// Usagef makes an error of class ErrUsage whose text is the message alone.
func Usagef(format string, args ...any) error {
	return &usageError{fmt.Errorf(format, args...)}
}

type usageError struct{ err error }

func (e *usageError) Error() string   { return e.err.Error() }
func (e *usageError) Unwrap() []error { return []error{ErrUsage, e.err} }

// SignalError is the cause of a context that a signal ended.
type SignalError struct{ Signal os.Signal }

func (e *SignalError) Error() string { return "stopped by " + e.Signal.String() }

// Hint is an error that says what to do next.
type Hint struct {
	Err  error
	Next string
}

func (e *Hint) Error() string { return e.Err.Error() }

// Unwrap gives the error that the hint belongs to.
func (e *Hint) Unwrap() error { return e.Err }

// WithHint adds what to do next to an error; nil stays nil.
func WithHint(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	return &Hint{err, fmt.Sprintf(format, args...)}
}

// Code maps an error to its exit code. Where an error has several classes, what
// has already happened counts before what prevented the rest: a signal, then
// partly done, then the class of the failure.
func Code(err error) int {
	var signal *SignalError
	switch {
	case err == nil:
		return Done
	case errors.As(err, &signal):
		if signal.Signal == syscall.SIGTERM {
			return Terminated
		}
		return Interrupted
	case errors.Is(err, governor.ErrPartial):
		return Partial
	case errors.Is(err, ErrUsage), errors.Is(err, governor.ErrName), errors.Is(err, governor.ErrSpec), errors.Is(err, governor.ErrFile):
		return Usage
	case errors.Is(err, governor.ErrRefused):
		return Refused
	case errors.Is(err, governor.ErrNotFound):
		return NotFound
	case errors.Is(err, governor.ErrUnreachable), errors.Is(err, context.DeadlineExceeded):
		return Unreachable
	}
	return Failed
}
