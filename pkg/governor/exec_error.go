package governor

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/settle"
)

// ExitError is a program that ended by itself with another code than 0.
type ExitError struct {
	Code   int
	Stderr string // its end, at most 1 KiB, masked
}

// Error says the exit code and the end of what was said.
func (e *ExitError) Error() string { return said(fmt.Sprintf("exit %d", e.Code), e.Stderr) }

// ExitOutcome is the default meaning of a program's exit code, after sysexits.h.
func ExitOutcome(code int) settle.Outcome {
	switch code {
	case 0:
		return settle.Landed
	case 65: // EX_DATAERR
		return settle.FlightFault
	case 69, 75: // EX_UNAVAILABLE, EX_TEMPFAIL
		return settle.Transient
	case 76: // EX_PROTOCOL
		return settle.GateFault
	case 77, 78: // EX_NOPERM, EX_CONFIG
		return settle.AirportFault
	}
	return settle.Internal
}

// StoppedError is a program that was ended before it was done, for no fault of its
// own: at the timeout, at the end of a drain, or because it was asked to by somebody
// outside, as a service manager asks all processes of a service.
type StoppedError struct {
	Err    error // context.DeadlineExceeded, context.Canceled, or who else ended it
	Stderr string
	After  time.Duration // the gate's timeout; 0 where it was not that, or is not known
}

// timeoutKey is where a call's context has its gate's timeout, for Exec to say.
type timeoutKey struct{}

// stopped is a program that was ended for the cause, in a call with this context.
func stopped(ctx context.Context, cause error, stderr string) *StoppedError {
	e := &StoppedError{Err: cause, Stderr: stderr}
	if errors.Is(cause, context.DeadlineExceeded) {
		e.After, _ = ctx.Value(timeoutKey{}).(time.Duration)
	}
	return e
}

// Error says why it was ended.
func (e *StoppedError) Error() string {
	why := e.Err.Error()
	switch {
	case errors.Is(e.Err, context.DeadlineExceeded):
		why = "killed at its timeout"
		if e.After > 0 {
			why += " of " + wire.ShortDuration(e.After)
		}
	case errors.Is(e.Err, context.Canceled):
		why = "killed as the worker was told to stop"
	}
	return said(why, e.Stderr)
}

// Unwrap gives what ended it.
func (e *StoppedError) Unwrap() error { return e.Err }

// StartError is a program that could not be started.
type StartError struct {
	Command string
	Dir     string
	Err     error
}

// Error says what could not be started, and why.
func (e *StartError) Error() string {
	where := ""
	if e.Dir != "" {
		where = " in " + e.Dir
	}
	return fmt.Sprintf("starting %s%s: %v; see that it is there and may be run", wire.Visible(e.Command), wire.Visible(where), e.Err)
}

// Unwrap gives the system's error.
func (e *StartError) Unwrap() error { return e.Err }

// passing reports whether the start failed for a want of something that may come
// back: processes, memory, open files, or a program that is being replaced.
func (e *StartError) passing() bool {
	for _, errno := range []syscall.Errno{syscall.EAGAIN, syscall.ENOMEM, syscall.EMFILE, syscall.ENFILE, syscall.ETXTBSY} {
		if errors.Is(e.Err, errno) {
			return true
		}
	}
	return false
}

// asked reports whether a signal is one that processes are asked to end with, rather
// than one that they die of. A service manager sends it to a worker and its programs
// alike, so a deploy must not count as the death of what is in the air.
func asked(s syscall.Signal) bool {
	return s == syscall.SIGTERM || s == syscall.SIGINT || s == syscall.SIGHUP
}

func said(what, stderr string) string {
	if stderr == "" {
		return what
	}
	return what + ": " + stderr
}

// programReport reads the errors of Exec; false for any other.
func programReport(err error) (Report, bool) {
	var code *ExitError
	var stopped *StoppedError
	var start *StartError
	var death *DeathError
	switch {
	case errors.As(err, &code):
		return Report{Outcome: ExitOutcome(code.Code), Err: err}, true
	case errors.As(err, &stopped):
		return Transient(err), true
	case errors.As(err, &start) && start.passing():
		return Transient(err), true
	case errors.As(err, &start), errors.As(err, &death):
		return Internal(err), true
	}
	return Report{}, false
}
