package governor

import (
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/traction-go/traction/internal/broker"
	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/settle"
)

// deliver takes a message in hand.
func (l *lane) deliver(d broker.Delivery) {
	m := d.Message()
	if !m.IsFlight() {
		l.plain(d, m)
		return
	}
	f, err := wire.ParseFlight(m, l.gate, l.spec.MaxPayload)
	if err == nil {
		bad, panicked := call(func() error { return l.spec.check(m.Body) })
		if bad != nil && !panicked {
			err = &wire.MalformedError{What: "payload", Why: bad.Error()}
		}
	}
	if wire.CheckFlightID(f.ID) != nil {
		// It cannot be named by what it carries; the parked copy needs a name.
		f.ID = newFlightID()
	}
	j := &job{flight: f, d: d, arrived: time.Now()}
	l.s.g.stats.took(l.gate, &f, d.Redelivered())
	if had := l.hand[f.ID]; had != nil {
		l.again(had, j)
		return
	}
	l.hand[f.ID] = j
	l.inHand.Store(f.ID, f.Msg.Timestamp)
	if err != nil {
		j.ev = wire.Evidence{Class: string(settle.ReasonMalformed), Excerpt: wire.CleanEvidence(err.Error(), l.s.spec.Secrets...)}
		l.unflown(j, settle.FoundMalformed)
		return
	}
	l.queue = append(l.queue, j)
}

// again takes in a second delivery of a flight that is in hand. Where the first
// one's channel was lost it takes its place. Where the first one is settled and
// its copy is being published, this is most likely that copy, handed out before
// the confirm was taken in: it waits for that. A second live copy otherwise waits
// on the ten-second hold.
func (l *lane) again(had, j *job) {
	if had.dead {
		had.d, had.dead = j.d, false
		return
	}
	if had.step == moving {
		had.behind = append(had.behind, j.d)
		return
	}
	j.plan = settle.Plan{Move: settle.Find(settle.FoundHeld, l.spec.OnStop, j.flight.Holds).Move}
	l.move(j, j.plan.Move)
}

// plain takes in a message that does not say that it is a flight: it is given an
// id and headers and moved to the runway's tail, and only then asked for.
func (l *lane) plain(d broker.Delivery, m wire.Message) {
	f := newcomer(l.gate, m, time.Now())
	j := &job{flight: f, d: d, finding: "PLAIN"}
	l.hand[f.ID] = j
	l.inHand.Store(f.ID, f.Msg.Timestamp)
	l.move(j, settle.Move{Settlement: settle.Defer})
}

// newFlightID makes a UUIDv7: unique, and sorted by time.
func newFlightID() string {
	id, err := uuid.NewV7()
	if err != nil {
		// The system's randomness never fails; a random v4 is as unique.
		return uuid.NewString()
	}
	return id.String()
}

// unflown settles a flight for what was found of it, without a call.
func (l *lane) unflown(j *job, found settle.Finding) {
	j.plan = settle.Plan{Move: settle.Find(found, l.spec.OnStop, j.flight.Holds).Move}
	j.finding, j.witness = findingName(found), ""
	if found == settle.FoundConvicted {
		j.ev = wire.Evidence{Excerpt: j.flight.Evidence} // of the last death, where somebody lived to tell
	}
	j.step = settling
	l.adopt(j, l.s.incs.current())
	l.settles = append(l.settles, j)
}

// findingName is the script's word for a finding that is settled.
func findingName(f settle.Finding) string {
	switch f {
	case settle.FoundGateStopped:
		return string(settle.ReasonGateStopped)
	case settle.FoundMalformed:
		return string(settle.ReasonMalformed)
	case settle.FoundCharterLost:
		return string(settle.ReasonCharterLost)
	case settle.FoundConvicted:
		return string(settle.ReasonPoisonPill)
	case settle.FoundAborted:
		return "ABORTED"
	}
	return fmt.Sprintf("FINDING_%d", f)
}
