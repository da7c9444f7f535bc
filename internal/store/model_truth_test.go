package store_test

import (
	"context"
	"strings"

	"github.com/traction-go/traction/internal/store"
	"github.com/traction-go/traction/internal/wire"
)

// truth is what is so of a scope, whatever the store remembers.
type truth struct {
	stopped bool  // a fault stopped it, and no human has reopened it
	paused  bool  // a human paused it, and was told that all have seen it
	epoch   int64 // under which it was first written
	reopen  int64 // the number of the last human verb
	fence   int64 // that it set
}

func (g *truth) shut() bool { return g.stopped || g.paused }

// knows reports whether a living process has seen what shut the scope. told: and
// where the store went back, has called since, so that it was noticed.
func (w *world) knows(gate string, told bool) bool {
	for _, p := range w.procs {
		if p.alive && p.a.SeenEpoch(gate) >= w.truth[gate].epoch && (!told || !w.went || p.called > w.lossAt) {
			return true
		}
	}
	return false
}

// forgetUnknown: a store went back, and nobody alive knew better. That stop is gone.
func (w *world) forgetUnknown() {
	for gate, g := range w.truth {
		if g.shut() && !w.knows(gate, false) && w.stored(gate).Epoch < g.epoch {
			w.log("nobody alive knows that %q is shut", gate)
			g.stopped, g.paused = false, false
		}
	}
}

// cleared checks a clearance against the truth.
func (w *world) cleared(p *proc, gate, flight string, r store.FlightReply) {
	for _, scope := range []string{"", gate} {
		g := w.truth[scope]
		st, _ := p.a.Last(scope)
		if st.Fence < p.fence[scope] || st.Epoch < p.epoch[scope] {
			w.bad("%s was cleared under epoch %d and fence %d of %q, and had seen %d and %d", p.id, st.Epoch, st.Fence, scope, p.epoch[scope], p.fence[scope])
		}
		if st.State != wire.Open && st.State != wire.Canary || st.Paused {
			w.bad("%s was cleared for %s while %q is %s, paused %v", p.id, flight, scope, st.State, st.Paused)
		}
		if !g.shut() {
			continue
		}
		switch {
		case w.knows(scope, true):
			w.bad("%s was cleared for %s in %q: stopped %v, paused %v since epoch %d, stored %s@%d", p.id, flight, scope, g.stopped, g.paused, g.epoch, st.State, st.Epoch)
		case !w.knows(scope, false):
			g.stopped, g.paused = false, false // a known limit
		}
	}
	if r.Start < r.EpochA || r.Start < r.EpochG {
		w.bad("a clearance began at %d, before its epochs %d and %d", r.Start, r.EpochA, r.EpochG)
	}
}

// settled checks what one settlement did. before is what stood before its call.
func (w *world) settled(p *proc, c *flown, before map[string]wire.Status, v store.Verdict) {
	if c.outcome == "LANDED" || v == store.Unborn {
		return
	}
	airport, gate := w.stored(""), w.stored(c.gate)
	fresh := c.number > w.truth[""].reopen
	if c.outcome == "AIRPORT_FAULT" && fresh {
		if airport.State == wire.Open || airport.State == wire.Canary {
			w.bad("AIRPORT_FAULT of %s, cleared after the last reopen, left its airport %s", c.flight, airport.State)
		}
		w.shut("", airport)
	}
	for scope, st := range map[string]wire.Status{"": airport, c.gate: gate} {
		was := before[scope]
		if st.State == wire.Stopped && !st.Lost && (was.State != wire.Stopped || was.Lost) {
			if c.number < w.truth[scope].reopen && was.State != wire.Stopped && w.remembers(scope, st) {
				w.bad("%s of %s, from before the reopen, stopped %q", c.outcome, c.flight, scope)
			}
			w.shut(scope, st)
		}
		if st.State == wire.Stopped && st.Held && !was.Held {
			w.shut(scope, st)
		}
	}
	if c.number < w.truth[c.gate].reopen && gate.State != wire.Stopped && !airport.Lost && w.remembers(c.gate, gate) {
		for _, kind := range []string{wire.StreakGate, wire.StreakRecord} {
			if w.raw.ZScore(context.Background(), w.keys.Streak(c.gate, kind), c.flight).Err() == nil {
				w.bad("%s of %s, from before the reopen, counts", c.outcome, c.flight)
			}
		}
	}
}

func (w *world) shut(gate string, st wire.Status) {
	if g := w.truth[gate]; !g.stopped {
		g.stopped, g.epoch = true, st.Epoch
		w.log("%q is stopped @%d", gate, st.Epoch)
		if len(w.losses) > 0 && w.one(3) { // before everybody has heard of it
			w.after(w.n(1500), w.loss)
		}
	}
}

// remembers reports whether the store or anybody alive knows of the last human verb:
// one that nobody remembers is gone, like a stop.
func (w *world) remembers(gate string, st wire.Status) bool {
	fence := w.truth[gate].fence
	for _, p := range w.procs {
		if p.alive && p.fence[gate] >= fence {
			return true
		}
	}
	return st.Fence >= fence
}

// human: a person took the scope into their hands.
func (w *world) human(gate string) {
	w.clears++
	w.verbs++
	g := w.truth[gate]
	g.stopped, g.paused, g.reopen, g.fence = false, false, w.clears, w.stored(gate).Fence
}

// collect reads incidents and looks at what must hold at all times.
func (w *world) collect() {
	s := w.procs[0].st
	list, err := s.Incidents(context.Background(), modelAirport)
	w.must(err)
	open := map[string]bool{}
	for _, i := range list {
		open[i.ID] = i.ClosedAt == 0
		if i.Kind == wire.StateLost && !strings.HasPrefix(i.Evidence, "lost with its airport") {
			w.lost[i.ID] = i.Scope
		}
	}
	outbox, err := w.raw.HKeys(context.Background(), w.keys.Outbox()).Result()
	w.must(err)
	airport := w.stored("")
	for _, gate := range w.scopes() {
		st := w.stored(gate)
		if st.State == wire.Open && !st.Paused && airport.Flies() && w.truth[gate].shut() && w.knows(gate, true) {
			w.bad("%q is OPEN@%d by %q, no human has reopened it", gate, st.Epoch, st.By)
		}
		if st.State != wire.Stopped || st.Covered {
			continue // a covered gate is told with its airport, or by the next beat of who serves it
		}
		if st.Incident == "" || !open[st.Incident] {
			w.bad("%q is STOPPED without an open incident: %q", gate, st.Incident)
		}
		told := false
		for _, key := range outbox {
			told = told || strings.HasPrefix(key, st.Incident+"/")
		}
		for key := range w.sent {
			told = told || strings.HasPrefix(key, st.Incident+"/")
		}
		if !told {
			w.bad("%q is STOPPED under %s and nobody is told", gate, st.Incident)
		}
	}
	per := map[string]int{}
	for id, scope := range w.lost {
		if per[scope]++; per[scope] > w.happened {
			w.bad("%d STATE_LOST of %s for %d losses, %s the last", per[scope], scope, w.happened, id)
		}
	}
}

func (w *world) watch() {
	w.collect()
	w.after(second, w.watch)
}
