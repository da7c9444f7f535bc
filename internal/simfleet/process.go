package simfleet

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/traction-go/traction/internal/broker"
	"github.com/traction-go/traction/internal/broker/memory"
	"github.com/traction-go/traction/pkg/governor"
)

var errGone = errors.New("this process is gone")

// process is one real process of pkg/governor in one place of the fleet. The World's
// lock guards what changes.
type process struct {
	w      *World
	place  int
	name   string
	gov    *governor.Governor
	cancel context.CancelFunc
	cable  memory.Severed

	runs    bool
	dead    bool
	why     string
	leaving bool            // its drain has begun
	inAir   map[*flight]int // now, and its deaths at take-off; when it died: then
	cutOff  bool            // from the store, now
	wasCut  time.Time       // until when it was
	conns   map[*link]bool
}

// start starts a process in a place that is free.
func (w *World) start(place int) {
	w.mu.Lock()
	if w.over || w.slots[place] != nil {
		w.mu.Unlock()
		return
	}
	p := &process{w: w, place: place, name: fmt.Sprintf("p%d", len(w.procs)+1), inAir: map[*flight]int{}, conns: map[*link]bool{}}
	w.procs = append(w.procs, p)
	w.slots[place] = p
	w.note("%s starts", p.name)
	w.mu.Unlock()

	tr := w.broker.Dial()
	p.cable = tr.(memory.Severed)
	st, err := w.openStore(func(context.Context, string, string) (net.Conn, error) { return p.dial() })
	if err == nil {
		p.gov, err = governor.Open(context.Background(), governor.Config{Name: p.name, Namespace: string(w.ns), Logger: w.log.With("process", p.name),
			Heartbeat: w.plan.Heartbeat, Grace: w.plan.Grace, NoTower: place < w.plan.Workers && !w.plan.Towers, StoreTimeout: time.Second,
			Hooks: []governor.Hook{hook{p}}}.WithServices(governor.Services{Broker: &port{Transport: tr, p: p}, Store: st}))
	}
	if err != nil {
		w.mu.Lock()
		w.broken("%s could not start: %v", p.name, err)
		w.mu.Unlock()
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	w.mu.Lock()
	p.cancel, p.runs = cancel, true
	w.mu.Unlock()
	var airports []governor.Airport
	if place < w.plan.Workers {
		airports = w.plan.airports(p)
	} // the last place is a tower's
	w.wg.Go(func() {
		defer cancel()
		err := p.gov.Run(ctx, airports...)
		if err := p.gov.Close(context.Background()); err != nil && !p.isDead() {
			w.log.Warn("close", "error", err)
		}
		p.ended(err)
	})
	// What was taken away while it was started.
	if p.isDead() {
		cancel()
	}
}

// ended frees the place of a process that ended by itself, as deploys do.
func (p *process) ended(err error) {
	w := p.w
	w.mu.Lock()
	defer w.mu.Unlock()
	if err != nil {
		w.broken("%s ended with: %v", p.name, err)
	}
	if p.dead {
		return
	}
	p.dead, p.why = true, "left"
	w.note("%s has left", p.name)
	w.free(p)
}

// free gives a place to a new process. The caller holds the lock.
func (w *World) free(p *process) {
	if w.slots[p.place] != p {
		return
	}
	w.slots[p.place] = nil
	if !w.over {
		w.wg.Go(func() { time.Sleep(time.Second); w.start(p.place) })
	}
}

func (p *process) isDead() bool {
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	return p.dead
}

// kill is kill -9: nothing the process does from here on reaches anybody. The broker
// notices a little later.
func (p *process) kill(why string, by *flight) {
	w := p.w
	w.mu.Lock()
	if p.dead {
		w.mu.Unlock()
		return
	}
	p.dead, p.why = true, why
	if by != nil && !p.leaving {
		by.kills = append(by.kills, p)
	}
	w.fault("%s dies: %s, %d in the air, leaving %v", p.name, why, len(p.inAir), p.leaving)
	for f := range p.inAir {
		delete(f.inAir, p)
	}
	conns := p.takeConns()
	w.free(p)
	cancel := p.cancel
	notices := time.Duration(w.rnd.Int64N(int64(50 * time.Millisecond)))
	if w.rnd.IntN(5) == 0 {
		notices = time.Duration(w.rnd.Int64N(int64(15 * time.Second)))
	}
	w.mu.Unlock()
	for _, c := range conns {
		c.cut()
	}
	w.wg.Go(func() {
		time.Sleep(notices)
		p.cable.Sever()
		if cancel != nil {
			cancel()
		}
	})
}

// takeConns empties the list of connections to the store. The caller holds the lock.
func (p *process) takeConns() []*link {
	var all []*link
	for c := range p.conns {
		all = append(all, c)
	}
	clear(p.conns)
	return all
}

// calm is how long nothing goes wrong: a scope whose writer dies while it is born is
// taken for lost, and waits for a human.
const calm = 2 * time.Second

// step is a moment at which a process may be killed. It reports whether it is dead.
func (p *process) step(name string) bool {
	w := p.w
	w.mu.Lock()
	dead := p.dead
	at := time.Since(bubbleStart)
	hit := !dead && !p.leaving && w.steps > 0 && p.runs && at > calm && at < w.plan.Faults && w.rnd.Float64() < w.plan.StepChance
	if hit {
		w.steps--
	}
	w.mu.Unlock()
	if hit {
		p.kill("kill -9 "+name, nil)
		return true
	}
	return dead
}

// deploy drains the process; another takes its place when it has left.
func (p *process) deploy() {
	p.w.mu.Lock()
	if p.dead || p.leaving || p.cancel == nil {
		p.w.mu.Unlock()
		return
	}
	p.leaving = true
	p.w.fault("%s is told to leave", p.name)
	cancel := p.cancel
	p.w.mu.Unlock()
	cancel()
}

// loseChannel takes the broker away from the process for d.
func (p *process) loseChannel(d time.Duration) {
	p.w.mu.Lock()
	if p.dead || !p.runs {
		p.w.mu.Unlock()
		return
	}
	p.w.fault("%s loses its channel for %s", p.name, d)
	p.w.mu.Unlock()
	p.cable.Sever()
	p.w.wg.Go(func() {
		time.Sleep(d)
		if !p.isDead() {
			p.w.mu.Lock()
			p.w.fault("%s has its channel back", p.name)
			p.w.mu.Unlock()
			p.cable.Rejoin()
		}
	})
}

// loseStore takes the store away from the process for d.
func (p *process) loseStore(d time.Duration) {
	w := p.w
	w.mu.Lock()
	if p.dead || p.cutOff {
		w.mu.Unlock()
		return
	}
	p.cutOff, p.wasCut = true, time.Now().Add(d)
	w.fault("%s is cut off from the store for %s", p.name, d)
	conns := p.takeConns()
	w.mu.Unlock()
	for _, c := range conns {
		c.cut()
	}
	w.wg.Go(func() {
		time.Sleep(d)
		w.mu.Lock()
		p.cutOff = false
		w.fault("%s has the store back", p.name)
		w.mu.Unlock()
	})
}

type hook struct{ p *process }

func (h hook) Notify(_ context.Context, n governor.Notification) error { return h.p.w.notify(h.p, n) }

var _ broker.Transport = (*port)(nil)
