package governor

import (
	"testing"
	"time"

	"github.com/traction-go/traction/internal/store"
	"github.com/traction-go/traction/internal/wire"
)

// A drain is told where something flies and its pace is known, and nowhere else.
func TestADrainIsNotInvented(t *testing.T) {
	pace := Pace{PerSecond: 2, Over: 10 * time.Minute}
	gate := GateInfo{State: wire.Open, WorkersActual: 4, WorkersWanted: 4, Runway: 100, Holding: 20, Adopted: 120, Pace: pace}
	with := func(change func(*GateInfo)) GateInfo { g := gate; change(&g); return g }
	for what, c := range map[string]struct {
		airport State
		gate    GateInfo
		want    time.Duration
	}{
		"flies":                {wire.Open, gate, 2 * time.Minute},
		"throttled":            {wire.Throttled, gate, 2 * time.Minute},
		"airport stopped":      {wire.Stopped, gate, 0},
		"gate stopped":         {wire.Open, with(func(g *GateInfo) { g.State = wire.Stopped }), 0},
		"paused":               {wire.Paused, gate, 0},
		"no pace":              {wire.Open, with(func(g *GateInfo) { g.Pace = Pace{} }), Unknown},
		"not counted":          {wire.Open, with(func(g *GateInfo) { g.Adopted = Unread }), Unknown},
		"nothing waits":        {wire.Open, with(func(g *GateInfo) { g.Runway, g.Holding, g.Adopted = 0, 0, 0 }), 0},
		"no process":           {wire.Open, with(func(g *GateInfo) { g.WorkersActual = 0 }), Unknown},
		"scaled to nothing":    {wire.Open, with(func(g *GateInfo) { g.WorkersActual, g.WorkersWanted, g.Scaled = 0, 0, true }), 0},
		"nobody, nothing does": {wire.Open, with(func(g *GateInfo) { g.Runway, g.Holding, g.Adopted, g.WorkersActual = 0, 0, 0, 0 }), 0},
	} {
		a := AirportInfo{State: c.airport, Gates: []GateInfo{c.gate}}
		forecast(&a)
		if a.Gates[0].Drain != c.want || a.Drain != c.want {
			t.Errorf("%s: gate %v, airport %v, want %v", what, a.Gates[0].Drain, a.Drain, c.want)
		}
	}
}

// The slowest gate decides for its airport, and what cannot be told makes it unknown.
func TestTheSlowestGateDecides(t *testing.T) {
	slow := GateInfo{State: wire.Open, WorkersActual: 1, Runway: 600, Pace: Pace{PerSecond: 1, Over: 5 * time.Minute}}
	quick := GateInfo{State: wire.Open, WorkersActual: 1, Runway: 600, Pace: Pace{PerSecond: 10, Over: 9 * time.Minute}}
	blind := GateInfo{State: wire.Open, WorkersActual: 1, Runway: 1}
	a := AirportInfo{State: wire.Open, Gates: []GateInfo{slow, quick}}
	forecast(&a)
	if a.Drain != 10*time.Minute || a.Pace != (Pace{PerSecond: 11, Over: 9 * time.Minute}) {
		t.Errorf("%v at %+v", a.Drain, a.Pace)
	}
	for _, gates := range [][]GateInfo{{slow, blind}, {blind, slow}} {
		a = AirportInfo{State: wire.Open, Gates: gates}
		if forecast(&a); a.Drain != Unknown {
			t.Errorf("%v with a gate that cannot be told", a.Drain)
		}
	}
}

// A process that beats for two incarnations counts once, by its latest beat, and the
// oldest of what any of them has counts for all.
func TestBeatsAreAddedUpOnceForEachProcess(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	beat := func(inc string, ago time.Duration, l store.Load) store.Beat {
		return store.Beat{Incarnation: inc, Last: now.Add(-ago), Loads: map[string]store.Load{"sync": l}}
	}
	sn := store.Snapshot{Now: now, Beats: []store.Beat{
		beat("w1.1", time.Second, store.Load{Call: time.Hour, Scars: 5, Oldest: 10}),
		beat("w1.2", 0, store.Load{Call: 2 * time.Second, Scars: 6, Oldest: 30}),
		beat("w2.1", 0, store.Load{Call: 4 * time.Second, Fresh: 1, Oldest: 20, Adopted: 7}),
		beat("w3.1", 0, store.Load{Returned: 2}),
	}}
	var g GateInfo
	g.told(sn, wire.Status{Scope: wire.Scope{Airport: "crm:acme", Gate: "sync"}})
	if g.Call != 3*time.Second || g.Scars != 6 || g.Fresh != 1 || g.Oldest.Unix() != 20 || g.AdoptedOldest.Unix() != 7 {
		t.Errorf("%+v", g)
	}
}
