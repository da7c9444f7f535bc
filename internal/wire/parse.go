package wire

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/traction-go/traction/pkg/settle"
)

// ErrMalformed is the class of what cannot be read as a flight.
var ErrMalformed = errors.New("malformed")

// MalformedError says what could not be read. It wraps ErrMalformed.
type MalformedError struct {
	What string
	Why  string
}

func (e *MalformedError) Error() string { return "malformed: " + e.What + ": " + e.Why }

// Unwrap makes errors.Is(err, ErrMalformed) true.
func (e *MalformedError) Unwrap() error { return ErrMalformed }

func malformed(what, format string, args ...any) error {
	return &MalformedError{what, fmt.Sprintf(format, args...)}
}

// ParseFlight reads the message that queue handed out for gate. limit bounds the
// payload in bytes; 0 is no bound. On an error the flight carries what could be
// read, so that the parked copy can be named. A header of Traction's own that is
// there and cannot be read, a void one too, is an error, never its default.
func ParseFlight(m Message, gate Scope, limit int) (Flight, error) {
	f := Flight{ID: m.ID, Scope: gate, Seat: NoSeat, Msg: m}
	var first error
	fail := func(err error) {
		if first == nil && err != nil {
			first = err
		}
	}
	unread := func(name, format string, args ...any) {
		fail(malformed(name, format, args...))
		switch name {
		case HeaderScope, HeaderBusinessID, HeaderIdempotency, HeaderCharter, HeaderSeat, HeaderDeaths:
			f.unread = append(f.unread, name)
		}
	}
	fail(CheckFlightID(m.ID))
	text := func(name string, most int) string {
		v, ok := m.Headers[name]
		if !ok {
			return ""
		}
		s, ok := v.(string)
		if !ok {
			unread(name, "want a string, got %T", v)
			return ""
		}
		if len(s) > most || !utf8.ValidString(s) {
			unread(name, "want at most %d bytes of UTF-8", most)
			return ""
		}
		return s
	}
	number := func(name string, none int) int {
		v, ok := m.Headers[name]
		if !ok {
			return none
		}
		n, err := integer(v)
		if err != nil || n < 0 || n > math.MaxInt32 {
			unread(name, "want a whole number from 0 to %d", math.MaxInt32)
			return none
		}
		return int(n)
	}
	if s := text(HeaderScope, 3*MaxName); s != "" && s != gate.String() {
		unread(HeaderScope, "says %q, want %s, the gate it came from", bound(s, 80), gate)
	}
	f.BusinessID = text(HeaderBusinessID, MaxBusinessID)
	f.Idempotency = text(HeaderIdempotency, MaxIdempotency)
	f.Charter = text(HeaderCharter, MaxName)
	if f.Charter != "" {
		if err := CheckName("run", f.Charter); err != nil {
			unread(HeaderCharter, "%v", err)
			f.Charter = ""
		}
	}
	f.Seat = number(HeaderSeat, NoSeat)
	if (f.Charter == "") != (f.Seat == NoSeat) {
		unread(HeaderSeat, "a charter and a seat go together")
	}
	h, err := settle.ParseHolds(text(HeaderHolds, 255))
	if err != nil {
		fail(malformed(HeaderHolds, "%v", err))
	}
	f.Holds = h
	f.HoldReason = text(HeaderHoldReason, 255)
	f.Replays = number(HeaderReplays, 0)
	if s := text(HeaderDeaths, 4096); s != "" {
		f.Deaths = strings.Split(s, ",")
		if slices.Contains(f.Deaths, "") {
			unread(HeaderDeaths, "want the ids of workers, separated by commas")
			f.Deaths = nil
		}
	}
	f.ParkedReason = settle.Reason(text(HeaderParkedReason, 64))
	f.Evidence = text(HeaderEvidence, 2*MaxEvidence)
	if s := text(HeaderParkedAt, 64); s != "" {
		t, err := time.Parse(time.RFC3339, s)
		if err != nil {
			fail(malformed(HeaderParkedAt, "want an RFC 3339 time"))
		}
		f.ParkedAt = t
	}
	f.Worker = text(HeaderWorker, 255)
	if limit > 0 && len(m.Body) > limit {
		fail(malformed("payload", "%d bytes, over the limit of %d", len(m.Body), limit))
	}
	return f, first
}

// integer reads a header number of any AMQP integer type, or its decimal text.
func integer(v any) (int64, error) {
	switch n := v.(type) {
	case int:
		return int64(n), nil
	case int8:
		return int64(n), nil
	case int16:
		return int64(n), nil
	case int32:
		return int64(n), nil
	case int64:
		return n, nil
	case uint8:
		return int64(n), nil
	case uint16:
		return int64(n), nil
	case uint32:
		return int64(n), nil
	case string:
		return strconv.ParseInt(n, 10, 64)
	}
	return 0, fmt.Errorf("want a whole number, got %T", v)
}
