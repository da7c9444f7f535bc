package governor

import (
	"time"

	"github.com/traction-go/traction/internal/store"
	"github.com/traction-go/traction/internal/wire"
)

// A broker marks for ever what was once returned. Of what comes marked, only that is
// news which this fleet itself has returned, held or failed: the rest, old scars, was
// marked before, by whoever had the queue then. So a marked message of an adopted queue
// is an old scar when an intake takes it, and a marked flight is one unless this process
// has returned it or its headers tell of holds, deaths or replays. That a peer returned
// it is not known here; whoever adds up the fleet knows how many the peers returned.

// keptReturns is how many returned flights a process remembers of each gate.
const keptReturns = 10_000

// sight is what a process has seen of one gate's queues.
type sight struct {
	back    map[string]bool // flights that this process returned
	order   []string        // of back, the oldest first
	head    time.Time       // of the oldest returned since one was taken; zero: none, or not told
	blind   bool            // one that was returned has no timestamp
	given   int64           // flights that went back, those of a lost channel included
	strange int64           // of the scars: flights that this process had not returned
	adopted time.Time       // of what was last taken from the adopted queue; zero: not known
	since   time.Time       // when that was taken, by this process' clock
	owed    int             // messages that go back to the adopted queue, and come marked
}

// sightOf gives what was seen of a gate. The caller holds the lock.
func (s *stats) sightOf(g wire.Scope) *sight {
	name := g.String()
	v := s.sights[name]
	if v == nil {
		v = &sight{back: map[string]bool{}}
		s.sights[name] = v
	}
	return v
}

// gaveBack notes that a flight goes back to the runway, unflown or not.
func (s *stats) gaveBack(g wire.Scope, f *wire.Flight) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v := s.sightOf(g)
	v.given++
	if !v.back[f.ID] {
		if len(v.order) == keptReturns {
			delete(v.back, v.order[0])
			v.order = v.order[1:]
		}
		v.back[f.ID] = true
		v.order = append(v.order, f.ID)
	}
	switch at := f.Msg.Timestamp; {
	case at.IsZero():
		v.blind = true
	case v.head.IsZero() || at.Before(v.head):
		v.head = at
	}
}

// took notes that a flight was taken from the runway.
func (s *stats) took(g wire.Scope, f *wire.Flight, marked bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v := s.sightOf(g)
	v.head, v.blind = time.Time{}, false
	if !marked {
		return
	}
	if v.back[f.ID] || f.Holds.Total() > 0 || f.Replays > 0 || len(f.Deaths) > 0 {
		s.gate(g).Fresh++
		return
	}
	v.strange++
	s.gate(g).Scars++
}

// adopts notes that a message was taken from an adopted queue.
func (s *stats) adopts(g wire.Scope, at time.Time, marked bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v := s.sightOf(g)
	v.adopted, v.since = at, time.Now()
	switch {
	case !marked:
	case v.owed > 0:
		v.owed--
		s.gate(g).Fresh++
	default:
		s.gate(g).Scars++
	}
}

// lostAdopted notes that n messages in hand go back to the adopted queue.
func (s *stats) lostAdopted(g wire.Scope, n int) {
	s.mu.Lock()
	s.sightOf(g).owed += n
	s.mu.Unlock()
}

// dryAfter is how long an adopted queue must have given nothing to count as empty.
const dryAfter = time.Second

// dry notes that an adopted queue has nothing now: its next head is not known.
func (s *stats) dry(g wire.Scope) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if v := s.sightOf(g); time.Since(v.since) >= dryAfter {
		v.adopted = time.Time{}
	}
}

// heads gives the timestamps of the oldest flight that this process returned and nobody
// took since, and of what was last taken from the adopted queue.
func (s *stats) heads(g wire.Scope) (runway, adopted time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v := s.sightOf(g)
	if !v.blind {
		runway = v.head
	}
	return runway, v.adopted
}

// marks tells, for a beat, what came marked and how many flights this process gave back.
func (s *stats) marks(g wire.Scope) (l store.Load) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v, seen := s.gate(g), s.sightOf(g)
	l.Returned, l.Fresh, l.Strange = seen.given, v.Fresh, seen.strange
	l.Scars = v.Scars - seen.strange
	return l
}

// marksOf adds up what came marked to living workers. A flight that one of them did not
// know and another returned is the fleet's own; the rest are scars.
func marksOf(loads []store.Load) (fresh, scars int64) {
	var returned, known, strange int64
	for _, l := range loads {
		returned, known, strange, scars = returned+l.Returned, known+l.Fresh, strange+l.Strange, scars+l.Scars
	}
	peers := min(strange, max(returned-known, 0))
	return known + peers, scars + strange - peers
}
