package governor

import (
	"time"

	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/settle"
)

// State is a scope's state as a person sees it.
type State = wire.State

// The states, strictest first.
const (
	Stopped   = wire.Stopped
	Paused    = wire.Paused
	Canary    = wire.Canary
	Throttled = wire.Throttled
	Delayed   = wire.Delayed
	OpenState = wire.Open
)

// Incident is one stop: its reason, its evidence, the records implicated and how
// it ended.
type Incident struct {
	ID         string
	Scope      string
	Kind       string // GROUND_STOP, GATE_STOP, GROUND_DELAY, POISON_PILL or STATE_LOST
	Reason     string
	OpenedAt   time.Time
	ClosedAt   time.Time // zero: open
	ClosedBy   string
	Evidence   string
	Records    []string // the first 20
	Workers    []string // whose evidence it was, the first 20
	Faults     int      // how many faults it took in
	NotifiedAt time.Time
	Observed   bool // would have stopped (mode observe)
}

// Open reports whether the incident has not ended.
func (i Incident) Open() bool { return i.ClosedAt.IsZero() }

// Unread is a count that could not be read.
const Unread = -1

// AirportInfo is what stands of an airport. Counts of queues are Unread (-1)
// where the broker did not answer.
type AirportInfo struct {
	Airport        string
	State          State
	Reason         string
	Evidence       string
	Since          time.Time
	Incident       string
	By             string // who paused or reopened it last
	Mode           Mode
	Slots          int // per window; 0: unlimited
	SlotsUsed      int // in the window that ends now
	Window         time.Duration
	ThrottledUntil time.Time
	Canary         int // tokens of the canary; 0: none
	CanaryLanded   int
	Runway         int
	Holding        int
	Parked         int
	Rejected       int
	InAir          int
	Landed         int64 // ever
	Acked          int64 // ever: whatever left a runway, for good or to come back
	Adopted        int   // messages that wait in adopted queues
	Pace           Pace  // of all gates together
	// Drain is how long what waits takes at the pace of its slowest gate; 0: nothing
	// waits, or nothing flies. Unknown: it cannot be told.
	Drain    time.Duration
	Workers  int // live processes that serve it
	Deaths   int // of workers, in the last hour
	Suspects int // flights that were in the air at one of them, and fly alone
	Unsent   int // notifications that no hook has taken
	Gates    []GateInfo
}

// GateInfo is what stands of a gate.
type GateInfo struct {
	Gate          string // airport/gate
	State         State
	Reason        string
	Evidence      string
	Since         time.Time
	Incident      string
	By            string
	DelayProbeAt  time.Time // when the next probe of a ground delay may fly
	Canary        int
	CanaryLanded  int
	WorkersWanted int  // per process
	WorkersActual int  // in the air at most, all processes together
	Batch         int  // flights in one call, as wanted; 1: each by itself
	BatchDeclared int  // flights in one call, as the processes declare it; 0: no batches
	SlotEach      bool // the flights of one call take a slot each
	Scaled        bool // wanted by an operator, whatever the processes declare
	ScaledBy      string
	ScaledAt      time.Time
	Processes     []Staff // those that serve the gate, by name
	OnStop        settle.OnStop
	Runway        int
	Holding       int
	Parked        int
	Rejected      int
	InAir         int
	Landed        int64 // ever
	Acked         int64 // ever: whatever left the runway, for good or to come back
	Pace          Pace
	// Drain is how long what waits (on the runway, on hold and in the adopted queue)
	// takes at this pace; 0: nothing waits, or nothing flies. Unknown: it cannot be told.
	Drain   time.Duration
	Ceiling Ceiling
	// Call is how long one call takes, on average of the live workers. 0: not known.
	Call time.Duration
	// Fresh and Scars are what came marked as redelivered to workers that live, since
	// each started: Fresh what the fleet itself returned, held or failed, Scars what was
	// marked before they first saw it. A broker's mark stays for ever.
	Fresh int64
	Scars int64
	// Oldest is when the oldest waiting flight was made, by its timestamp; zero: nothing
	// waits, or not known.
	Oldest time.Time

	// WorkersDeclared is what the processes declare, per process, whatever an operator
	// has set. 0: not known.
	WorkersDeclared int

	scale wire.Scale // what an operator has set
	// Adopts is the queue that the gate adopts, Adopted how many messages wait there,
	// and AdoptedOldest when its head was made, or what was last taken from it.
	Adopts        string
	Adopted       int
	AdoptedOldest time.Time
	// AdoptedMissing reports that there is no queue of that name: the gate waits for its
	// owner to declare it.
	AdoptedMissing bool
}

// Waiting counts what is still to be done: on the runway, on hold, and in the adopted
// queue. Unread where one of them could not be read.
func (g GateInfo) Waiting() int { return sum(sum(g.Runway, g.Holding), g.Adopted) }

// ParkedFlight is a flight that waits for a human.
type ParkedFlight struct {
	Flight     string
	BusinessID string
	Gate       string
	Reason     settle.Reason
	Evidence   string
	Charter    string
	ParkedAt   time.Time
	Holds      settle.Holds
	Replays    int
	Size       int // of the payload, in bytes
}

// AuditEntry is one action of an operator.
type AuditEntry struct {
	ID     string
	At     time.Time
	Actor  string
	Action string // reopen, pause, dispatch ...
	Scope  string
	Reason string
	Result string
	Count  int
}

// ProcessInfo is a live worker or tower.
type ProcessInfo struct {
	ID       string
	Tower    bool
	Airports []string
	LastBeat time.Time
}

// IncidentFilter chooses incidents. The zero value chooses all.
type IncidentFilter struct {
	Scope string    // an airport, with its gates, or one gate; "" for all
	Open  bool      // only those that have not ended
	Since time.Time // opened at or after
}

// AuditFilter chooses audit entries. The zero value chooses all.
type AuditFilter struct {
	Scope string
	Since time.Time
	Limit int
}

// ReopenOptions are the choices of a reopen.
type ReopenOptions struct {
	Canary int    // fly so many first; 0: open fully
	Actor  string // who; "" means Config.Actor
	Reason string
}

// Reopening is what a reopen did.
type Reopening struct {
	Scope    string
	Changed  bool  // false: it was open already
	Was      State // before
	State    State // now
	Incident string
	Stood    time.Duration // how long it had been stopped or paused
	Waiting  int           // on the runway, in hand and on hold
	Adopted  int           // in the queues that are adopted
	Parked   int
	Epoch    int64
	Gates    []GateState // of an airport: those that do not fly freely now
}

// GateState is a gate and its state.
type GateState struct {
	Gate  string // airport/gate
	State State
}

// PauseOptions are the choices of a pause.
type PauseOptions struct {
	Actor  string
	Reason string // required: it is shown to everyone who asks why nothing flies
}

// Pausing is what a pause did.
type Pausing struct {
	Scope   string
	Changed bool // false: it was paused already
	Epoch   int64
	Unseen  []string // processes that had not seen it when the context ended
}

// Notification is what a hook is told. Key is its idempotency key: the same
// notification, sent again after a crash, carries the same one.
type Notification struct {
	Key      string
	Type     string // GROUND_STOP, GATE_STOP, GROUND_DELAY, PARKING, POISON_PILL, WORKER_DEATHS, CHARTER_COMPLETE, REOPENED, STATE_LOST or TEST
	Scope    string
	Reason   string
	Evidence string
	Incident string
	Records  []string
	Workers  []string
	Waiting  int // flights that wait to fly; Unread where it could not be read
	Parked   int // flights that wait for a human; Unread where it could not be read
	Since    time.Time
	Actor    string
	Next     []string // the commands that put it right
	Runbook  string
	Text     string // one sentence
	Observed bool   // would have stopped
}
