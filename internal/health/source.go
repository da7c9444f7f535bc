package health

import (
	"context"
	"time"
)

// Source is asked what to tell. Its methods are called from many goroutines.
type Source interface {
	// Local gives the process's own numbers. It must not wait for anything.
	Local() Local
	// Fleet reads what the services know of the airports served here.
	Fleet(ctx context.Context) ([]Fleet, error)
}

// Unread is a number that could not be read; it is not shown.
const Unread = -1

// Local is what the process knows of itself. Counts are since it started, and may
// be Unread.
type Local struct {
	Broker    bool // reachable when last tried, and taking what is published
	Store     bool // reachable when last tried
	Clearance Histogram
	Airports  []Airport
}

// Airport is an airport as this process sees it.
type Airport struct {
	ID     string
	State  string // the state shown: OPEN, STOPPED ...
	Unsent int    // notifications that no hook has taken
	Gates  []Gate
}

// Gate is a gate as this process sees it.
type Gate struct {
	ID      string
	State   string
	Workers int // how many flights may be in the air here
	InHand  int // delivered and not settled yet, in the air or not
	InAir   int
	Leaked  int // pilots that ignored the end of their call and have not returned
	Flights map[string]uint64
	Fresh   uint64        // came marked as redelivered, by the fleet's own doing
	Scars   uint64        // came marked from before this process saw them
	Adopts  bool          // it takes over the messages of a queue
	Moved   uint64        // messages of that queue that became flights
	Call    time.Duration // of one call, smoothed; 0: none was made
}

// Settlements are the words of Gate.Flights; others are not shown.
func Settlements() []string {
	return []string{"landed", "rejected", "skipped", "held", "parked", "deferred", "returned", "already_landed"}
}

// Histogram counts durations. Counts has one entry per bound, and one for what is
// above the last; it is not cumulative.
type Histogram struct {
	Bounds []time.Duration
	Counts []uint64
	Sum    time.Duration
}

// Fleet is an airport as the services know it. Numbers may be Unread.
type Fleet struct {
	ID        string
	Slots     int // of the shared rate limit; 0: no limit
	SlotsUsed int
	Deaths    int // of workers, in the last hour
	Gates     []FleetGate
}

// FleetGate is a gate as the services know it.
type FleetGate struct {
	ID           string
	Runway       int
	Holding      int
	Parked       int
	Rejected     int
	ParkedOldest time.Duration // 0: nothing is parked; negative: not known

	Landed  int64 // ever
	Acked   int64
	Adopted int // in the adopted queue; Unread where there is none
	// Of the oldest that waits, and until all that waits is done; 0: nothing does.
	// Negative: not known.
	Oldest        time.Duration
	AdoptedOldest time.Duration
	Drain         time.Duration
}
