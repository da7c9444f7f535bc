package wire

import "time"

// State is a scope's state as it is stored and shown.
type State string

// The states. Open, Canary, Stopped, Birth and Removing are stored; Paused,
// Throttled and Delayed are shown where a field of the status says so.
const (
	Open      State = "OPEN"
	Stopped   State = "STOPPED"
	Paused    State = "PAUSED"
	Canary    State = "CANARY"
	Throttled State = "THROTTLED"
	Delayed   State = "DELAYED"
	Birth     State = "BIRTH"    // being declared: no calls
	Removing  State = "REMOVING" // being forgotten: no calls
	Unknown   State = "UNKNOWN"  // the store has no status: no calls
)

// Status is what the store knows of a scope. Times are the store's.
type Status struct {
	Scope Scope
	State State // as stored
	Epoch int64 // of the last change of state or pause, in store milliseconds at least
	Fence int64 // the epoch of the last reopen or canary

	Paused   bool // by a human, beside whatever State says
	PausedBy string
	PausedAt time.Time

	Lost    bool // STOPPED because the store lost something (STATE_LOST)
	Held    bool // a fault came while lost: only a human reopens
	Covered bool // a gate's: lost with its airport, no incident of its own
	LostAt  time.Time

	Reason   string
	Evidence string
	Incident string
	Since    time.Time
	By       string

	ThrottledUntil time.Time
	ThrottledSince time.Time

	Delayed      bool // a gate's ground delay
	DelaySince   time.Time
	DelayProbeAt time.Time
	DelayID      string

	CanaryN      int
	CanaryLanded int

	Observing string // the open would-have incident, in mode observe

	SlotsN     int // an airport's shared rate limit; 0: unlimited
	SlotsPer   time.Duration
	SlotsStamp int64
	Mode       string
	OnStop     string // a gate's
	Workers    int    // a gate's workers per process, as declared
	Batch      int    // flights of a gate in one call, as declared; 0: no batches

	Scale    Scale // what an operator has set for a gate
	ScaledBy string
	ScaledAt time.Time
	Adopts   string // the queue that a gate adopts
	SlotEach bool   // the flights of one call take a slot each

	Landed   int64 // a gate's totals
	Rejected int64
	Parked   int64
	Acked    int64 // settled with an acknowledgement, for good or not

	Gates []string // an airport's
}

// Shown gives the state a person sees, strictest first: STOPPED, PAUSED, CANARY,
// THROTTLED, DELAYED, OPEN. now is the store's time.
func (s Status) Shown(now time.Time) State {
	switch {
	case s.State == "" || s.State == Unknown:
		return Unknown
	case s.State == Stopped, s.State == Birth, s.State == Removing:
		return s.State
	case s.Paused:
		return Paused
	case s.State == Canary:
		return Canary
	case s.ThrottledUntil.After(now):
		return Throttled
	case s.Delayed:
		return Delayed
	}
	return s.State
}

// Flies reports whether the status lets anything fly at all. Throttles, delays
// and canary tokens are a matter of when.
func (s Status) Flies() bool {
	return !s.Paused && (s.State == Open || s.State == Canary)
}

// Event is what is published when a scope's status changes. It is a reason to
// read the status, not the status.
type Event struct {
	Version int    `json:"v"`
	Scope   string `json:"scope"`
	State   State  `json:"state"`
	Epoch   int64  `json:"epoch"`
}
