package governor

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/traction-go/traction/internal/store"
	"github.com/traction-go/traction/internal/wire"
)

// counted plays what the store keeps of bursts: the ring, and when a rest ended.
type counted struct{ store.Left }

func fresh() counted { return counted{store.Left{Minutes: map[int64]int64{}}} }

func (c *counted) burst(at time.Time, n int64) {
	m := minuteOf(at)
	if _, ok := c.Minutes[m]; !ok {
		last := int64(0)
		for k := range c.Minutes {
			if k <= m-paceKept {
				delete(c.Minutes, k)
			} else {
				last = max(last, k)
			}
		}
		if last < m-5 {
			c.From, c.First, c.Early = at, n, 0
		}
	}
	c.Minutes[m] += n
	switch age := at.Sub(c.From); {
	case age <= 5*time.Second:
		c.Early, c.EarlyAt = c.Early+n, at
		fallthrough
	case age <= 2*time.Minute:
		c.Last = at
	}
}

// Work that comes in bursts reads as what it is within one burst, whenever one looks.
func TestBurstsReadAsTheirPace(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		begin := time.Unix(1_700_000_000, rapid.Int64Range(0, 60e9).Draw(t, "begin ns"))
		every := time.Duration(rapid.IntRange(1, 120).Draw(t, "every s")) * time.Second
		size := rapid.Int64Range(1, 1000).Draw(t, "size")
		look := time.Duration(rapid.Int64Range(int64(paceLeast), int64(3*time.Hour)).Draw(t, "look ns"))
		c := fresh()
		for at := time.Duration(0); at <= look; at += every {
			c.burst(begin.Add(at), size)
		}
		p := paceOf(begin.Add(look), c.Left, time.Time{})
		if !p.Known() || p.Over < paceLeast || p.Over > paceKept*time.Minute {
			t.Fatalf("measured over %v", p.Over)
		}
		truth := float64(size) / every.Seconds()
		if off := math.Abs(p.PerSecond - truth); off > float64(size)/p.Over.Seconds()+1e-9 {
			t.Fatalf("%d every %v is %.3f/s; read as %.3f/s over %v", size, every, truth, p.PerSecond, p.Over)
		}
	})
}

// The case it is for: twenty-five every half minute.
func TestTwentyFiveEveryHalfMinute(t *testing.T) {
	begin := time.Unix(1_700_000_007, 0)
	c := fresh()
	low, high := math.Inf(1), 0.0
	for s := range 3600 {
		now := begin.Add(time.Duration(s) * time.Second)
		if s%30 == 0 {
			c.burst(now, 25)
		}
		if s < 600 {
			continue
		}
		p := paceOf(now, c.Left, time.Time{})
		low, high = min(low, p.PerSecond), max(high, p.PerSecond)
	}
	if low < 0.79 || high > 0.88 {
		t.Errorf("0.83/s was read as %.2f/s to %.2f/s", low, high)
	}
}

// From the second burst on it is told, and it is within a fifth, at any moment between two bursts.
func TestAFirstPaceIsWithinAFifth(t *testing.T) {
	for _, every := range []time.Duration{10 * time.Second, 20 * time.Second, 28 * time.Second, 30 * time.Second, 40 * time.Second} {
		c := fresh()
		begin := time.Unix(1_700_000_013, 0)
		for s := time.Duration(0); s < 5*time.Minute; s += time.Second {
			if s%every == 0 {
				c.burst(begin.Add(s), 25)
			}
			p := paceOf(begin.Add(s), c.Left, time.Time{})
			if known := s >= every; p.Known() != known {
				t.Fatalf("25 every %v: %v after the first the pace is %+v; want one from the second on", every, s, p)
			}
			if !p.Known() {
				continue
			}
			truth := 25 / every.Seconds()
			if off := truth/p.PerSecond - 1; math.Abs(off) > 0.2 {
				t.Errorf("25 every %v: %v after the first the time that is left is off by %.0f %%", every, s, 100*off)
			}
		}
	}
}

// A reopen begins anew: nothing from before it counts, and nothing is made up.
func TestAReopenBeginsThePaceAnew(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		reopened := time.Unix(1_700_000_000, rapid.Int64Range(0, 60e9).Draw(t, "reopened ns"))
		c := fresh()
		for s := -600; s < 0; s++ {
			c.burst(reopened.Add(time.Duration(s)*time.Second), 1_000_000)
		}
		look := time.Duration(rapid.IntRange(0, 1200).Draw(t, "look s")) * time.Second
		for s := time.Second; s <= look; s += time.Second {
			c.burst(reopened.Add(s), 2)
		}
		p := paceOf(reopened.Add(look), c.Left, reopened)
		if look < paceLeast && p.Known() {
			t.Fatalf("%v after a reopen the pace is %+v", look, p)
		}
		if look >= paceLeast+time.Minute && !p.Known() {
			t.Fatalf("%v after a reopen there is no pace", look)
		}
		if p.Known() && math.Abs(p.PerSecond-2) > 0.05 {
			t.Fatalf("%v after a reopen 2/s is read as %.2f/s", look, p.PerSecond)
		}
	})
}

func TestNoPaceIsMadeUp(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	left := func(from time.Duration, m int64) store.Left {
		return store.Left{From: now.Add(from), Minutes: map[int64]int64{minuteOf(now) + m: 9}}
	}
	for what, p := range map[string]Pace{
		"never anything":        paceOf(now, store.Left{}, time.Time{}),
		"a clock from tomorrow": paceOf(now, left(time.Hour, 0), time.Time{}),
		"a burst":               paceOf(now, store.Left{From: now.Add(-time.Minute), Early: 9, EarlyAt: now.Add(-time.Minute), Last: now.Add(-time.Minute), Minutes: map[int64]int64{minuteOf(now) - 1: 9}}, time.Time{}),
		"a minute":              paceOf(now, left(-time.Minute, 0), time.Time{}),
		"reopened just now":     paceOf(now, left(-time.Hour, 0), now),
	} {
		if p.Known() {
			t.Errorf("%s: %+v", what, p)
		}
	}
	p := paceOf(now, store.Left{From: now.Add(-time.Hour), Minutes: map[int64]int64{minuteOf(now) + 1: 9, minuteOf(now) - paceKept: 9}}, time.Time{})
	if !p.Known() || p.PerSecond != 0 || p.Over < 15*time.Minute {
		t.Errorf("out of the ring: %+v, want nothing for a quarter of an hour", p)
	}
}

func TestDrainAt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		waits := rapid.IntRange(-1, 1_000_000).Draw(t, "waits")
		p := Pace{PerSecond: rapid.Float64Range(0, 10_000).Draw(t, "per second"), Over: time.Minute}
		d := drainAt(waits, p)
		switch {
		case waits == 0 && d != 0, waits < 0 && d != Unknown, waits > 0 && p.PerSecond == 0 && d != Unknown, waits > 0 && d == 0:
			t.Fatalf("%d at %v/s: %v", waits, p.PerSecond, d)
		case waits > 0 && d > 0 && d < drainAt(waits-1, p):
			t.Fatalf("%d at %v/s take less than one flight fewer", waits, p.PerSecond)
		case d > time.Second && math.Abs(d.Seconds()*p.PerSecond-float64(waits)) > 1e-3*float64(waits):
			t.Fatalf("%d at %v/s: %v", waits, p.PerSecond, d)
		}
	})
}

func TestTheLowestCeilingIsNamed(t *testing.T) {
	soon := time.Unix(1_700_000_000, 0)
	open := AirportInfo{State: wire.Open}
	slots := AirportInfo{State: wire.Open, Slots: 20, Window: time.Second}
	gate := GateInfo{State: wire.Open, WorkersActual: 4, Call: 9 * time.Second, Batch: 1}
	quick, batch := gate, gate
	quick.Call, batch.Batch = 10*time.Millisecond, 25
	for what, c := range map[string]struct {
		a    AirportInfo
		g    GateInfo
		want Ceiling
	}{
		"workers":             {open, gate, Ceiling{By: ByWorkers, PerSecond: 4.0 / 9}},
		"workers, in calls":   {open, batch, Ceiling{By: ByWorkers, PerSecond: 100.0 / 9}},
		"workers below":       {slots, gate, Ceiling{By: ByWorkers, PerSecond: 4.0 / 9}},
		"slots below":         {slots, quick, Ceiling{By: BySlots, PerSecond: 20}},
		"a slot for a call":   {slots, GateInfo{State: wire.Open, WorkersActual: 4, Call: time.Second, Batch: 25}, Ceiling{By: ByWorkers, PerSecond: 100}},
		"a slot for a flight": {slots, GateInfo{State: wire.Open, WorkersActual: 4, Call: time.Second, Batch: 25, SlotEach: true}, Ceiling{By: BySlots, PerSecond: 20}},
		"no call yet":         {slots, GateInfo{State: wire.Open, WorkersActual: 4}, Ceiling{}},
		"no workers":          {open, GateInfo{State: wire.Open, Call: time.Second}, Ceiling{}},
		"throttle":            {AirportInfo{State: wire.Throttled, ThrottledUntil: soon}, gate, Ceiling{By: ByThrottle, Until: soon}},
		"delay":               {open, GateInfo{State: wire.Delayed, DelayProbeAt: soon, Call: time.Second, WorkersActual: 1}, Ceiling{By: ByDelay, Until: soon}},
		"canary":              {AirportInfo{State: wire.Canary}, gate, Ceiling{By: ByCanary}},
		"airport stopped":     {AirportInfo{State: wire.Stopped}, gate, Ceiling{}},
		"gate paused":         {open, GateInfo{State: wire.Paused, Call: time.Second, WorkersActual: 1}, Ceiling{}},
	} {
		if got := ceilingOf(c.a, c.g); got.By != c.want.By || !got.Until.Equal(c.want.Until) || math.Abs(got.PerSecond-c.want.PerSecond) > 1e-9 {
			t.Errorf("%s: %+v, want %+v", what, got, c.want)
		}
	}
}
