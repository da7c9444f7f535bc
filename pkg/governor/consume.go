package governor

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/traction-go/traction/internal/broker"
	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/settle"
)

// steer pauses the consumer while its flights are to stay on the runway, and
// resumes it when they may fly.
func (l *lane) steer(now time.Time, sooner func(time.Time)) {
	stay := l.shouldStay(now)
	if stay {
		l.returnWaiting()
	}
	if l.switching {
		return
	}
	grow := !stay && l.consuming && l.wantPrefetch() > 2*l.prefetch
	switch {
	case (stay || grow) && l.consuming:
	case !stay && !l.consuming && !l.draining:
		l.prefetch = l.wantPrefetch()
	default:
		return
	}
	if now.Before(l.switchAt) {
		sooner(l.switchAt)
		return
	}
	l.switching = true
	pause, prefetch := l.consuming, l.prefetch
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), 15*time.Second)
		defer cancel()
		if pause {
			l.switched <- l.sub.Pause(ctx)
		} else {
			err := l.sub.Resume(ctx, prefetch)
			l.lookForRunway(ctx)
			l.switched <- err
		}
	}()
}

// lookForRunway has the runway declared again where somebody deleted it while
// nobody consumed from it: no session was lost then, and none will be. A broker that
// does not answer loses one, or has.
func (l *lane) lookForRunway(ctx context.Context) {
	if _, stands, err := l.s.g.bk.Depth(ctx, l.s.g.ns.Runway(l.gate)); err == nil && !stands {
		signal(l.s.bear)
	}
}

func (l *lane) hasSwitched(err error) {
	l.switching = false
	if err != nil {
		l.switchAt = time.Now().Add(500 * time.Millisecond)
		if l.s.g.quiet("switch "+l.gate.String(), 10*time.Second) {
			l.log.Warn("pausing or resuming the consumer failed; it is tried again", "error", err)
		}
		return
	}
	l.consuming = !l.consuming
}

// shouldStay reports whether the gate's flights are to stay on the runway: in
// hand they would only wait, and grow old there.
func (l *lane) shouldStay(now time.Time) bool {
	if l.draining || l.grounded() || l.wanted() == 0 || now.Before(l.longUntil) || !l.failing.IsZero() && now.Sub(l.failing) > storePatience {
		return true
	}
	if a, ok := l.s.hold.Last(""); ok && standsStill(a) {
		return true
	}
	g, ok := l.s.hold.Last(l.spec.ID)
	if !ok || !standsStill(g) {
		return false
	}
	parks := g.State == wire.Stopped && !g.Lost && l.spec.OnStop == settle.ParkOnStop
	return !parks
}

// standsStill reports whether a known status lets nothing fly. An unknown one is
// a matter of a moment, until the scope is born.
func standsStill(s wire.Status) bool {
	return s.State != wire.Unknown && s.State != wire.Birth && !s.Flies()
}

// wantPrefetch is the pilots plus what they will need soon: the slots of the next
// ten seconds, or, without slots, what the gate's own rate uses up in a second.
func (l *lane) wantPrefetch() int { return l.prefetchAt(l.rate.perSecond()) }

// maxPrefetch bounds what a gate of large batches holds in hand.
const maxPrefetch = 5000

// prefetchAt is the prefetch for a gate that flies so many a second.
func (l *lane) prefetchAt(perSecond float64) int {
	size := l.size()
	pilots := max(l.wanted(), 1) * size
	n := 2 * pilots
	if s := l.s.spec.Slots; s.N > 0 {
		soon := int(float64(s.N)*float64(10*time.Second)/float64(s.Per) + 1)
		if !l.slotPerFlight() {
			soon *= size
		}
		n = pilots + soon
	} else {
		n += int(perSecond)
	}
	return min(max(n, 2), max(600, min(2*pilots, maxPrefetch)))
}

// returnWaiting gives back what waits in hand, in its place. What may have a note
// has it removed first.
func (l *lane) returnWaiting() {
	if len(l.queue) == 0 {
		return
	}
	for _, j := range l.queue {
		l.giveBack(j)
	}
	l.queue = l.queue[:0]
}

func (l *lane) giveBack(j *job) {
	if j.noted {
		j.step = giving
		l.gives = append(l.gives, j)
		return
	}
	l.nack(j)
}

// nack returns the flight to its place on the runway, and forgets it.
func (l *lane) nack(j *job) {
	l.forget(j)
	if j.dead {
		return
	}
	l.s.g.stats.returned(l.gate)
	l.s.g.stats.gaveBack(l.gate, &j.flight)
	if err := j.d.Nack(); err != nil && !errors.Is(err, broker.ErrStale) {
		l.log.Debug("returning a flight failed; the broker hands it out again", "flight", j.flight.ID, "error", err)
	}
}

// lost hears that a session has ended: what came with it will be handed out again.
func (l *lane) lost(session uint64) {
	l.log.Info("the runway's channel was lost; its flights will be handed out again", "session", session)
	signal(l.s.bear) // the queue itself may be gone
	if l.ackedIn <= session {
		l.acked = nil // those acks may not have arrived: the marks stay
	}
	for _, j := range l.hand {
		j.behind = slices.DeleteFunc(j.behind, func(d broker.Delivery) bool { return d.Session() <= session })
		if j.dead || j.d.Session() > session {
			continue
		}
		j.dead = true
		l.s.g.stats.gaveBack(l.gate, &j.flight)
		if j.step == queued || j.step == suspected {
			l.unqueue(j)
			l.giveBack(j)
		}
	}
}

// rate counts what the gate flies in a second, smoothed.
type rate struct {
	n     int
	since time.Time
	avg   float64
}

func (r *rate) add() { r.n++ }

func (r *rate) tick(now time.Time) {
	if r.since.IsZero() {
		r.since = now
		return
	}
	d := now.Sub(r.since)
	if d < 250*time.Millisecond {
		return
	}
	r.avg = 0.5*r.avg + 0.5*float64(r.n)/d.Seconds()
	r.n, r.since = 0, now
}

func (r *rate) perSecond() float64 { return r.avg }
