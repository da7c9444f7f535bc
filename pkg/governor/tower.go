package governor

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/traction-go/traction/internal/store"
	"github.com/traction-go/traction/internal/wire"
)

// The tower's rhythm.
const (
	noticeLease  = time.Minute      // how long a sender has to get a notification taken
	noticesAtOne = 20               // notifications leased at once
	sweepEvery   = 30 * time.Second // of an airport
	keepFor      = 24 * time.Hour   // what nobody will remove
	tellDelay    = 10 * time.Minute // before a ground delay is told
	restoreGrace = 50 * time.Millisecond
	hookTimeout  = 15 * time.Second
	settleDown   = time.Second // for workers to return what is in hand
)

// tower tells people and tidies up: it sends notifications from the outbox under a
// lease, brings back what was open before a loss, sweeps, and empties the queues
// nobody else consumes. Any number of towers may run. What a tower does is decided
// by scripts; one that dies anywhere leaves nothing half done.
type tower struct {
	g *Governor

	mu      sync.Mutex
	swept   map[string]time.Time
	sending map[string]bool // airports whose outbox is being sent
	wg      sync.WaitGroup
	ctx     context.Context

	settleMu sync.Mutex // one lane for what the tower settles
	holds    map[string]*store.Airport
	seq      uint64
}

func newTower(g *Governor) *tower {
	return &tower{g: g, swept: map[string]time.Time{}, sending: map[string]bool{}, holds: map[string]*store.Airport{}, seq: firstNumber(g.runsSoFar())}
}

// run ends, with all it started, when ctx does.
func (t *tower) run(ctx context.Context) {
	t.mu.Lock()
	t.ctx = ctx
	t.mu.Unlock()
	defer func() {
		t.mu.Lock()
		t.ctx = nil // a beat that is answered now starts nothing more
		t.mu.Unlock()
		t.wg.Wait()
	}()
	b := newBackoff(200*time.Millisecond, 5*time.Second)
	for {
		err := t.g.declare(ctx, common(t.g.ns), holds(t.g.ns, nil))
		if err == nil {
			break
		}
		if t.g.quiet("tower declare", 10*time.Second) {
			t.g.log.Warn("the tower's queues could not be declared; it is tried again", "error", err)
		}
		if !b.wait(ctx) {
			return
		}
	}
	for _, q := range []struct {
		queue  string
		handle handler
	}{
		{t.g.ns.LimitQueue(), t.overLimit},
		{t.g.ns.UnroutableQueue(), t.unroutable},
		{t.g.ns.TowerQueue(), t.unapplied},
	} {
		t.wg.Go(func() { t.consume(ctx, q.queue, q.handle) })
	}
	tick := time.NewTicker(t.g.cfg.Heartbeat)
	defer tick.Stop()
	for {
		t.serveAll(ctx)
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// serveAll makes a station for each airport of the namespace that has none here.
func (t *tower) serveAll(ctx context.Context) {
	ids, err := t.g.st.Airports(ctx)
	if err != nil {
		return // the beats tell that the store is away
	}
	served := map[string]bool{}
	for _, s := range t.g.served() {
		served[s.spec.ID] = true
	}
	for _, id := range ids {
		if served[id] {
			continue
		}
		s := newStation(t.g, Airport{ID: id}, store.TowerOnly)
		s.tower = t
		t.g.mu.Lock()
		t.g.stations = append(t.g.stations, s)
		t.g.mu.Unlock()
		t.wg.Go(func() { s.run(ctx) })
	}
}

// beaten follows each answered beat of a station.
func (t *tower) beaten(s *station, r store.BeatReply) {
	t.mu.Lock()
	defer t.mu.Unlock()
	ctx := t.ctx
	if ctx == nil || ctx.Err() != nil {
		return
	}
	id := s.spec.ID
	if s.kind == store.TowerOnly {
		t.wg.Go(func() { t.learnGates(ctx, s) })
	}
	if r.Lost && s.unsettled.Load() == 0 {
		s.mu.Lock()
		knew := slices.Clone(s.knew)
		s.mu.Unlock()
		t.wg.Go(func() { t.restore(ctx, s, knew) })
	}
	if r.Outbox > 0 && !t.sending[id] {
		t.sending[id] = true
		t.wg.Go(func() {
			defer func() { t.mu.Lock(); delete(t.sending, id); t.mu.Unlock() }()
			t.send(ctx, s)
		})
	}
	if time.Since(t.swept[id]) >= sweepEvery {
		t.swept[id] = time.Now()
		t.wg.Go(func() {
			if _, err := s.hold.Sweep(ctx, keepFor, t.g.cfg.tellDelay()); err != nil && ctx.Err() == nil {
				s.log.Debug("sweeping failed; it is tried again", "error", err)
			}
		})
	}
}

// learnGates makes the gates known that other processes have declared.
func (t *tower) learnGates(ctx context.Context, s *station) {
	gates, _, err := t.g.st.GatesOf(ctx, s.spec.ID)
	if err == nil {
		s.hold.AddGates(gates...)
	}
}

func (t *tower) restore(ctx context.Context, s *station, knew []string) {
	if !sleep(ctx, restoreGrace) {
		return // the own offer goes first
	}
	n, waiting, err := s.hold.Restore(ctx, knew)
	switch {
	case err != nil:
		if ctx.Err() == nil {
			s.log.Debug("restoring failed; it is tried again", "error", err)
		}
	case n > 0:
		s.log.Warn("the store had lost its memory: what was open before is open again", "scopes", n)
	case waiting != "":
		s.log.Info("a restore waits for a process to say what it remembers", "process", waiting)
	}
}

// send gives the outbox's notifications to the hooks. What a hook does not take is
// tried again, by any tower, under the same key.
func (t *tower) send(ctx context.Context, s *station) {
	var done []string
	var refused []store.Refused
	for {
		notices, err := s.hold.Outbox(ctx, noticeLease, noticesAtOne, done, refused)
		if err != nil {
			if ctx.Err() == nil {
				s.log.Debug("reading the outbox failed; its notifications are sent when it can be read", "error", err)
			}
			return // the leases end by themselves
		}
		if len(notices) == 0 {
			return
		}
		done, refused = nil, nil
		for _, n := range notices {
			if err := t.notify(ctx, s, n); err != nil {
				if t.g.quiet("hook "+n.Key, time.Minute) {
					s.log.Warn("a hook did not take a notification; it is sent again", "type", n.Type, "key", n.Key, "error", err)
				}
				refused = append(refused, store.Refused{Key: n.Key, Delay: 5 * time.Second})
				continue
			}
			done = append(done, n.Key)
		}
	}
}

// notify tells every hook. Only when all have taken it is it done; a hook that had
// taken it before may hear it again, under the same key.
func (t *tower) notify(ctx context.Context, s *station, n wire.Notice) error {
	if n.Type == wire.Reopened && !t.g.cfg.TellReopened {
		return nil
	}
	if n.Type == wire.GroundStop || n.Type == wire.GateStop || n.Type == wire.StateLost {
		// At the moment of a stop much of what waits is in workers' hands: it is counted
		// once they have given it back.
		if d := settleDown - s.now().Sub(time.UnixMilli(n.At)); d > 0 && !sleep(ctx, min(d, settleDown)) {
			return ctx.Err()
		}
	}
	note := t.g.notification(ctx, n)
	ctx, cancel := context.WithTimeout(ctx, hookTimeout)
	defer cancel()
	for _, h := range t.g.hooks() {
		if err := h.Notify(ctx, note); err != nil {
			return err
		}
	}
	return nil
}

func (g *Governor) hooks() []Hook {
	if len(g.cfg.Hooks) > 0 {
		return g.cfg.Hooks
	}
	return []Hook{LogHook(g.log)}
}

// notification makes what a hook is told of an outbox entry.
func (g *Governor) notification(ctx context.Context, n wire.Notice) Notification {
	note := Notification{
		Key: n.Key, Type: n.Type, Scope: n.Scope, Reason: n.Reason, Evidence: n.Evidence, Incident: n.Incident, Records: n.Records,
		Workers: n.Workers, Since: time.UnixMilli(n.At).UTC(), Actor: n.Actor, Runbook: g.cfg.Runbook, Observed: n.Observed, Waiting: Unread, Parked: Unread,
	}
	if scope, err := wire.ParseScope(n.Scope); err == nil {
		note.Waiting, note.Parked = g.waitingAt(ctx, scope)
	}
	describe(&note)
	return note
}

// waitingAt counts the flights that wait at a scope to fly, on its runways, in hand, on
// hold and in the queues that it adopts, and those that are parked.
func (g *Governor) waitingAt(ctx context.Context, scope wire.Scope) (waiting, parked int) {
	gates, _, err := g.st.GatesOf(ctx, scope.Airport)
	if err != nil {
		return Unread, Unread
	}
	waiting, adopted, parked := g.waits(ctx, scope, gates)
	return sum(waiting, adopted), parked
}
