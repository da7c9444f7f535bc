package governor

import (
	"fmt"
	"time"

	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/settle"
)

// DeathError says that what flew a flight died of it: a child process that was ended
// by a signal or at its memory ceiling, unless Traction ended it. It counts like a
// worker's death: the flight waits ten seconds, then flies alone, and the second death
// parks it as POISON_PILL.
type DeathError struct {
	Why string // such as "signal: killed" or "memory ceiling of 256MiB"
}

// Error says of what it died.
func (e *DeathError) Error() string { return "died: " + e.Why }

// leakGrace is how long a pilot may take to return once its context has ended.
const leakGrace = 5 * time.Second

// findLeaks gives up flights whose pilots ignore their ended context: a timeout that a
// pilot can defeat bounds nothing. The flight is settled without it, the pilot is
// counted, and another takes its place.
func (l *lane) findLeaks(now time.Time, sooner func(time.Time)) {
	if l.aloft == 0 {
		return
	}
	if now.Before(l.leakAt) {
		sooner(l.leakAt)
		return
	}
	l.leakAt = now.Add(leakGrace / 5)
	sooner(l.leakAt)
	for _, j := range l.hand {
		off := j.off.Load()
		if j.step != aloft || j.lead != j || off == 0 {
			continue
		}
		if now.Before(time.Unix(0, off).Add(l.spec.Timeout+leakGrace)) || !j.air.CompareAndSwap(inTheAir, leaked) {
			continue // it has time, or is on its way back
		}
		n := l.leaks.Add(1)
		l.pilots.Done() // it is no longer waited for
		l.actual.Add(-1)
		l.hired--
		l.aloft--
		var sent, twins []*job
		for _, x := range j.all() {
			if x.twinOf != nil {
				twins = append(twins, x)
				continue
			}
			sent = append(sent, x)
			x.took, x.died, x.elapsed = true, "LEAKED", now.Sub(time.Unix(0, off))
			x.report = Internal(fmt.Errorf("the pilot did not return %v after its context had ended", leakGrace))
			x.counted = true
			l.s.unsettled.Add(1)
		}
		j.mates = nil
		l.log.Error("a pilot ignores its ended context: the flight is given up, the pilot is left behind", "flight", wire.Visible(j.flight.ID),
			"leaked", n, "workers", l.wanted())
		if l.grounded() {
			l.tooManyLeaks()
		} // otherwise another takes its place
		for _, x := range sent {
			l.settleFlown(x)
		}
		l.requeue(twins)
	}
}

// grounded reports whether so many pilots leaked that the gate clears no more here.
func (l *lane) grounded() bool { return int(l.leaks.Load()) >= max(l.wanted(), 1) }

// leaksReason is of a notification that a process lives and flies nothing more at a gate.
const leaksReason = "LEAKS"

// tooManyLeaks tells people: this process flies nothing more at this gate.
func (l *lane) tooManyLeaks() {
	l.log.Error("all pilots of the gate ignore their ended context: it clears nothing more in this process; restart it, and have the pilot honour its context")
	n := wire.Notice{Key: l.gate.String() + "/" + l.s.g.id + "/LEAKS", Type: wire.WorkerDeaths, Scope: l.gate.String(), Reason: leaksReason,
		Evidence: fmt.Sprintf("%d pilots ignore their ended context", l.leaks.Load()), Workers: []string{l.s.g.id}}
	go func() {
		ctx, cancel := contextWithin(10 * time.Second)
		defer cancel()
		if err := l.s.g.st.AddNotice(ctx, l.s.spec.ID, n); err != nil {
			l.log.Error("telling of it failed", "error", err)
		}
	}()
}

// deathPlan is what becomes of a flight that something died of.
func deathPlan(spent settle.Holds) settle.Plan {
	return settle.Plan{Move: settle.Move{Settlement: settle.Hold, Delay: settle.HeldDelay, Holds: spent}}
}
