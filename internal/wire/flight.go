package wire

import (
	"slices"
	"strings"
	"time"

	"github.com/traction-go/traction/pkg/settle"
)

// FlightType is the message type of a flight. A message of another type on a
// runway is a plain payload, which is first given an id and headers.
const FlightType = "traction.flight.v1"

// Traction's own headers. Headers it does not know travel untouched.
const (
	HeaderScope        = "tr-scope"           // airport/gate; the queue decides, a differing one is MALFORMED
	HeaderBusinessID   = "tr-business-id"     // the caller's idempotency key
	HeaderIdempotency  = "tr-idempotency-key" // what a vendor is told instead of the flight id
	HeaderCharter      = "tr-charter"         // the run
	HeaderSeat         = "tr-seat"            // the flight's number in the run
	HeaderHolds        = "tr-holds"           // transient=2,internal=1
	HeaderHoldReason   = "tr-hold-reason"     // of the last hold
	HeaderReplays      = "tr-replays"         // how often an operator replayed it
	HeaderDeaths       = "tr-deaths"          // workers that died with it in the air
	HeaderParkedReason = "tr-parked-reason"   // on parked copies
	HeaderEvidence     = "tr-evidence"        // on parked and rejected copies; after a death on the held one
	HeaderParkedAt     = "tr-parked-at"       // RFC 3339, on parked and rejected copies
	HeaderWorker       = "tr-worker"          // the process that settled it last
)

// IsFlightHeader reports whether a header says something of a flight.
func IsFlightHeader(name string) bool {
	switch name {
	case HeaderScope, HeaderBusinessID, HeaderIdempotency, HeaderCharter, HeaderSeat, HeaderHolds, HeaderHoldReason,
		HeaderReplays, HeaderDeaths, HeaderParkedReason, HeaderEvidence, HeaderParkedAt, HeaderWorker:
		return true
	}
	return false
}

// NoSeat is the seat of a flight that belongs to no charter.
const NoSeat = -1

// Flight is one message as Traction understands it.
type Flight struct {
	ID          string
	Scope       Scope // the gate
	BusinessID  string
	Idempotency string // the vendor's idempotency key; "": the flight id
	Charter     string // the run; "" for none
	Seat        int    // NoSeat without a charter
	Holds       settle.Holds
	HoldReason  string
	Replays     int
	Deaths      []string

	ParkedReason settle.Reason
	Evidence     string
	ParkedAt     time.Time
	Worker       string

	Msg Message // the message it came in; Msg.Body is the payload

	// unread names the headers that say what the flight is and could not be
	// read. Message leaves them as they came: a parked copy without them would
	// be flown by a replay as something that it is not.
	unread []string
}

// Record is what counts in a streak: the business id, or the flight id where
// there is none.
func (f *Flight) Record() string {
	if f.BusinessID != "" {
		return f.BusinessID
	}
	return f.ID
}

// IsFlight reports whether the message says that it is a flight.
func (m Message) IsFlight() bool { return m.Type == FlightType }

// Message writes the flight's headers over the message it came in, ready to be
// published: the broker's traces are stripped (Message.Forward), and fields that
// are empty have no header. What says which flight it is (scope, business id,
// idempotency key, charter, seat, deaths) and could not be read stays as it came.
func (f *Flight) Message() Message {
	m := f.Msg.Forward()
	m.ID, m.Type = f.ID, FlightType
	put := func(name string, v any, has bool) {
		switch {
		case slices.Contains(f.unread, name): // as it came
		case has:
			m.Headers[name] = v
		default:
			delete(m.Headers, name)
		}
	}
	set := func(name, v string) { put(name, v, v != "") }
	set(HeaderScope, f.Scope.String())
	set(HeaderBusinessID, f.BusinessID)
	set(HeaderIdempotency, f.Idempotency)
	set(HeaderCharter, f.Charter)
	put(HeaderSeat, int64(f.Seat), f.Charter != "" && f.Seat >= 0)
	set(HeaderHolds, f.Holds.String())
	set(HeaderHoldReason, f.HoldReason)
	put(HeaderReplays, int64(f.Replays), f.Replays > 0)
	set(HeaderDeaths, strings.Join(f.Deaths, ","))
	set(HeaderParkedReason, string(f.ParkedReason))
	set(HeaderEvidence, f.Evidence)
	parked := ""
	if !f.ParkedAt.IsZero() {
		parked = f.ParkedAt.UTC().Format(time.RFC3339)
	}
	set(HeaderParkedAt, parked)
	set(HeaderWorker, f.Worker)
	return m
}
