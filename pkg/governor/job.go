package governor

import (
	"sync/atomic"
	"time"

	"github.com/traction-go/traction/internal/broker"
	"github.com/traction-go/traction/internal/store"
	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/settle"
)

// step is where a job is on its way through the lane.
type step uint8

const (
	queued    step = iota // in hand, no clearance asked
	asking                // in the call that is outstanding
	aloft                 // cleared: handed to the pilots, waiting for take-off or in the air
	settling              // its outcome waits for, or is in, a call
	moving                // its copy is being published
	giving                // its note is being removed, then it is nacked
	suspected             // a suspect that waits for its turn alone
)

// job is one flight in a worker's hand. The lane owns it; while it is aloft, the
// pilot that took it does.
type job struct {
	flight wire.Flight
	d      broker.Delivery
	dead   bool // the delivery's session is over; the broker hands it out again
	step   step
	behind []broker.Delivery // of the same flight, taken in hand when this one is out of it

	noted     bool // a note of ours may stand in the store
	permit    bool // it holds one of Config.MaxFlights
	notBefore time.Time
	conflicts int
	alone     bool // a suspect in its turn

	// of a batch
	arrived time.Time
	pin     uint64 // flights with the same one fly in one call; 0: with any
	slot    int    // the number of the slot it shares
	key     string // of twins
	keyed   bool   // key was asked for
	lead    *job   // the first of the flights in its call
	mates   []*job // the others, on the first of them
	twinOf  *job   // whose landing it shares, unsent; nil: it is sent
	fate    fate
	witness string // the record that its failure counts as, where the whole call failed

	// of the clearance
	inc            string
	epochA, epochG int64
	start          int64
	asked          time.Time

	// of the outcome
	took    bool // it flew; false: it came back from take-off unflown
	report  Report
	ev      wire.Evidence
	plan    settle.Plan
	finding string // why it is settled without a flight; "" when it flew
	counted bool   // it counts in the station's unsettled
	died    string // DIED or LEAKED: it counts as a death
	move    settle.Move
	elapsed time.Duration
	tries   int // of publishing its copy
	air     atomic.Int32
	off     atomic.Int64 // when it took off, local ns; 0: not yet
	bare    bool         // the copy goes without foreign headers
}

// outcome is the word for reports and the script.
func (j *job) outcome() string {
	if j.finding != "" {
		return j.finding
	}
	if j.died != "" {
		return j.died
	}
	return j.report.Outcome.String()
}

// settlement is what the script is asked.
func (j *job) settlement() store.Settled {
	inc := j.inc
	return store.Settled{
		Flight: j.flight.ID, Incarnation: inc, EpochA: j.epochA, EpochG: j.epochG, Start: j.start,
		Outcome: j.outcome(), Move: j.plan.Move, Otherwise: j.plan.Otherwise, Gone: j.dead,
		Record: or(j.witness, j.flight.Record()), Evidence: wire.CleanEvidence(j.ev.String()), Run: j.flight.Charter, Seat: j.flight.Seat, After: j.report.After,
	}
}

// meta is what the pilot and the reporter see of the flight.
func (j *job) meta(deadline time.Time) Meta {
	f := &j.flight
	m := Meta{
		ID: f.ID, Scope: f.Scope.String(), BusinessID: f.BusinessID, Key: idempotencyKey(f), Charter: f.Charter, Seat: f.Seat,
		Attempt: f.Holds.Total() + 1, Replays: f.Replays, Deadline: deadline, ContentType: f.Msg.ContentType, Headers: f.Msg.Headers,
	}
	return m
}

func idempotencyKey(f *wire.Flight) string {
	key := or(f.Idempotency, f.ID)
	if f.Replays == 0 {
		return key
	}
	return key + "-" + itoa(f.Replays)
}

// flown is what a pilot brings back of one flight.
type flown struct {
	report  Report
	died    bool
	whole   bool // its call failed or succeeded as a whole, with others
	elapsed time.Duration
}
