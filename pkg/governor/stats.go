package governor

import (
	"maps"
	"sync"
	"time"

	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/settle"
)

// GateStats counts what this process did at one gate since it started.
type GateStats struct {
	Flown    int64            // calls whose outcome was settled
	Settled  map[string]int64 // by landed, rejected, skipped, hold, park, defer
	Reasked  int64            // clearances that were too old at take-off
	InHand   int              // delivered and not settled yet
	Declared bool             // its scope and its queues stand, as far as this process has seen
	Skipped  int64            // acknowledged unflown: they had landed already
	Returned int64            // to their place on the runway, unflown
	Moved    int64            // messages of an adopted queue that became flights, to any gate
	Fresh    int64            // came marked as redelivered, and this process had returned it or the fleet had held or failed it
	Scars    int64            // came marked as redelivered from before: the broker marks for ever
	Leaked   int64            // pilots that ignore their ended context, now
	Workers  int              // wanted in this process, now
	Call     time.Duration    // of one call, smoothed; 0: none was made
}

// Stats is what one process knows of itself, for metrics. All of it is local;
// nothing is asked of broker or store.
type Stats struct {
	Gates     map[string]GateStats // by airport/gate
	States    map[string]State     // as last seen, by scope
	Reachable map[string]bool      // whether the store answered the last beat, by airport
	Unsent    map[string]int       // notifications no hook has taken, by airport
	Clearance Latency
	Reports   int64 // reports given up, since the feed was full or the broker away
	Blocked   bool  // the broker has blocked publishers
	Broker    bool  // the broker answered the last look
}

// Latency is a histogram of durations.
type Latency struct {
	Bounds []time.Duration // upper bounds
	Counts []int64         // one more than Bounds: the last is beyond them
	Sum    time.Duration
}

var latencyBounds = []time.Duration{time.Millisecond / 2, time.Millisecond, 2 * time.Millisecond, 5 * time.Millisecond,
	10 * time.Millisecond, 25 * time.Millisecond, 100 * time.Millisecond, time.Second}

type stats struct {
	mu        sync.Mutex
	gates     map[string]*GateStats
	calls     map[string]time.Duration // of one call, smoothed
	sights    map[string]*sight
	reachable map[string]bool
	outbox    map[string]int
	latency   Latency
	dropped   int64
	broker    bool
}

func newStats() *stats {
	return &stats{broker: true, gates: map[string]*GateStats{}, calls: map[string]time.Duration{}, sights: map[string]*sight{}, reachable: map[string]bool{}, outbox: map[string]int{},
		latency: Latency{Bounds: latencyBounds, Counts: make([]int64, len(latencyBounds)+1)}}
}

func (s *stats) gate(g wire.Scope) *GateStats {
	name := g.String()
	v := s.gates[name]
	if v == nil {
		v = &GateStats{Settled: map[string]int64{}}
		s.gates[name] = v
	}
	return v
}

func (s *stats) settled(g wire.Scope, m settle.Move, flew bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v := s.gate(g)
	v.Settled[m.Name()]++
	if flew {
		v.Flown++
	}
}

// called takes in how long a call took.
func (s *stats) called(g wire.Scope, d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	name := g.String()
	was, ok := s.calls[name]
	if !ok {
		was = d
	}
	s.calls[name] = was + (d-was)/8
}

// callTime is how long a call of the gate takes here, smoothed; 0: none was made.
func (s *stats) callTime(g wire.Scope) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls[g.String()]
}

func (s *stats) reasked(g wire.Scope) {
	s.mu.Lock()
	s.gate(g).Reasked++
	s.mu.Unlock()
}

func (s *stats) skipped(g wire.Scope, n int64) {
	s.mu.Lock()
	s.gate(g).Skipped += n
	s.mu.Unlock()
}

func (s *stats) returned(g wire.Scope) {
	s.mu.Lock()
	s.gate(g).Returned++
	s.mu.Unlock()
}

func (s *stats) reach(airport string, ok bool) {
	s.mu.Lock()
	s.reachable[airport] = ok
	s.mu.Unlock()
}

func (s *stats) answered(ok bool) {
	s.mu.Lock()
	s.broker = ok
	s.mu.Unlock()
}

func (s *stats) unsent(airport string, n int) {
	s.mu.Lock()
	s.outbox[airport] = n
	s.mu.Unlock()
}

func (s *stats) clearance(d time.Duration) {
	i := 0
	for i < len(latencyBounds) && d > latencyBounds[i] {
		i++
	}
	s.mu.Lock()
	s.latency.Counts[i]++
	s.latency.Sum += d
	s.mu.Unlock()
}

func (s *stats) lostReports(n int) {
	s.mu.Lock()
	s.dropped += int64(n)
	s.mu.Unlock()
}

// Stats reads the counters of this process. Any goroutine may call it.
func (g *Governor) Stats() Stats {
	s := g.stats
	s.mu.Lock()
	defer s.mu.Unlock()
	out := Stats{Gates: map[string]GateStats{}, States: map[string]State{}, Reachable: maps.Clone(s.reachable), Unsent: maps.Clone(s.outbox),
		Clearance: Latency{latencyBounds, append([]int64(nil), s.latency.Counts...), s.latency.Sum}, Reports: s.dropped,
		Broker: s.broker}
	for name, v := range s.gates {
		c := *v
		c.Settled = maps.Clone(v.Settled)
		c.Call = s.calls[name]
		out.Gates[name] = c
	}
	_, out.Blocked = g.bk.Blocked()
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, st := range g.stations {
		for _, l := range st.lanes {
			c := out.Gates[l.gate.String()]
			l.inHand.Range(func(any, any) bool { c.InHand++; return true })
			c.Leaked = l.leaks.Load()
			c.Workers = l.wanted()
			c.Declared = l.born.Load()
			out.Gates[l.gate.String()] = c
		}
		for _, gate := range append([]string{""}, st.hold.Gates()...) {
			if x, ok := st.hold.Last(gate); ok {
				out.States[x.Scope.String()] = x.Shown(st.now())
			}
		}
	}
	return out
}
