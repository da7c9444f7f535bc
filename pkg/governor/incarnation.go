package governor

import (
	"strconv"
	"sync"
	"time"
)

// incarnations is the process as an airport's notes name it. A process whose own
// beat lapsed takes a new one: others may have taken its flights over. Flights in
// the air keep theirs, and the process goes on beating for it.
type incarnations struct {
	worker   string
	interval time.Duration

	mu      sync.Mutex
	n       int
	ok      bool      // a beat of the current one was answered
	lastAck time.Time // when the last answered beat was sent
	away    bool      // the store did not answer since the last answered beat
	ready   time.Time // no clearance before
	inUse   map[string]int
}

// newIncarnations begins the names of one Run: one before it may be known as leaving.
func newIncarnations(worker string, run uint64, interval time.Duration) *incarnations {
	return &incarnations{worker: worker, interval: interval, n: int(run-1)*1_000_000 + 1, away: true, inUse: map[string]int{}}
}

// runsSoFar counts the Runs of this Governor, the present one included.
func (g *Governor) runsSoFar() uint64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	return max(g.runs, 1)
}

// firstNumber is where a Run's numbers of calls begin: the store remembers the last one
// of a lane, by the process, and takes a lower one for a latecomer.
func firstNumber(run uint64) uint64 { return (run - 1) << 32 }

func (i *incarnations) name() string { return i.worker + "." + strconv.Itoa(i.n) }

// beating gives the incarnations to beat for at now, the current one first. It
// takes a new one where the own beat lapsed.
func (i *incarnations) beating(now time.Time) []string {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.ok && now.Sub(i.lastAck) > 5*i.interval {
		i.renew()
	}
	out := []string{i.name()}
	for inc := range i.inUse {
		if inc != out[0] {
			out = append(out, inc)
		}
	}
	return out
}

func (i *incarnations) renew() {
	i.n++
	i.ok = false
}

// lapsed takes a new incarnation when inc, the current one, was refused.
func (i *incarnations) lapsed(inc string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if inc == i.name() && i.ok {
		i.renew()
	}
}

// answered notes a beat, sent at sent for inc, whose answer came at now; others
// says whether anybody else has beaten within a minute: a peer may know better
// than the store, and is given one and a half intervals to say so.
func (i *incarnations) answered(inc string, sent, now time.Time, others bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.lastAck = sent
	if i.away {
		i.away = false
		i.ready = now
		if others {
			i.ready = now.Add(i.interval * 3 / 2)
		}
	}
	if inc == i.name() {
		i.ok = true
	}
}

// unanswered notes that the store did not answer.
func (i *incarnations) unanswered() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.away = true
}

// clears gives the incarnation to ask for clearances with at now, or false and
// when to look again.
func (i *incarnations) clears(now time.Time) (inc string, wait time.Duration, ok bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	switch {
	case !i.ok || i.away || now.Sub(i.lastAck) > 5*i.interval:
		return "", i.interval, false
	case now.Before(i.ready):
		return "", i.ready.Sub(now), false
	}
	return i.name(), 0, true
}

// current gives the incarnation, whether it may clear or not.
func (i *incarnations) current() string {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.name()
}

// use and release count the notes that stand for an incarnation.
func (i *incarnations) use(inc string) {
	i.mu.Lock()
	i.inUse[inc]++
	i.mu.Unlock()
}

func (i *incarnations) release(inc string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.inUse[inc]--; i.inUse[inc] <= 0 {
		delete(i.inUse, inc)
	}
}
