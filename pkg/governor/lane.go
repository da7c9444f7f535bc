package governor

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/traction-go/traction/internal/broker"
	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/settle"
)

const (
	maxPerCall    = 256                    // clearances, and settlements, in one call
	freshFor      = 10 * time.Millisecond  // a clearance covers calls that start now
	syncEvery     = 50 * time.Millisecond  // between synchronous calls that confirm acks
	aloneWait     = 5 * time.Second        // of a suspect for a slot, with all else standing still
	askAgain      = 200 * time.Millisecond // after a call that met no status
	maxAloft      = 2 * maxPerCall         // calls handed to the pilots
	storePatience = time.Minute            // in hand while the store is away, then returned
)

// lane is one gate in this process. Its goroutine alone owns the flights in hand.
type lane struct {
	s    *station
	spec Gate
	gate wire.Scope
	log  *slog.Logger
	sub  broker.Subscription

	wake   chan struct{}
	born   atomic.Bool // the scopes have a status and the queues exist
	halted atomic.Bool // the gate takes no work, as last seen

	takeoff   *line
	dismissed chan struct{} // a pilot that takes one goes
	landed    *line         // back from the pilots, flown or not
	replied   chan reply
	published chan published
	synced    chan synced
	switched  chan error // the consumer was paused or resumed

	// owned by the lane's goroutine
	hand       map[string]*job
	queue      []*job // waiting, in the order of arrival
	suspects   []*job // waiting for their turn alone
	settles    []*job
	gives      []*job
	marks      []string
	acked      []string // landing marks whose ack is not yet known to have arrived
	ackedIn    uint64   // the session of acked
	syncing    bool
	lastSync   time.Time
	aloft      int
	seq        uint64
	calling    bool
	callFails  *backoff
	callAfter  time.Time
	failing    time.Time // since when calls fail
	consuming  bool
	switching  bool
	prefetch   int
	notBefore  time.Time // no clearance is asked before
	longUntil  time.Time // a wait too long for the hand
	rtt        time.Duration
	flight     time.Duration // of one call by a pilot, on average
	rate       rate
	hired      int    // pilots that are neither dismissed nor leaked
	pins       uint64 // the last pin of flights that fly together
	draining   bool
	drained    bool
	switchAt   time.Time // the consumer is not switched before
	unsent     []*job    // moves whose copy is still to be published
	publishing int       // batches being published
	giveUpAt   time.Time // while draining: a copy is not published again after
	repeat     *outgoing // the call that was not answered

	busy   atomic.Int64 // load, for whoever flies suspects
	leakAt time.Time    // leaks are looked for then
	leaks  atomic.Int64 // pilots that ignore their ended context
	actual atomic.Int64 // pilots that there are

	wantPilots atomic.Int64
	wantSize   atomic.Int64
	pilots     sync.WaitGroup
	flying     context.Context
	fresh      atomic.Bool  // a status changed: what was waited for may be over
	rttNow     atomic.Int64 // rtt, for the pilots
	inHand     sync.Map     // flight ids, for cleanNotes, with when they were made
}

func newLane(s *station, spec Gate) *lane {
	gate := wire.Scope{Airport: s.spec.ID, Gate: spec.ID}
	l := &lane{
		s: s, spec: spec, gate: gate, log: s.g.log.With("scope", gate.String()),
		wake: make(chan struct{}, 1), takeoff: newLine(), dismissed: make(chan struct{}, maxWorkers),
		landed: newLine(), replied: make(chan reply, 1), published: make(chan published, 16),
		synced: make(chan synced, 1), switched: make(chan error, 1), hand: map[string]*job{},
		callFails: newBackoff(50*time.Millisecond, 2*time.Second),
		seq:       firstNumber(s.g.runsSoFar()),
	}
	l.halted.Store(true)
	l.scaled(wire.Status{})
	return l
}

// has reports whether the flight is in hand; any goroutine may ask.
func (l *lane) has(flight string) bool {
	_, ok := l.inHand.Load(flight)
	return ok
}

// run works until drain has ended: stop is the signal to drain, and hard the
// moment to give up waiting for flights in the air.
func (l *lane) run(stop, hard context.Context) {
	if !l.open(stop) {
		return
	}
	flying, land := context.WithCancel(context.WithoutCancel(hard))
	defer land()
	release := context.AfterFunc(hard, land) // the second deadline cancels what is in the air
	defer release()
	l.flying = flying
	l.loop(stop, hard)
	close(l.takeoff.ready)
	land()
	l.awaitPilots()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := l.sub.Close(ctx); err != nil {
		l.log.Warn("closing the consumer failed; the broker gives its messages back when the connection ends", "error", err)
	}
}

// hire starts a pilot. One that leaks is not waited for.
func (l *lane) hire() {
	l.pilots.Add(1)
	l.actual.Add(1)
	signal(l.s.beatUp) // people see it at once
	go func() {
		if l.pilot(l.flying) {
			l.actual.Add(-1)
			signal(l.s.beatUp)
			l.pilots.Done()
		}
	}()
}

// awaitPilots waits for the pilots, but not for ever for those that ignore their
// ended context.
func (l *lane) awaitPilots() {
	done := make(chan struct{})
	go func() { l.pilots.Wait(); close(done) }()
	timer := time.NewTimer(leakGrace)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
		l.log.Error("leaving with pilots that ignore their ended context")
	}
}

// open waits for the scope's birth, then consumes, paused until something flies.
func (l *lane) open(stop context.Context) bool {
	for !l.born.Load() {
		select {
		case <-stop.Done():
			return false
		case <-l.wake:
		}
	}
	b := newBackoff(100*time.Millisecond, 5*time.Second)
	for {
		l.prefetch = l.wantPrefetch()
		sub, err := l.s.g.bk.Subscribe(stop, l.s.g.ns.Runway(l.gate), l.prefetch)
		if err == nil {
			l.sub, l.consuming = sub, true
			return true
		}
		if stop.Err() != nil {
			return false
		}
		l.log.Warn("consuming the runway failed; it is tried again", "error", err)
		signal(l.s.bear) // the queue may be gone
		if !b.wait(stop) {
			return false
		}
	}
}

// The states of a job that is aloft, for the one question of who has it.
const (
	inTheAir int32 = iota
	returned       // the pilot gave it back
	leaked         // the lane gave it up: the pilot ignores its ended context
)

// pilot flies what it is handed. It looks once more, at the very moment of
// take-off, whether the clearance still holds. It ends when its flight was given up:
// another has taken its place, and it returns false.
func (l *lane) pilot(ctx context.Context) bool {
	for {
		var lead *job
		select {
		case <-l.dismissed:
			return true
		case _, open := <-l.takeoff.ready:
			if !open {
				return true
			}
			lead = l.takeoff.take()
		}
		g := lead.all()
		took := l.mayTakeOff(lead)
		var out []flown
		if took {
			lead.off.Store(time.Now().UnixNano())
			out = l.fly(ctx, g)
			if !lead.air.CompareAndSwap(inTheAir, returned) {
				l.leaks.Add(-1)
				return false
			}
		}
		for i, j := range g {
			if j.took = took; !took {
				continue
			}
			j.brought(out[i], lead)
			if j.fate == isSettled && (j.report.Outcome != settle.Landed || j.died != "") {
				// From here on nothing is cleared for the airport until the settle
				// script has answered.
				j.counted = true
				l.s.unsettled.Add(1)
			}
		}
		l.landed.put(lead)
	}
}

func (l *lane) mayTakeOff(j *job) bool {
	return l.s.unsettled.Load() == 0 && !l.s.halted.Load() && !l.halted.Load() && !l.s.leaving.Load() &&
		time.Since(j.asked) <= freshFor+time.Duration(l.rttNow.Load())
}

// loop is the lane: it hears one event, takes in what else is there, and acts.
func (l *lane) loop(stop, hard context.Context) {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	stopped := stop.Done()
	for {
		next := l.act()
		if l.drained {
			return
		}
		timer.Reset(max(next, 0))
		select {
		case <-stopped:
			stopped = nil
			l.drain()
		case <-hard.Done():
			l.abandon()
			return
		case d, ok := <-l.sub.Deliveries():
			if ok {
				l.deliver(d)
			}
		case session := <-l.sub.Lost():
			l.lost(session)
		case <-l.landed.ready:
			l.back(l.landed.take())
		case r := <-l.replied:
			l.answer(r)
		case p := <-l.published:
			l.confirmed(p)
		case s := <-l.synced:
			l.confirmAcks(s)
		case err := <-l.switched:
			l.hasSwitched(err)
		case <-l.wake:
			if l.fresh.Swap(false) {
				l.notBefore, l.longUntil = time.Time{}, time.Time{}
			}
		case <-timer.C:
		}
		l.takeIn()
	}
}

// takeIn drains what else has arrived, so that one call serves many flights.
func (l *lane) takeIn() {
	for range maxPerCall {
		select {
		case <-l.landed.ready:
			l.back(l.landed.take())
			continue
		default:
		}
		break
	}
	for range maxPerCall {
		select {
		case d, ok := <-l.sub.Deliveries():
			if ok {
				l.deliver(d)
				continue
			}
		default:
		}
		break
	}
}

// act does whatever can be done now, and says how long nothing else can.
func (l *lane) act() time.Duration {
	now := time.Now()
	l.rate.tick(now)
	next := time.Minute
	sooner := func(t time.Time) {
		if !t.IsZero() {
			next = min(next, t.Sub(now))
		}
	}
	l.staff()
	l.steer(now, sooner)
	l.resend(now, sooner)
	l.flySuspects(now, sooner)
	l.findLeaks(now, sooner)
	if len(l.acked) > 0 && !l.syncing {
		if due := l.lastSync.Add(syncEvery); l.draining || !now.Before(due) {
			l.sync()
		} else {
			sooner(due)
		}
	}
	if !l.calling {
		if now.Before(l.callAfter) {
			sooner(l.callAfter)
		} else if wait := l.call(now); wait > 0 {
			next = min(next, wait)
		}
	}
	l.busy.Store(l.load())
	if l.draining && len(l.hand) == 0 && len(l.unsent) == 0 && l.publishing == 0 && len(l.acked) == 0 && len(l.marks) == 0 && !l.calling && !l.syncing && !l.switching && !l.consuming && len(l.sub.Deliveries()) == 0 {
		l.drained = true
	}
	if now.Before(l.longUntil) {
		sooner(l.longUntil) // one that is over asks for nothing more
	}
	return next
}

// load is what of this lane is in the air, asked for or unanswered.
func (l *lane) load() int64 {
	n := int64(l.aloft + len(l.settles))
	if l.calling || l.repeat != nil {
		n++
	}
	return n
}

// forget takes a flight out of hand.
func (l *lane) forget(j *job) {
	if l.hand[j.flight.ID] == j {
		delete(l.hand, j.flight.ID)
		l.inHand.Delete(j.flight.ID)
	}
	l.returnPermit(j)
	l.release(j)
	if l.s.g.solo.active.Load() {
		l.s.g.solo.left(j)
	}
	behind := j.behind
	j.behind = nil
	for _, d := range behind {
		l.deliver(d)
	}
}

func (l *lane) unqueue(j *job) {
	if i := slices.Index(l.queue, j); i >= 0 {
		l.queue = slices.Delete(l.queue, i, i+1)
	}
	if i := slices.Index(l.suspects, j); i >= 0 {
		l.suspects = slices.Delete(l.suspects, i, i+1)
	}
}
