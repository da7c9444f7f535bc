package store_test

import (
	"context"
	"fmt"
	"net"
	"slices"
	"time"

	"github.com/traction-go/traction/internal/store"
	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/settle"
)

// The model's patience is shorter than the defaults, so that what must end does so
// within a history.
var modelSteps = []time.Duration{3 * time.Second, 5 * time.Second, 8 * time.Second}

const (
	modelHold  = 4 * second
	heldHold   = 10 * second
	warmUp     = 3 * second // one and a half beats
	modelPilot = 2          // flights a lane has in hand
)

// proc is a worker, a tower, or both, as the protocol has them behave.
type proc struct {
	w             *world
	index, life   int
	worker, tower bool
	alive         bool
	born, cutU    int64 // when it began; until when it alone does not reach the store

	id   string
	inc  string
	st   *store.Store
	a    *store.Airport
	lose bool // the next reply is lost

	warm      int64 // the first beat since the store was away
	called    int64 // the last answered call
	unsettled int   // failures not yet answered: what it knows is not all
	epoch     map[string]int64
	fence     map[string]int64
	births    map[string]bool
	lanes     map[string]*modelLane
	known     map[string]bool // who beat when nothing was lost
	done      []string        // notifications told
}

// start brings up a new process in the place of a dead one.
func (p *proc) start() {
	w := p.w
	p.life++
	p.alive, p.born, p.called = true, w.now, w.now
	p.id = fmt.Sprintf("p%d-%d", p.index, p.life)
	p.inc = p.id + ".1"
	if p.st == nil {
		p.st = w.disk.store(w.t, func(ctx context.Context, network, addr string) (net.Conn, error) {
			c, err := (&net.Dialer{}).DialContext(ctx, network, addr)
			if err != nil {
				return nil, err
			}
			return link{c, &p.lose}, nil
		})
	}
	p.a = p.st.Airport(modelAirport, p.id, w.gates...)
	p.warm, p.unsettled = 0, 0
	p.epoch, p.fence, p.births = map[string]int64{}, map[string]int64{}, map[string]bool{}
	p.known, p.done, p.lanes = map[string]bool{}, nil, map[string]*modelLane{}
	w.log("%s starts, worker %v, tower %v", p.id, p.worker, p.tower)
	p.beat()
	if p.worker {
		p.bear("", func() {
			for _, g := range w.gates {
				p.bear(g, nil)
			}
		})
		for _, g := range w.gates {
			p.lanes[g] = &modelLane{p: p, gate: g, hand: map[string]*flown{}}
			p.lanes[g].loop()
		}
		p.clean()
	}
	if p.tower {
		p.tell()
	}
}

func (p *proc) crash() {
	if !p.alive {
		return
	}
	w := p.w
	w.log("%s crashes", p.id)
	p.alive = false
	for g, l := range p.lanes {
		for f := range l.hand {
			w.runway[g] = append([]string{f}, w.runway[g]...)
		}
		slices.Sort(w.runway[g])
	}
	w.after(1000+w.n(20*second), p.start)
}

// after runs f unless the process has died by then.
func (p *proc) after(d int64, f func()) {
	life := p.life
	p.w.after(d, func() {
		if p.alive && p.life == life {
			f()
		}
	})
}

// call runs one script: the request travels, the store runs it, the answer travels
// back or is lost. ran is called where the script ran, whoever hears of it.
func (p *proc) call(f func(ctx context.Context) error, then func(ok bool)) {
	w := p.w
	life := p.life
	w.after(1+w.n(3), func() {
		if w.now < max(w.awayU, p.cutU) {
			p.after(200, func() {
				p.warm = 0
				then(false)
			})
			return
		}
		lost := !w.calm && w.one(150)
		w.disk.setTime(w.storeNow())
		p.lose = lost
		// a process that died meanwhile has sent it all the same
		err := f(context.Background())
		p.lose = false
		if err != nil && !lost {
			w.bad("a script failed: %v", err)
			return
		}
		if lost {
			p.after(300, func() { then(false) })
			return
		}
		if p.alive && p.life == life {
			p.saw()
		}
		p.after(1+w.n(3), func() { then(true) })
	})
}

// saw remembers the highest that this process was told.
func (p *proc) saw() {
	p.called = p.w.now
	for _, g := range p.w.scopes() {
		st, _ := p.a.Last(g)
		p.epoch[g], p.fence[g] = max(p.epoch[g], p.a.SeenEpoch(g)), max(p.fence[g], st.Fence)
	}
}

func (p *proc) beat() {
	p.after(2*second, p.beat)
	kind := store.WorkerAnd
	if !p.tower {
		kind = store.WorkerOnly
	} else if !p.worker {
		kind = store.TowerOnly
	}
	var r store.BeatReply
	a := p.a
	p.call(func(ctx context.Context) (err error) {
		r, err = a.Beat(ctx, store.BeatCall{Incarnations: []string{p.inc}, Interval: 2 * time.Second, Kind: kind})
		return err
	}, func(ok bool) {
		if !ok {
			p.warm = 0
			return
		}
		if p.warm == 0 {
			p.warm = p.w.now
		}
		p.look(r)
	})
}

// look acts on what a beat brought: births, offers, restores.
func (p *proc) look(r store.BeatReply) {
	missing := false
	for _, g := range p.w.scopes() {
		if st, ok := p.a.Last(g); !ok || st.State == wire.Unknown || st.State == wire.Birth {
			missing = true
			if p.worker {
				p.bear(g, nil)
			}
		}
	}
	switch {
	case r.Lost:
		p.offer()
	case !missing:
		p.known = map[string]bool{p.id: true}
		for _, b := range r.Beats {
			if b.Alive(r.Now) {
				p.known[b.Worker()] = true
			}
		}
	}
}

func (p *proc) offer() {
	if p.unsettled > 0 {
		return
	}
	a := p.a
	p.call(func(ctx context.Context) error { return a.Offer(ctx) }, func(ok bool) {
		if !ok || !p.tower || p.unsettled > 0 {
			return
		}
		knew := []string{}
		for id := range p.known {
			knew = append(knew, id)
		}
		slices.Sort(knew)
		var n int
		var waits string
		p.call(func(ctx context.Context) (err error) {
			n, waits, err = a.Restore(ctx, knew)
			return err
		}, func(ok bool) {
			if ok && n+len(waits) > 0 {
				p.w.log("%s restores %d, waits for %q", p.id, n, waits)
			}
		})
	})
}

// bear writes a status where there is none, by what the broker remembers.
func (p *proc) bear(gate string, then func()) {
	if p.births[gate] {
		return
	}
	p.births[gate] = true
	end := func() {
		p.births[gate] = false
		if then != nil {
			then()
		}
	}
	w, a := p.w, p.a
	var b store.Born
	var epoch int64
	p.call(func(ctx context.Context) (err error) {
		b, epoch, err = a.BeginBirth(ctx, gate)
		return err
	}, func(ok bool) {
		if !ok || b != store.Stands && b != store.Look {
			end()
			return
		}
		p.after(1+w.n(100), func() {
			present := w.markers[gate]
			w.markers[gate] = true
			if b == store.Stands {
				end()
				return
			}
			w.log("%s finishes the birth of %q @%d, marker %v", p.id, gate, epoch, present)
			p.after(1+w.n(100), func() {
				p.call(func(ctx context.Context) error {
					_, err := a.FinishBirth(ctx, gate, epoch, present, store.Slots{})
					return err
				}, func(bool) { end() })
			})
		})
	})
}

// clean removes own notes whose flights are no longer in hand.
func (p *proc) clean() {
	p.after(10*second, p.clean)
	var notes []store.Note
	a := p.a
	p.call(func(ctx context.Context) (err error) {
		notes, err = a.Notes(ctx, nil)
		return err
	}, func(ok bool) {
		notes = slices.DeleteFunc(notes, func(n store.Note) bool {
			for _, l := range p.lanes {
				if l.hand[n.Flight] != nil {
					return true
				}
			}
			return false
		})
		if ok && len(notes) > 0 {
			p.call(func(ctx context.Context) error { _, err := a.Notes(ctx, notes); return err }, func(bool) {})
		}
	})
}

// tell sends notifications and tidies up.
func (p *proc) tell() {
	w, a := p.w, p.a
	var out []wire.Notice
	done := p.done
	p.call(func(ctx context.Context) (err error) {
		out, err = a.Outbox(ctx, 5*time.Second, 3, done, nil)
		if err == nil && w.one(5) {
			_, err = a.Sweep(ctx, 24*time.Hour, 4*time.Second)
		}
		return err
	}, func(ok bool) {
		if !ok {
			p.after(second, p.tell)
			return
		}
		p.done = nil
		p.after(10+w.n(7000), func() {
			for _, n := range out {
				w.sent[n.Key]++
				p.done = append(p.done, n.Key)
			}
			p.after(500, p.tell)
		})
	})
}

// flown is one flight in a process's hand.
type flown struct {
	flight, gate string
	sent, number int64 // when it was asked for; the number of its clearance
	reply        store.FlightReply
	outcome      string
	plan         settle.Plan
}

func (c *flown) settled(p *proc) store.Settled {
	return store.Settled{Flight: c.flight, Incarnation: p.inc, EpochA: c.reply.EpochA, EpochG: c.reply.EpochG, Start: c.reply.Start,
		Outcome: c.outcome, Move: c.plan.Move, Otherwise: c.plan.Otherwise, Record: c.flight, Evidence: "of " + c.flight, After: 4 * time.Second}
}
