package httppilot

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/governor"
)

// Answer is an HTTP answer that may be more than a plain success.
type Answer struct {
	Status *governor.StatusError
	body   []byte // what was read of it, for the rules
}

func (a *Answer) Error() string { return a.Status.Error() }

// Unwrap gives the status, which governor.DefaultReporter reads.
func (a *Answer) Unwrap() error { return a.Status }

func newAnswer(res *http.Response, body []byte, secrets []string) *Answer {
	// Masked before it is cut, so that half a secret cannot stay.
	kept := wire.CleanEvidence(strings.TrimSpace(string(body)), secrets...)
	return &Answer{
		Status: &governor.StatusError{
			Code:  res.StatusCode,
			After: retryAfter(res.Header, time.Now()),
			Body:  kept,
		},
		body: body,
	}
}

// maxAfter keeps what a vendor asks for within what a duration can hold; the
// airport's own cap is far below.
const maxAfter = 366 * 24 * time.Hour

// retryAfter reads Retry-After, in seconds or as a date, which is compared with
// the vendor's own clock where it tells it. What is past, negative or unreadable
// is 0: it asks for nothing.
func retryAfter(h http.Header, now time.Time) time.Duration {
	v := strings.TrimSpace(h.Get("Retry-After"))
	if v == "" {
		return 0
	}
	if strings.Trim(v, "0123456789") == "" {
		n, err := strconv.ParseInt(v, 10, 64)
		if err != nil || n > int64(maxAfter/time.Second) {
			return maxAfter
		}
		return time.Duration(n) * time.Second
	}
	at, err := http.ParseTime(v)
	if err != nil {
		return 0
	}
	if theirs, err := http.ParseTime(h.Get("Date")); err == nil {
		now = theirs
	}
	return min(max(at.Sub(now), 0), maxAfter)
}

// CallError is a call that got no answer: refused, reset, timed out.
type CallError struct {
	Method  string
	Host    string
	Timeout bool // the call's own time was up
	Err     error
	secrets []string
}

func (e *CallError) Error() string {
	what := e.Err.Error()
	if e.Timeout {
		what = "no answer within the gate's timeout"
	}
	return wire.Mask(fmt.Sprintf("%s %s: %s", e.Method, e.Host, what), e.secrets...)
}

// Unwrap gives the transport's error.
func (e *CallError) Unwrap() error { return e.Err }

// callError drops the URL that net/http writes into its errors.
func (p *Pilot) callError(ctx context.Context, err error, secrets []string) error {
	var ue *url.Error
	if errors.As(err, &ue) {
		err = ue.Err
	}
	return &CallError{
		Method: p.spec.Method, Host: p.host, secrets: secrets, Err: err,
		Timeout: errors.Is(ctx.Err(), context.DeadlineExceeded),
	}
}
