package governor

import (
	"crypto/sha256"
	"encoding/hex"
	"time"

	"github.com/traction-go/traction/internal/jsonptr"
	"github.com/traction-go/traction/internal/wire"
)

// reading is how an adopted queue's messages are read: the Adoption, parsed.
type reading struct {
	queue    string
	business jsonptr.Pointer // nil: none
	by       jsonptr.Pointer // nil: no route
	gates    map[string]string
	fallback string
}

// newReading needs a valid Adoption.
func newReading(a *Adoption, own string) reading {
	r := reading{queue: a.Queue, fallback: own}
	if a.BusinessID != "" {
		r.business, _ = jsonptr.Parse(a.BusinessID) // it was validated
	}
	if a.Route != nil {
		r.by, _ = jsonptr.Parse(a.Route.By)
		r.gates, r.fallback = a.Route.Gates, or(a.Route.Default, own)
	}
	return r
}

// flight makes a flight of a message, and says which gate it is for.
func (r reading) flight(airport string, m wire.Message, now time.Time) wire.Flight {
	gate, business := r.fallback, ""
	if r.by != nil || r.business != nil {
		if doc, ok := jsonptr.Decode(m.Body); ok {
			if r.by != nil {
				value, _ := r.by.Text(doc)
				if to, ok := r.gates[value]; ok {
					gate = to
				}
			}
			if r.business != nil {
				business, _ = r.business.Text(doc)
			}
		}
	}
	f := newcomer(wire.Scope{Airport: airport, Gate: gate}, m, now)
	f.Msg.Headers[wire.HeaderAdoptedFrom] = r.queue
	if wire.CheckBusinessID(business) == nil && !jsonptr.Lossy(business) {
		f.BusinessID = business
	}
	if m.ID != "" {
		// Each move gives it another flight id; to its vendor it is the same.
		sum := sha256.Sum256([]byte(r.queue + "\x00" + m.ID))
		f.Idempotency = hex.EncodeToString(sum[:16])
	}
	return f
}

// newcomer makes a flight of a message that is none yet: it gets an id, and keeps
// its own id, its type and its headers. Headers that look like Traction's own are
// forged, or of another life.
func newcomer(gate wire.Scope, m wire.Message, now time.Time) wire.Flight {
	f := wire.Flight{ID: newFlightID(), Scope: gate, Seat: wire.NoSeat, Msg: m.Forward()}
	for h := range f.Msg.Headers {
		if wire.IsFlightHeader(h) || h == wire.HeaderAdoptedFrom {
			delete(f.Msg.Headers, h)
		}
	}
	if m.ID != "" {
		f.Msg.Headers[wire.HeaderOriginalMessageID] = m.ID
	}
	if m.Type != "" {
		f.Msg.Headers[wire.HeaderOriginalType] = m.Type
	}
	if f.Msg.Timestamp.IsZero() {
		f.Msg.Timestamp = now.UTC().Truncate(time.Second)
	}
	return f
}
