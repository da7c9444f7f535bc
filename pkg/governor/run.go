package governor

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/traction-go/traction/internal/store"
	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/settle"
)

// Run works: it declares the airports, flies their flights, and, unless
// Config.NoTower, runs a tower. It returns when ctx has ended and everything is
// drained: no new clearances, flights in the air finish (up to Config.Grace), what
// is in hand is returned. With no airports it runs a tower alone. A broker or a
// store that is away is waited for.
func (g *Governor) Run(ctx context.Context, airports ...Airport) error {
	specs, err := checked(airports)
	if err != nil {
		return err
	}
	if err := g.checkAdoptions(specs); err != nil {
		return err
	}
	if len(specs) == 0 && g.cfg.NoTower {
		return badSpec("Run", "no airports and no tower: there is nothing to do")
	}
	g.mu.Lock()
	if g.running || g.closed {
		g.mu.Unlock()
		return fmt.Errorf("%w: this Governor runs already, or was closed", ErrRefused)
	}
	g.running = true
	g.runs++
	g.mu.Unlock()
	defer func() { g.mu.Lock(); g.running, g.stations = false, nil; g.mu.Unlock() }()

	stop, done := context.WithCancel(ctx)
	defer done()
	g.permits.start(g.cfg.MaxFlights, done)

	// Everything but the lanes lives until these have drained.
	live, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	g.solo.begin(live)
	hard, giveUp := context.WithCancel(live)
	defer giveUp()
	var background, lanes sync.WaitGroup
	background.Go(func() { g.reports.run(live) })

	var tw *tower
	if !g.cfg.NoTower {
		tw = newTower(g)
	}
	kind := store.WorkerOnly
	if tw != nil {
		kind = store.WorkerAnd
	}
	var stations []*station
	for _, spec := range specs {
		s := newStation(g, spec, kind)
		s.tower = tw
		for _, gate := range spec.Gates {
			s.lanes = append(s.lanes, newLane(s, gate))
		}
		s.intakes = newIntakes(s)
		stations = append(stations, s)
	}
	g.mu.Lock()
	g.stations = stations
	g.mu.Unlock()
	for _, s := range stations {
		background.Go(func() { s.run(live) })
		for _, l := range s.lanes {
			lanes.Go(func() { l.run(stop, hard) })
		}
		for _, in := range s.intakes {
			lanes.Go(func() { in.run(stop, hard) })
		}
	}
	background.Go(func() { g.listen(live) })
	background.Go(func() { g.heartbeat(live, tw != nil) })
	if tw != nil {
		background.Go(func() { tw.run(live) })
	}
	background.Go(func() { g.checkStore(live) })
	background.Go(func() { g.look(live) })

	<-stop.Done()
	g.drain(stations, &lanes, giveUp)
	g.solo.finish()
	end()
	g.solo.ends.Wait()
	background.Wait()
	if g.permits.max > 0 && ctx.Err() == nil {
		return nil
	}
	if err := ctx.Err(); err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

func checked(airports []Airport) ([]Airport, error) {
	seen := map[string]bool{}
	var specs []Airport
	for _, a := range airports {
		if err := a.Validate(); err != nil {
			return nil, err
		}
		if len(a.Gates) == 0 {
			return nil, badSpec("airport "+a.ID+": Gates", "at least one is required")
		}
		if seen[a.ID] {
			return nil, badSpec("airport "+a.ID, "is declared twice")
		}
		seen[a.ID] = true
		specs = append(specs, a.withDefaults())
	}
	return specs, nil
}

// drain ends the lanes: first by waiting for what is in the air, then, after the
// grace, by cancelling it.
func (g *Governor) drain(stations []*station, lanes *sync.WaitGroup, giveUp func()) {
	for _, s := range stations {
		// Written when the drain begins: a process that leaves in an orderly way
		// implicates nobody.
		s.leaving.Store(true)
		signal(s.beatUp)
		s.wake()
	}
	done := make(chan struct{})
	go func() { lanes.Wait(); close(done) }()
	grace := g.cfg.Grace
	if grace == 0 {
		for _, s := range stations {
			for _, l := range s.lanes {
				grace = max(grace, l.spec.Timeout)
			}
		}
		grace += 5 * time.Second
	}
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-done:
		return
	case <-timer.C:
	}
	g.log.Warn("the grace is over: flights in the air are cancelled; what is not settled will be handed out again", "grace", grace.String())
	giveUp()
	<-done
}

// drain begins the lane's end.
func (l *lane) drain() {
	l.draining = true
	l.giveUpAt = time.Now().Add(10 * time.Second)
}

// abandon gives up what is in hand: the broker hands it out again.
func (l *lane) abandon() {
	if n := len(l.hand); n > 0 {
		l.log.Warn("leaving with flights in hand: the broker hands them out again", "flights", n)
	}
	for _, j := range l.hand {
		l.release(j)
		if l.s.g.solo.active.Load() {
			l.s.g.solo.left(j)
		}
	}
	l.drained = true
}

// listen hears announcements; each is a reason to read the statuses, which a beat
// does. The stored status is the truth.
func (g *Governor) listen(ctx context.Context) {
	b := newBackoff(100*time.Millisecond, 5*time.Second)
	for ctx.Err() == nil {
		err := g.st.Events(ctx, func(e wire.Event) {
			b.reset()
			scope, err := wire.ParseScope(e.Scope)
			for _, s := range g.served() {
				if err != nil || e.Scope == "" || scope.Airport == s.spec.ID && e.Epoch >= s.hold.SeenEpoch(scope.Gate) {
					signal(s.beatUp)
				}
			}
		})
		if err != nil && ctx.Err() == nil {
			g.log.Debug("announcements are not heard; statuses are polled meanwhile", "error", err)
			b.wait(ctx)
		}
	}
}

// served gives the stations of this process.
func (g *Governor) served() []*station {
	g.mu.Lock()
	defer g.mu.Unlock()
	return append([]*station(nil), g.stations...)
}

// heartbeat keeps the process on the list of the living, for people.
func (g *Governor) heartbeat(ctx context.Context, isTower bool) {
	tick := time.NewTicker(g.cfg.Heartbeat)
	defer tick.Stop()
	for {
		var airports []string
		for _, s := range g.served() {
			if s.kind != store.TowerOnly {
				airports = append(airports, s.spec.ID)
			}
		}
		if err := g.st.Present(ctx, g.id, airports, isTower, 5*g.cfg.Heartbeat); err != nil && ctx.Err() == nil {
			g.log.Debug("the heartbeat was not written", "error", err)
		}
		select {
		case <-ctx.Done():
			gone, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
			defer cancel()
			if err := g.st.Absent(gone, g.id); err != nil {
				g.log.Debug("the heartbeat was not removed; it ends by itself", "error", err)
			}
			return
		case <-tick.C:
		}
	}
}

// permits are the flights that Config.MaxFlights allows.
type permits struct {
	mu    sync.Mutex
	max   int
	taken int
	used  int
	moved int // by intakes, to runways
	done  func()
}

func (p *permits) start(n int, done func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.max, p.taken, p.used, p.moved, p.done = n, 0, 0, 0, done
}

func (l *lane) takePermit(j *job) bool {
	p := &l.s.g.permits
	if p.max == 0 || j.permit {
		return true
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.taken >= p.max {
		return false
	}
	p.taken++
	j.permit = true
	return true
}

func (l *lane) returnPermit(j *job) {
	if !j.permit {
		return
	}
	j.permit = false
	p := &l.s.g.permits
	p.mu.Lock()
	p.taken--
	p.mu.Unlock()
}

// flown counts a settled flight, and ends Run at the last permitted one.
func (g *Governor) flown(j *job, m settle.Move) {
	if g.cfg.OnSettled != nil {
		g.cfg.OnSettled(Settled{Flight: j.flight.ID, BusinessID: j.flight.BusinessID, Scope: j.flight.Scope.String(),
			Outcome: j.outcome(), Settled: m.Name(), Reason: string(m.Reason), Evidence: j.ev.String()})
	}
	if !j.took || j.finding != "" || g.permits.max == 0 {
		return
	}
	p := &g.permits
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.used++; p.used == p.max {
		p.done()
	}
}
