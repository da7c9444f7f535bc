package store_test

import (
	"context"
	"slices"

	"github.com/traction-go/traction/internal/store"
	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/settle"
)

// modelLane is a process's lane to one gate: one call at a time, repeated with the
// same number until it is answered.
type modelLane struct {
	p     *proc
	gate  string
	seq   uint64
	busy  bool
	hand  map[string]*flown
	ended []*flown // to settle
	marks []string
	back  []string // to give back
}

func (l *modelLane) loop() {
	w := l.p.w
	pace := 150 + w.n(400)
	if w.calm {
		pace *= 3
	}
	l.p.after(pace, l.loop)
	l.send()
}

// send makes the lane's next call, when there is anything to say.
func (l *modelLane) send() {
	p, w := l.p, l.p.w
	if l.busy {
		return
	}
	call := store.FlightCall{Incarnation: p.inc, Mode: "enforce", Limits: limits, Steps: modelSteps,
		Slots: store.Slots{N: 40, Per: 1000 * 1000 * 1000, Stamp: 1}, Marks: l.marks, Returns: l.back}
	settles := l.ended
	l.ended, l.marks, l.back = nil, nil, nil
	for _, c := range settles {
		call.Settle = append(call.Settle, c.settled(p))
	}
	var asks []*flown
	if p.unsettled == 0 && p.warm > 0 && w.now-p.warm >= warmUp && l.mayFly() {
		for len(l.hand) < modelPilot && len(w.runway[l.gate]) > 0 {
			f := w.runway[l.gate][0]
			w.runway[l.gate] = w.runway[l.gate][1:]
			if l.hand[f] != nil {
				continue // a second copy
			}
			c := &flown{flight: f, gate: l.gate, sent: w.now}
			l.hand[f] = c
			asks = append(asks, c)
			call.Clear = append(call.Clear, store.Request{Flight: f})
		}
	}
	if len(call.Settle)+len(call.Clear)+len(call.Marks)+len(call.Returns) == 0 {
		return
	}
	l.seq++
	call.Seq = l.seq
	l.busy = true
	l.try(call, settles, asks)
}

// mayFly keeps a lane quiet that knows that its gate is shut; now and then it asks
// all the same, since what it knows may be old.
func (l *modelLane) mayFly() bool {
	for _, g := range []string{"", l.gate} {
		if st, ok := l.p.a.Last(g); ok && !st.Flies() && !l.p.w.one(4) {
			return false
		}
	}
	return true
}

func (l *modelLane) try(call store.FlightCall, settles, asks []*flown) {
	p, w := l.p, l.p.w
	var r store.FlightReply
	a := p.a
	p.call(func(ctx context.Context) error {
		before := map[string]wire.Status{}
		if len(settles) > 0 {
			before[""], before[l.gate] = w.stored(""), w.stored(l.gate)
		}
		got, err := a.Flight(ctx, l.gate, call)
		if err == nil {
			r = got
			for i, c := range asks {
				if r.Clearance[i].Answer == store.Cleared {
					w.clears++
					c.number, c.reply = w.clears, r
					w.cleared(p, l.gate, c.flight, r)
				}
			}
		}
		for i, c := range settles {
			v := store.Make
			if err == nil {
				v = r.Verdicts[i]
			} else if w.stored("").State == wire.Unknown || w.stored(l.gate).State == wire.Unknown || w.stored("").State == wire.Birth || w.stored(l.gate).State == wire.Birth {
				v = store.Unborn // or so it was answered
			}
			w.settled(p, c, before, v)
		}
		return err
	}, func(ok bool) {
		if !ok {
			p.after(200, func() { l.try(call, settles, asks) })
			return
		}
		l.busy = false
		for i, c := range settles {
			l.verdict(c, r.Verdicts[i])
		}
		for i, c := range asks {
			l.answer(c, r.Clearance[i])
		}
	})
}

func (l *modelLane) drop(c *flown, tail bool) {
	w := l.p.w
	delete(l.hand, c.flight)
	if tail {
		w.runway[l.gate] = append(w.runway[l.gate], c.flight)
	} else {
		w.runway[l.gate] = append([]string{c.flight}, w.runway[l.gate]...)
	}
}

func (l *modelLane) hold(c *flown, d int64) {
	w := l.p.w
	delete(l.hand, c.flight)
	w.after(d, func() { w.runway[c.gate] = append(w.runway[c.gate], c.flight) })
}

func (l *modelLane) answer(c *flown, answer store.Clearance) {
	p, w := l.p, l.p.w
	switch answer.Answer {
	case store.Cleared:
		d := w.n(800)
		if w.one(10) {
			d = w.n(12 * second)
		}
		p.after(d, func() { l.begin(c) })
	case store.Unknown:
		p.bear("", func() { p.bear(l.gate, nil) })
		l.drop(c, false)
	case store.LandedAlready:
		delete(l.hand, c.flight)
		w.newFlight(l.gate)
	case store.GateStopped:
		delete(l.hand, c.flight)
		w.parked[l.gate] = append(w.parked[l.gate], c.flight)
	case store.Held:
		l.hold(c, heldHold)
	case store.CharterLost:
		w.bad("a flight without a run lost its charter")
	default:
		l.drop(c, true)
	}
}

// begin starts the call, if the clearance is still young and nothing newer is known.
func (l *modelLane) begin(c *flown) {
	p, w := l.p, l.p.w
	stale := w.now-c.sent > 10*second || p.unsettled > 0
	for _, g := range []string{"", l.gate} {
		if st, ok := p.a.Last(g); ok && !st.Flies() {
			stale = true
		}
	}
	if stale {
		l.back = append(l.back, c.flight)
		l.drop(c, false)
		return
	}
	d := 5 + w.n(300)
	if !w.calm && w.one(6) {
		d = w.n(15 * second)
	}
	p.after(d, func() {
		c.outcome = w.outcome()
		o, err := settle.ParseOutcome(c.outcome)
		if err != nil {
			w.bad("%v", err)
			return
		}
		c.plan = settle.Decide(o, settle.Holds{}, settle.DefaultPolicy())
		if c.outcome != "LANDED" {
			p.unsettled++
		}
		l.ended = append(l.ended, c)
		l.send()
	})
}

func (l *modelLane) verdict(c *flown, v store.Verdict) {
	p, w := l.p, l.p.w
	if v == store.Unborn {
		p.bear("", func() { p.bear(l.gate, nil) })
		p.after(200, func() { l.ended = append(l.ended, c) })
		return
	}
	if c.outcome != "LANDED" {
		p.unsettled--
	}
	move := c.plan.Move
	switch v {
	case store.Make:
	case store.Otherwise:
		move = c.plan.Otherwise
	case store.NotYours:
		l.drop(c, false)
		return
	default:
		w.bad("%s of %s was answered %d", c.outcome, c.flight, v)
		return
	}
	switch move.Settlement {
	case settle.Land:
		delete(l.hand, c.flight)
		if move.Landing == settle.AsLanded {
			w.landed[l.gate]++
			l.marks = append(l.marks, c.flight)
		}
		w.newFlight(l.gate)
	case settle.Defer:
		l.drop(c, true)
	case settle.Hold:
		l.hold(c, modelHold)
	case settle.Park:
		delete(l.hand, c.flight)
		w.parked[l.gate] = append(w.parked[l.gate], c.flight)
	default:
		w.bad("no move for %s: %v", c.outcome, v)
	}
}

func (w *world) outcome() string {
	r := w.n(100)
	switch {
	case w.calm:
	case w.mode == "airport fault" && r < 50:
		return "AIRPORT_FAULT"
	case w.mode == "gate fault" && r < 70:
		return "GATE_FAULT"
	case w.mode == "records" && r < 50:
		return "FLIGHT_FAULT"
	case w.mode == "records" && r < 80:
		return "INTERNAL"
	case w.mode == "transient" && r < 90:
		return "TRANSIENT"
	case w.mode == "rate limit" && r < 30:
		return "RATE_LIMIT"
	}
	return "LANDED"
}

func (w *world) replay() {
	for _, g := range w.gates {
		w.runway[g] = append(w.runway[g], w.parked[g]...)
		w.parked[g] = nil
		slices.Sort(w.runway[g])
		w.runway[g] = slices.Compact(w.runway[g])
	}
}
