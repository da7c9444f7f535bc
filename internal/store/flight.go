package store

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/traction-go/traction/pkg/settle"
)

// Answer is what the clearance says of one flight.
type Answer uint8

// The answers of a clearance. Only Cleared leads to a call.
const (
	Again        Answer = iota // ask again: the reply was not for this question
	Cleared                    // call now
	AirportStops               // the airport is stopped or paused
	Throttled                  // until a time
	GateStopped                // its flights are parked, or stay
	GateStays                  // paused by a human, or lost: its flights stay
	Wait                       // for a slot, a delay or a token, until a time
	CharterLost                // the store does not know the flight's run
	Aborted                    // its run was aborted
	Solo                       // a suspect: drain the process, then ask for it alone
	Suspect                    // a suspect, and another process flies suspects now
	Convicted                  // it killed two workers
	NoSeat                     // its seat is beyond what its run expects
	LandedAlready
	Held    // another incarnation may be flying it
	Unknown // the scope has no status: it must be born
	Lapsed  // the asking incarnation's beat is missing or late
)

// Verdict is what the settle script says of one settlement.
type Verdict uint8

// The verdicts.
const (
	Late      Verdict = iota // the call was older than the lane's last one
	Make                     // make the move
	Otherwise                // make the other move
	Landed                   // it landed already: ack it
	NotYours                 // the note is gone or another's: nack it
	Gone                     // counted; the delivery is gone, nothing is published
	HeldBy                   // held by another incarnation: the 10 s hold
	Unborn                   // the scope has no status: bear it and settle again
)

// Limits are the thresholds of a gate's spec.
type Limits struct {
	AirportFault, GateFault, RecordFault, Transient int
	Window                                          time.Duration
}

// Slots is the rate limit as a process declares it.
type Slots struct {
	N     int
	Per   time.Duration
	Stamp int64 // the newer wins
}

// Settled is one settlement asked for.
type Settled struct {
	Flight      string
	Incarnation string // of the clearance
	EpochA      int64  // of the clearance
	EpochG      int64
	Start       int64  // of the clearance, store ms
	Outcome     string // an outcome, or a finding: GATE_STOPPED, MALFORMED, ...
	Move        settle.Move
	Otherwise   settle.Move
	Gone        bool // the delivery is gone for good
	Record      string
	Evidence    string
	Run         string
	Seat        int           // -1 without a run
	After       time.Duration // of a RATE_LIMIT
}

// Request asks for one clearance.
type Request struct {
	Flight string
	Run    string
	Seat   int  // -1 without a run
	Alone  bool // a suspect, with nothing else in the air of this process
	Slot   int  // requests of one call with the same number share one slot; 0: one of its own
}

// FlightCall is one call of a lane: settle, give back, clear.
type FlightCall struct {
	Incarnation string
	Seq         uint64 // grows by one with each call of the lane; a repeat keeps it
	Mode        string // enforce, observe, observe-told
	Limits      Limits
	Slots       Slots
	Steps       []time.Duration // of the probes of a ground delay
	Marks       []string        // landing marks to remove
	Returns     []string        // flights given back: own notes to remove
	Settle      []Settled
	Clear       []Request
}

// Clearance is the answer to one request.
type Clearance struct {
	Answer Answer
	Until  time.Time // for Throttled and Wait, by the store's clock
}

// FlightReply answers a FlightCall.
type FlightReply struct {
	Now       time.Time // the store's
	Start     int64     // of the clearances given
	EpochA    int64     // of the clearances given
	EpochG    int64
	Verdicts  []Verdict
	Deaths    []string // for each verdict: what a parked copy is to carry, "" for nothing
	Clearance []Clearance
}

// charters names the charters that the call's flights belong to.
func (c *FlightCall) charters(gate string) []string {
	var names []string
	add := func(run string) {
		if name := gate + "/" + run; run != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for i := range c.Settle {
		add(c.Settle[i].Run)
	}
	for i := range c.Clear {
		add(c.Clear[i].Run)
	}
	return names
}

// Flight settles, gives back and clears flights of one gate in one atomic step. A
// call whose reply was lost is repeated with the same Seq and the same
// settlements, and gets the first verdicts.
func (a *Airport) Flight(ctx context.Context, gate string, c FlightCall) (FlightReply, error) {
	argv := make([]any, 0, 24+len(c.Steps)+len(c.Marks)+len(c.Returns)+14*len(c.Settle)+5*len(c.Clear))
	argv = append(argv, c.Incarnation, c.Seq, c.Mode,
		c.Limits.AirportFault, c.Limits.GateFault, c.Limits.RecordFault, c.Limits.Transient, c.Limits.Window.Milliseconds(),
		c.Slots.N, c.Slots.Per.Milliseconds(), c.Slots.Stamp, len(c.Steps))
	for _, d := range c.Steps {
		argv = append(argv, d.Milliseconds())
	}
	argv = append(argv, len(c.Marks))
	for _, f := range c.Marks {
		argv = append(argv, f)
	}
	argv = append(argv, len(c.Returns))
	for _, f := range c.Returns {
		argv = append(argv, f)
	}
	argv = append(argv, len(c.Settle))
	for i := range c.Settle {
		s := &c.Settle[i]
		gone := "0"
		if s.Gone {
			gone = "1"
		}
		argv = append(argv, s.Flight, s.Incarnation, s.EpochA, s.EpochG, s.Start, s.Outcome, moveCode(s.Move), moveCode(s.Otherwise),
			gone, s.Record, s.Evidence, s.Run, s.Seat, s.After.Milliseconds())
	}
	argv = append(argv, len(c.Clear))
	for _, r := range c.Clear {
		argv = append(argv, r.Flight, r.Run, r.Seat, flag(r.Alone), r.Slot)
	}
	now, res, err := a.runWith(ctx, flightScript, []string{gate}, c.charters(gate), argv...)
	if err != nil {
		return FlightReply{}, err
	}
	if len(res) != 4 || len(list(res[2])) != len(c.Settle) || len(list(res[3])) != len(c.Clear) {
		return FlightReply{}, fmt.Errorf("airport %s: %w: unreadable reply", a.id, ErrScript)
	}
	r := FlightReply{Now: now, Start: integer(res[1])}
	h := list(res[0])
	r.EpochA = integer(epochIn(h[2]))
	r.EpochG = integer(epochIn(list(h[3])[0]))
	r.Verdicts = make([]Verdict, len(c.Settle))
	r.Deaths = make([]string, len(c.Settle))
	for i, v := range list(res[2]) {
		word, deaths, _ := strings.Cut(text(v), "=")
		r.Verdicts[i], r.Deaths[i] = verdicts[word], deaths
	}
	r.Clearance = make([]Clearance, len(c.Clear))
	for i, v := range list(res[3]) {
		r.Clearance[i] = clearance(text(v))
	}
	return r, nil
}

func epochIn(status any) any {
	if l := list(status); len(l) > 1 {
		return l[1]
	}
	return nil
}

// moveCode writes a move as the script takes it.
func moveCode(m settle.Move) string {
	switch m.Settlement {
	case settle.Land:
		switch m.Landing {
		case settle.AsRejected:
			return "J"
		case settle.AsSkipped:
			return "S"
		}
		return "L"
	case settle.Hold:
		return "H" + strconv.FormatInt(m.Delay.Milliseconds(), 10)
	case settle.Park:
		return "P" + string(m.Reason)
	case settle.Defer:
		return "D"
	}
	return ""
}

var verdicts = map[string]Verdict{"M": Make, "O": Otherwise, "A": Landed, "N": NotYours, "G": Gone, "H": HeldBy, "U": Unborn}

var answers = map[string]Answer{
	"cleared": Cleared, "stopped": AirportStops, "throttled": Throttled, "gate-stopped": GateStopped, "gate-stays": GateStays,
	"wait": Wait, "charter-lost": CharterLost, "aborted": Aborted, "malformed": NoSeat, "solo": Solo, "suspect": Suspect, "convicted": Convicted, "landed": LandedAlready, "held": Held, "unknown": Unknown, "lapsed": Lapsed,
}

func clearance(s string) Clearance {
	word, rest, _ := strings.Cut(s, " ")
	c := Clearance{Answer: answers[word]}
	if rest != "" {
		c.Until = time.UnixMilli(integer(rest)).UTC()
	}
	return c
}
