package governor

import (
	"context"
	"log/slog"
	"math"
	"time"

	"github.com/traction-go/traction/internal/wire"
)

// shortRunway is how many prefetches an intake keeps on a runway: enough that its
// pilots never wait for it, and few enough to be left behind.
const shortRunway = 10

// open reports whether the airport and every gate that the intake feeds take work.
// A canary does; its tokens bound how much.
func (in *intake) open() bool {
	ok, _ := in.tokens()
	return ok
}

// tokens reports whether the intake may move at all, and how many flights the
// canaries on the way still take.
func (in *intake) tokens() (open bool, left int) {
	left = math.MaxInt
	ids := []string{""}
	for _, l := range in.fed {
		ids = append(ids, l.spec.ID)
	}
	now := in.s.now()
	for _, id := range ids {
		st, known := in.s.hold.Last(id)
		if !known {
			return false, 0
		}
		switch shown := st.Shown(now); shown {
		case wire.Open:
		case wire.Canary:
			left = min(left, max(st.CanaryN-st.CanaryLanded, 0))
		default:
			in.tell(st, shown)
			return false, 0
		}
	}
	for _, l := range in.fed {
		if l.wanted() == 0 {
			in.tellScaled(l.gate)
			return false, 0 // what waits stays where it is
		}
	}
	if in.stood {
		in.stood = false
		in.log.Debug("the adopted queue is taken from again")
	}
	return true, left
}

// tell says, once, that the intake stands still.
func (in *intake) tell(st wire.Status, shown wire.State) {
	if in.stood {
		return
	}
	in.stood = true
	level := slog.LevelInfo
	if shown == wire.Throttled || shown == wire.Birth {
		level = slog.LevelDebug // a matter of moments
	}
	in.log.Log(context.Background(), level, "nothing is taken from the adopted queue: what waits there stays", "because", st.Scope.String(), "state", string(shown))
}

// tellScaled says the same of a gate that an operator has left without workers.
func (in *intake) tellScaled(gate wire.Scope) {
	if in.stood {
		return
	}
	in.stood = true
	in.log.Info("nothing is taken from the adopted queue: what waits there stays", "because", gate.String(), "workers", 0)
}

// allowance is how much an intake may move.
type allowance struct {
	room  int // flights that the runways still take; 0: none, or that could not be read
	least int // the room that is worth starting for
	hand  int // how many to have in hand at once
}

// mayTake says how many messages to have in hand; 0 with the time after which to ask
// again.
func (in *intake) mayTake(ctx context.Context) (n int, wait time.Duration) {
	a := in.allowed(ctx)
	if a.room == 0 || a.room < a.least {
		return 0, in.drain(a.least - a.room)
	}
	return a.atOnce(), 0
}

// atOnce is how many to have in hand.
func (a allowance) atOnce() int { return min(a.hand, a.room, maxIntake) }

// allowed looks at the scopes, the runways and the bounds of the run.
func (in *intake) allowed(ctx context.Context) allowance {
	open, tokens := in.tokens()
	if !open {
		return allowance{}
	}
	a := allowance{room: math.MaxInt}
	ready := 0
	for _, l := range in.fed {
		n, exists, err := in.s.g.bk.Depth(ctx, in.s.g.ns.Runway(l.gate))
		if err != nil || !exists {
			in.warn(ctx, "looking at a runway failed; nothing is taken from the adopted queue meanwhile", err)
			return allowance{}
		}
		ready += n
		short := min(shortRunway*l.prefetchAt(l.perSecond(in.s.g.stats)), tokens)
		if room := max(short-n, 0); room < a.room {
			a = allowance{room, (short + 1) / 2, max(short/4, 1)}
		}
	}
	if left, bounded := in.permitsLeft(ready); bounded && left < a.room {
		a = allowance{left, 1, left} // however few: the run ends with them
	}
	return a
}

// permitsLeft says how many flights a bounded run still needs to be moved. It errs
// to the low side: what has just changed hands counts twice.
func (in *intake) permitsLeft(ready int) (left int, bounded bool) {
	g := in.s.g
	inHand := 0
	for _, l := range in.fed {
		l.inHand.Range(func(any, any) bool { inHand++; return true })
	}
	unflown := int(in.unflownNow() - in.unflown) // they used up none
	g.permits.mu.Lock()
	defer g.permits.mu.Unlock()
	p := &g.permits
	if p.max == 0 {
		return 0, false
	}
	// The second bound knows of flights that are between the runway and the hand.
	return max(min(p.max-p.used-ready-inHand, p.max-p.moved+unflown), 0), true
}

// unflownNow counts the flights that this process settled without a call.
func (in *intake) unflownNow() (n int64) {
	s := in.s.g.stats
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range in.fed {
		v := s.gate(l.gate)
		for _, c := range v.Settled {
			n += c
		}
		n -= v.Flown
	}
	return n
}

// perSecond is how many calls the gate makes here, smoothed.
func (l *fedLane) perSecond(s *stats) float64 {
	s.mu.Lock()
	flown := s.gate(l.gate).Flown
	s.mu.Unlock()
	l.pace.n += int(flown - l.seen)
	l.seen = flown
	l.pace.tick(time.Now())
	return l.pace.perSecond()
}

// The bounds of how often the runways are looked at.
const (
	lookSoonest = 20 * time.Millisecond
	lookLatest  = intakeTick
)

// drain guesses when n flights will have left the runways.
func (in *intake) drain(n int) time.Duration {
	var rate float64
	for _, l := range in.fed {
		rate = max(rate, l.pace.perSecond())
	}
	if n <= 0 || rate <= 0 {
		return lookLatest
	}
	return min(max(time.Duration(float64(n)/rate*float64(time.Second)), lookSoonest), lookLatest)
}
