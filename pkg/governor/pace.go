package governor

import (
	"math"
	"time"

	"github.com/traction-go/traction/internal/store"
	"github.com/traction-go/traction/internal/wire"
)

// Pace is how fast flights leave a gate's runway for good: landed, rejected, skipped
// or parked. It is made of the store's totals over minutes, so that work that comes in
// bursts reads the same whenever one looks.
type Pace struct {
	PerSecond float64
	// Over is what it was measured over: at most 16 minutes, at least ten seconds, and
	// at least two minutes after a reopen without a rest. It begins with the first
	// flight after a rest of five minutes, and at the last reopen. Zero: not known.
	Over time.Duration
}

// Known reports whether there is a pace at all. It may be none per second.
func (p Pace) Known() bool { return p.Over > 0 }

const (
	// paceKept is how many minutes the store remembers.
	paceKept = 16
	// paceLeast is what a pace is measured over at least by its minutes.
	paceLeast = 2 * time.Minute
	// youngLeast is what it is measured over at least from one burst to another.
	youngLeast = 10 * time.Second
)

// paceOf measures what left for good. reopened is the last reopen of the gate or its
// airport. All of it is the store's time.
func paceOf(now time.Time, left store.Left, reopened time.Time) Pace {
	from, minutes := left.From, left.Minutes
	if from.IsZero() || from.After(now) {
		return Pace{}
	}
	begin := time.Unix((minuteOf(now)-paceKept+1)*60, 0)
	if from.After(begin) {
		begin = from // its minute has nothing from before: there was a rest
	}
	if reopened.After(begin) {
		// What its minute has from before the stop and what from after it is not told.
		begin = time.Unix((minuteOf(reopened)+1)*60, 0)
	}
	over := now.Sub(begin)
	switch {
	case over < paceLeast && begin.Equal(from):
		return youngPace(now, left)
	case over < paceLeast:
		return Pace{}
	}
	n := 0.0
	if begin.Equal(from) {
		// A window that begins with a burst has one more of them than of the times between.
		n = -float64(left.First) / 2
	}
	for m, k := range minutes {
		if m >= minuteOf(begin) && m <= minuteOf(now) {
			n += float64(k)
		}
	}
	return Pace{PerSecond: max(n, 0) / over.Seconds(), Over: over}
}

// youngPace measures from the end of the first burst to the last flight that left: as
// good at any moment between two bursts as at one. Once that is longer ago than a burst
// can be late, what there is has come to rest, and the time since counts too.
func youngPace(now time.Time, left store.Left) Pace {
	over := left.Last.Sub(left.EarlyAt)
	if left.EarlyAt.Before(left.From) || over < youngLeast {
		return Pace{}
	}
	if now.Sub(left.Last) > over*3/2 {
		over = now.Sub(left.EarlyAt)
	}
	n := -left.Early
	for m, k := range left.Minutes {
		if m >= minuteOf(left.From) && m <= minuteOf(now) {
			n += k
		}
	}
	return Pace{PerSecond: float64(max(n, 0)) / over.Seconds(), Over: over}
}

func minuteOf(t time.Time) int64 { return t.Unix() / 60 }

// Unknown is a duration that cannot be told.
const Unknown time.Duration = -1

// drainAt is how long what waits takes at a pace: 0 where nothing waits, Unknown where
// that cannot be told.
func drainAt(waits int, p Pace) time.Duration {
	switch {
	case waits == 0:
		return 0
	case waits < 0 || p.PerSecond <= 0:
		return Unknown
	}
	s := float64(waits) / p.PerSecond
	if s > 10*365*24*3600 {
		return Unknown // nobody waits for that
	}
	return max(time.Duration(s*float64(time.Second)), time.Second)
}

// CeilingBy is a word for what bounds how fast a gate flies.
type CeilingBy string

// What bounds a gate.
const (
	ByWorkers  CeilingBy = "workers"  // calls at once, times how long one takes
	BySlots    CeilingBy = "slots"    // the airport's rate limit
	ByThrottle CeilingBy = "throttle" // the vendor asked to be left alone until a time
	ByDelay    CeilingBy = "delay"    // one probe at a time, until the vendor is back
	ByCanary   CeilingBy = "canary"   // a few flights go first
)

// Ceiling is the most that a gate can do now, and what bounds it. The zero value says
// that it is not known, or that nothing flies.
type Ceiling struct {
	By        CeilingBy
	PerSecond float64   // flights, for workers and slots
	Until     time.Time // of a throttle, and of the next probe
	Slots     int       // of the airport, for slots
	Window    time.Duration
}

// ceilingOf names the lowest bound. Slots are the airport's: a gate can have all of
// them only while its siblings want none.
func ceilingOf(a AirportInfo, g GateInfo) Ceiling {
	if !flies(a.State) || !flies(g.State) {
		return Ceiling{}
	}
	switch {
	case a.State == wire.Canary || g.State == wire.Canary:
		return Ceiling{By: ByCanary}
	case a.State == wire.Throttled:
		return Ceiling{By: ByThrottle, Until: a.ThrottledUntil}
	case g.State == wire.Delayed:
		return Ceiling{By: ByDelay, Until: g.DelayProbeAt}
	}
	perCall := float64(max(g.Batch, 1))
	perSlot := perCall // the flights of one call share its slot
	if g.SlotEach {
		perSlot = 1
	}
	workers, slots := math.Inf(1), math.Inf(1)
	if g.Call > 0 && g.WorkersActual > 0 {
		workers = float64(g.WorkersActual) * perCall / g.Call.Seconds()
	}
	if a.Slots > 0 && a.Window > 0 {
		slots = float64(a.Slots) * perSlot / a.Window.Seconds()
	}
	switch {
	case slots <= workers && !math.IsInf(slots, 1) && g.Call > 0:
		return Ceiling{By: BySlots, PerSecond: slots, Slots: a.Slots, Window: a.Window}
	case !math.IsInf(workers, 1):
		return Ceiling{By: ByWorkers, PerSecond: workers}
	}
	return Ceiling{}
}

// flies reports whether flights leave in a state, be it slowly.
func flies(s State) bool {
	switch s {
	case wire.Open, wire.Canary, wire.Throttled, wire.Delayed:
		return true
	}
	return false
}
