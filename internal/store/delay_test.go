package store_test

import (
	"context"
	"testing"
	"time"

	"github.com/traction-go/traction/internal/store"
	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/settle"
)

func (b *board) sweep() {
	b.t.Helper()
	if _, err := b.a.Sweep(context.Background(), 24*time.Hour, 10*time.Minute); err != nil {
		b.t.Fatal(err)
	}
}

// delayed brings the gate under a ground delay, with three flights in the air from
// before.
func delayed(t *testing.T, test func(b *board)) {
	onBoard(t, store.Slots{}, func(b *board) {
		b.take(8)
		vs := b.end(5, settle.Transient)
		if !b.status("contacts").Delayed {
			b.t.Fatal("five TRANSIENTs of distinct records did not delay the gate")
		}
		for _, v := range vs {
			if v != store.Make {
				b.t.Fatalf("verdicts %v: what led to the delay is held", vs)
			}
		}
		test(b)
	})
}

func TestADelayedGateFliesOneProbeAtATime(t *testing.T) {
	delayed(t, func(b *board) {
		for i, step := range []int64{30, 120, 600, 600, 600} {
			r := b.clear("p", "q")
			want(b.t, r, store.Wait, store.Wait)
			if d := r.Clearance[0].Until.UnixMilli() - b.now; d != step*1000 {
				b.t.Fatalf("probe %d is due in %d ms, want %d s", i, d, step)
			}
			b.at(step * 1000)
			r = b.clear("p", "q")
			want(b.t, r, store.Cleared, store.Wait)
			// the probe asked for again is the same probe
			want(b.t, b.clear("q", "p"), store.Wait, store.Cleared)
			v := b.call(store.FlightCall{Settle: []store.Settled{b.settled(r, "p", "p", settle.Transient)}}).Verdicts[0]
			if v != store.Otherwise {
				b.t.Fatalf("verdict %d: a probe that ends TRANSIENT is deferred, off budget", v)
			}
		}
	})
}

func TestWhatEndsADelay(t *testing.T) {
	for o, ends := range map[settle.Outcome]bool{settle.Landed: true, settle.FlightFault: true, settle.GateFault: true, settle.Internal: false, settle.Transient: false, settle.RateLimit: false} {
		t.Run(o.String(), func(t *testing.T) {
			delayed(t, func(b *board) {
				b.end(1, o) // cleared before the delay began
				if !b.status("contacts").Delayed {
					b.t.Fatalf("%s of a flight from before ended the delay", o)
				}
				b.forget(b.keys.Airport() + "-nothing")
				b.set(b.keys.Airport(), "throttled_until", 0)
				b.at(30000)
				b.take(1)
				b.air = b.air[2:]
				b.end(1, o)
				if b.status("contacts").Delayed == ends {
					b.t.Errorf("%s of the probe: delayed is %v", o, !ends)
				}
			})
		})
	}
}

// With the clock behind the epochs all clearances begin at one instant; what was
// cleared before the delay still does not end it.
func TestADelayTellsBeforeFromAfterWithTheClockSetBack(t *testing.T) {
	onBoard(t, store.Slots{}, func(b *board) {
		b.pause("contacts")
		b.reopen("contacts", 0)
		b.now -= 5000
		b.d.setTime(b.now)
		b.beat()
		b.take(6)
		b.end(5, settle.Transient)
		b.end(1, settle.Landed)
		if !b.status("contacts").Delayed {
			b.t.Fatal("a landing from before ended the delay")
		}
		b.at(30000)
		b.take(1)
		b.end(1, settle.Landed)
		if b.status("contacts").Delayed {
			b.t.Error("the probe's landing did not end it")
		}
	})
}

// A probe written before the clock was set back by an hour is not waited for.
func TestAProbeIsDueWhenTheClockWasSetBack(t *testing.T) {
	delayed(t, func(b *board) {
		b.now -= 3600_000
		b.d.setTime(b.now)
		b.beat()
		b.beat()
		want(b.t, b.clear("p"), store.Cleared)
	})
}

func TestADelayIsToldAfterTenMinutesAndItsEndToo(t *testing.T) {
	delayed(t, func(b *board) {
		id := b.status("contacts").DelayID
		if in := b.incident(id); in.Kind != wire.GroundDelay || in.Faults != 5 || len(in.Records) != 5 {
			b.t.Fatalf("%+v", in)
		}
		b.steady(10 * time.Second)
		b.sweep()
		if n := b.told(); len(n) != 0 {
			b.t.Fatalf("told at once: %+v", n)
		}
		b.at(600_000)
		b.beat()
		b.sweep()
		b.sweep()
		if n := b.told(); len(n) != 1 || n[0].Key != id+"/GROUND_DELAY" || len(n[0].Records) != 5 {
			b.t.Fatalf("%+v", n)
		}
		b.take(1)
		b.air = b.air[3:]
		b.end(1, settle.Landed)
		n := b.told()
		if len(n) != 2 || n[1].Key != id+"/GROUND_DELAY/end" || b.incident(id).ClosedAt == 0 {
			b.t.Errorf("%+v", n)
		}
	})
}

func TestAShortDelayIsNotTold(t *testing.T) {
	delayed(t, func(b *board) {
		b.at(30000)
		b.take(1)
		b.air = b.air[3:]
		b.end(1, settle.Landed)
		b.sweep()
		if n := b.told(); len(n) != 0 {
			b.t.Errorf("%+v", n)
		}
	})
}

// A gate without transient holds still has probes.
func TestADelayWithoutStepsHasTheDefaults(t *testing.T) {
	onBoard(t, store.Slots{}, func(b *board) {
		b.cfg.Steps = nil
		b.take(5)
		b.end(5, settle.Transient)
		if d := b.clear("p").Clearance[0].Until.UnixMilli() - b.now; d != 30000 {
			b.t.Errorf("the probe is due in %d ms", d)
		}
	})
}

// Throttles.

func (b *board) limited(after time.Duration) {
	b.t.Helper()
	f := b.air[0]
	b.air = b.air[1:]
	s := b.settled(b.from[f], f, f, settle.RateLimit)
	s.After = after
	b.call(store.FlightCall{Settle: []store.Settled{s}})
}

func TestARateLimitThrottlesOncePerWindow(t *testing.T) {
	onBoard(t, store.Slots{}, func(b *board) {
		b.take(4)
		b.limited(10 * time.Second)
		until := b.status("").ThrottledUntil
		if until.UnixMilli() != b.now+10000 {
			b.t.Fatalf("throttled for %d ms", until.UnixMilli()-b.now)
		}
		r := b.clear("x")
		want(b.t, r, store.Throttled)
		if !r.Clearance[0].Until.Equal(until) {
			b.t.Error(r.Clearance[0].Until)
		}
		b.at(5000)
		b.limited(10 * time.Second) // cleared before the throttle began
		b.at(5001)
		b.limited(10 * time.Second) // late
		if !b.status("").ThrottledUntil.Equal(until) {
			b.t.Fatal("one burst throttled twice")
		}
		b.take(1)
		b.air = b.air[1:]
		b.limited(10 * time.Second)
		if got := b.status("").ThrottledUntil.UnixMilli(); got != b.now+10000 {
			b.t.Errorf("a new 429 did not throttle: %d", got-b.now)
		}
	})
}

func TestAThrottleLastsAsLongAsItWasToldUpToACap(t *testing.T) {
	for _, c := range []struct {
		slots store.Slots
		after time.Duration
		want  time.Duration
	}{
		{store.Slots{}, 0, 30 * time.Second},
		{store.Slots{N: 10, Per: 7 * time.Second, Stamp: 1}, 0, 7 * time.Second},
		{store.Slots{N: 10, Per: 7 * time.Second, Stamp: 1}, time.Minute, time.Minute},
		{store.Slots{}, 24 * time.Hour, 15 * time.Minute},
	} {
		onBoard(t, c.slots, func(b *board) {
			b.take(1)
			b.limited(c.after)
			if got := b.status("").ThrottledUntil.UnixMilli() - b.now; got != c.want.Milliseconds() {
				b.t.Errorf("slots %+v, Retry-After %v: throttled for %d ms", c.slots, c.after, got)
			}
		})
	}
}

func TestAThrottleEndsWhenTheClockWasSetBack(t *testing.T) {
	onBoard(t, store.Slots{}, func(b *board) {
		b.take(3)
		b.limited(10 * time.Second)
		b.now -= 3600_000
		b.d.setTime(b.now)
		b.beat()
		b.beat()
		b.limited(10 * time.Second) // of the same burst
		want(b.t, b.clear("x"), store.Cleared)
	})
}

func TestAReopenEndsThrottleAndDelay(t *testing.T) {
	delayed(t, func(b *board) {
		b.limited(time.Minute)
		if a, g := b.reopen("", 0), b.reopen("contacts", 0); a != store.Ended || g != store.Ended {
			b.t.Errorf("%s, %s: a reopen that ended something says so", a, g)
		}
		if a, g := b.reopen("", 0), b.reopen("contacts", 0); a != store.OpenAlready || g != store.OpenAlready {
			b.t.Errorf("%s, %s: an open scope says so", a, g)
		}
		want(b.t, b.clear("x", "y"), store.Cleared, store.Cleared)
	})
}
