package governor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"syscall"
	"time"

	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/settle"
)

// Report says what the outcome of one call means. Make it with Landed,
// FlightFault, GateFault, AirportFault, RateLimit, Conflict, Transient or
// Internal.
type Report struct {
	Outcome settle.Outcome
	// Err is the evidence: its type and text are kept, bounded to 1 KiB, with
	// secrets masked.
	Err error
	// After is how long the vendor asked to be left alone, for RATE_LIMIT; zero
	// where it did not say.
	After time.Duration
}

// Reporter says what an outcome means. It is the only containment logic a user
// writes. It sees nil errors too, runs on the worker's goroutines, and must
// return quickly.
type Reporter func(ctx context.Context, f Meta, err error) Report

// Landed reports that the call did its work.
func Landed() Report { return Report{Outcome: settle.Landed} }

// FlightFault reports a record that can never succeed: it is rejected.
func FlightFault(err error) Report { return Report{Outcome: settle.FlightFault, Err: err} }

// GateFault reports that this kind of work is broken: the flight is parked, and
// three distinct records stop the gate.
func GateFault(err error) Report { return Report{Outcome: settle.GateFault, Err: err} }

// AirportFault reports that the whole connection is broken: the airport stops.
func AirportFault(err error) Report { return Report{Outcome: settle.AirportFault, Err: err} }

// RateLimit reports that the vendor asked for fewer calls. after is what it asked
// for; 0 means that it did not say.
func RateLimit(err error, after time.Duration) Report {
	return Report{Outcome: settle.RateLimit, Err: err, After: after}
}

// Conflict reports a deadlock or a serialization failure: the call is tried again
// in place up to three times, then it is a Transient.
func Conflict(err error) Report { return Report{Outcome: settle.Conflict, Err: err} }

// Transient reports a failure that may pass: the flight is held and comes back.
func Transient(err error) Report { return Report{Outcome: settle.Transient, Err: err} }

// Internal reports a bug of our own: held once, then parked.
func Internal(err error) Report { return Report{Outcome: settle.Internal, Err: err} }

// DefaultReporter lands a nil error, reads a StatusError by its HTTP status
// (StatusOutcome) and an ExitError by its code (ExitOutcome), takes timeouts, network
// errors and a StoppedError for TRANSIENT, and anything else for INTERNAL.
func DefaultReporter(_ context.Context, _ Meta, err error) Report {
	if err == nil {
		return Landed()
	}
	var status *StatusError
	if errors.As(err, &status) {
		return Report{Outcome: StatusOutcome(status.Code, status.After > 0), Err: err, After: status.After}
	}
	if r, ok := programReport(err); ok {
		return r
	}
	if isTransient(err) {
		return Transient(err)
	}
	return Internal(err)
}

func isTransient(err error) bool {
	var netErr net.Error
	network := errors.As(err, &netErr)
	if errno, ok := netErr.(syscall.Errno); ok {
		network = errno.Timeout() // any errno has a network error's methods: a missing file's too
	}
	return errors.Is(err, context.DeadlineExceeded) || network ||
		errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) ||
		errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

// StatusError is an HTTP answer that is not a success, for pilots to return.
type StatusError struct {
	Code  int
	After time.Duration // from Retry-After; 0: none
	Body  string        // the beginning of the answer, as evidence
}

// Error says the status and the beginning of the answer.
func (e *StatusError) Error() string {
	if e.Body == "" {
		return fmt.Sprintf("status %d", e.Code)
	}
	return fmt.Sprintf("%d %s", e.Code, e.Body)
}

// StatusOutcome is the default meaning of an HTTP status. retryAfter says whether
// the answer carried a usable Retry-After.
func StatusOutcome(code int, retryAfter bool) settle.Outcome {
	switch code {
	case 401, 402, 407:
		return settle.AirportFault
	case 403, 404, 405, 406, 410, 415, 501:
		return settle.GateFault
	case 400, 409, 413, 422:
		return settle.FlightFault
	case 429:
		return settle.RateLimit
	case 503:
		if retryAfter {
			return settle.RateLimit
		}
		return settle.Transient
	case 408, 425, 500, 502, 504:
		return settle.Transient
	}
	switch {
	case code >= 200 && code < 300:
		return settle.Landed
	case code >= 300 && code < 400:
		return settle.GateFault
	}
	return settle.Internal
}

// evidence is what of a report leaves the worker.
func evidence(err error, secrets []string) wire.Evidence {
	if err == nil {
		return wire.Evidence{}
	}
	return wire.Evidence{
		Class:   wire.CleanEvidence(errorClass(err)),
		Excerpt: wire.CleanEvidence(err.Error(), secrets...),
	}
}

// errorClass names an error by the innermost type that says something, such as
// *acme.AuthError; plain text errors have none.
func errorClass(err error) string {
	class := ""
	for e := err; e != nil; e = errors.Unwrap(e) {
		name := fmt.Sprintf("%T", e)
		switch {
		case strings.HasPrefix(name, "*governor."), strings.HasPrefix(name, "*httppilot."), name == "syscall.Errno",
			name == "context.deadlineExceededError": // its text says it all
		case name == "*errors.errorString", name == "*fmt.wrapError", name == "*fmt.wrapErrors", name == "*errors.joinError":
		default:
			class = name
		}
	}
	return class
}
