package governor

import (
	"fmt"
	"testing"
	"time"

	"github.com/traction-go/traction/internal/store"
	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/settle"
)

var marksGate = wire.Scope{Airport: "crm:acme", Gate: "sync"}

func wants(t *testing.T, s *stats, fresh, scars int64) {
	t.Helper()
	if v := s.gate(marksGate); v.Fresh != fresh || v.Scars != scars {
		t.Errorf("%d fresh and %d scars, want %d and %d", v.Fresh, v.Scars, fresh, scars)
	}
}

func TestAMarkIsAnOldScarAtFirstSight(t *testing.T) {
	s := newStats()
	f := func(id string) *wire.Flight { return &wire.Flight{ID: id} }
	s.took(marksGate, f("plain"), false)
	wants(t, s, 0, 0)
	s.took(marksGate, f("known to nobody"), true)
	wants(t, s, 0, 1)
	s.gaveBack(marksGate, f("returned"))
	s.took(marksGate, f("returned"), true)
	wants(t, s, 1, 1)
	held := f("held")
	held.Holds = settle.Holds{}.Add(settle.HoldTransient)
	s.took(marksGate, held, true)
	died := f("died")
	died.Deaths = []string{"w1.1@1"}
	s.took(marksGate, died, true)
	replayed := f("replayed")
	replayed.Replays = 1
	s.took(marksGate, replayed, true)
	wants(t, s, 4, 1)
}

func TestAnAdoptedMarkIsAnOldScarUnlessItWentBackFromHere(t *testing.T) {
	s := newStats()
	s.adopts(marksGate, time.Time{}, false)
	s.adopts(marksGate, time.Time{}, true)
	wants(t, s, 0, 1)
	s.lostAdopted(marksGate, 2)
	for range 3 {
		s.adopts(marksGate, time.Time{}, true)
	}
	wants(t, s, 2, 2)
}

func TestReturnsAreRememberedUpToABound(t *testing.T) {
	s := newStats()
	for i := range keptReturns + 1 {
		s.gaveBack(marksGate, &wire.Flight{ID: fmt.Sprint(i)})
	}
	s.took(marksGate, &wire.Flight{ID: "0"}, true)
	s.took(marksGate, &wire.Flight{ID: "1"}, true)
	wants(t, s, 1, 1)
	if n := len(s.sightOf(marksGate).back); n != keptReturns {
		t.Errorf("%d are remembered", n)
	}
}

// What one worker returned and another took is no scar of the fleet.
func TestTheFleetsReturnsAreItsOwn(t *testing.T) {
	for what, c := range map[string]struct {
		loads        []store.Load
		fresh, scars int64
	}{
		"nothing":           {nil, 0, 0},
		"adopted":           {[]store.Load{{Scars: 800}, {Scars: 12, Returned: 50}}, 0, 812},
		"own returns":       {[]store.Load{{Returned: 9, Fresh: 5}}, 5, 0},
		"a peer's returns":  {[]store.Load{{Returned: 9, Fresh: 2}, {Strange: 4}}, 6, 0},
		"nobody's":          {[]store.Load{{Returned: 3, Fresh: 2}, {Strange: 4}}, 3, 3},
		"held, no return":   {[]store.Load{{Fresh: 7}, {Strange: 1}}, 7, 1},
		"of all of it some": {[]store.Load{{Returned: 3, Fresh: 1, Scars: 10, Strange: 1}, {Strange: 3, Scars: 1}}, 3, 13},
	} {
		if fresh, scars := marksOf(c.loads); fresh != c.fresh || scars != c.scars {
			t.Errorf("%s: %d fresh and %d scars, want %d and %d", what, fresh, scars, c.fresh, c.scars)
		}
	}
}

func TestHeadsAreOfWhatWaits(t *testing.T) {
	s := newStats()
	at := func(sec int64) time.Time { return time.Unix(sec, 0) }
	back := func(id string, at time.Time) {
		s.gaveBack(marksGate, &wire.Flight{ID: id, Msg: wire.Message{Timestamp: at}})
	}
	want := func(runway, adopted time.Time) {
		t.Helper()
		if r, a := s.heads(marksGate); !r.Equal(runway) || !a.Equal(adopted) {
			t.Errorf("heads %v and %v, want %v and %v", r, a, runway, adopted)
		}
	}
	want(time.Time{}, time.Time{})
	back("b", at(20))
	back("a", at(10))
	back("c", at(30))
	want(at(10), time.Time{})
	s.took(marksGate, &wire.Flight{ID: "a"}, true)
	want(time.Time{}, time.Time{})
	back("d", time.Time{})
	back("e", at(5))
	want(time.Time{}, time.Time{}) // one does not say how old it is
	s.adopts(marksGate, at(7), false)
	s.dry(marksGate)
	want(time.Time{}, at(7)) // it may only be slow
	s.sightOf(marksGate).since = time.Now().Add(-dryAfter)
	s.dry(marksGate)
	want(time.Time{}, time.Time{})
}
