package store

import (
	"context"
	"encoding/json"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"

	"github.com/traction-go/traction/internal/wire"
)

// seen feeds a memory one status of the airport, as a reply brings it.
func seen(m *memory, v map[string]string) bool {
	return m.see("", statusOf(wire.Scope{Airport: "crm:acme"}, v), v)
}

func offered(t *testing.T, m *memory) (v view, has bool, epoch int64) {
	var o struct {
		Views map[string]view
		Seen  map[string]int64
	}
	if err := json.Unmarshal([]byte(m.offer("crm:acme")), &o); err != nil {
		t.Fatal(err)
	}
	v, has = o.Views["crm:acme"]
	return v, has, o.Seen["crm:acme"]
}

func TestTheMemoryOffersWhatWasBeforeTheLoss(t *testing.T) {
	m := newMemory()
	if _, has, _ := offered(t, m); has {
		t.Fatal("an empty memory offers a status")
	}
	seen(m, map[string]string{"state": "OPEN", "epoch": "10", "fence": "7"})
	seen(m, map[string]string{"state": "STOPPED", "epoch": "20", "lost": "1", "incident": "loss"})
	if v, _, epoch := offered(t, m); v.State != "OPEN" || v.Epoch != 10 || v.Fence != 7 || epoch != 20 {
		t.Errorf("%+v, seen %d", v, epoch)
	}
	// a pause is added to it
	seen(m, map[string]string{"state": "STOPPED", "epoch": "21", "lost": "1", "paused": "1", "paused_by": "dana", "paused_at": "5"})
	if v, _, _ := offered(t, m); v.State != "OPEN" || v.Paused != "1" || v.PausedBy != "dana" || v.PausedAt != 5 {
		t.Errorf("%+v", v)
	}
	// a fault while lost is a stop that is remembered
	seen(m, map[string]string{"state": "STOPPED", "epoch": "22", "lost": "1", "held": "1"})
	if v, _, _ := offered(t, m); v.State != "STOPPED" || v.Held != "1" {
		t.Errorf("%+v", v)
	}
}

func TestTheMemoryTakesNothingOlder(t *testing.T) {
	m := newMemory()
	if !seen(m, map[string]string{"state": "STOPPED", "epoch": "20", "fence": "5"}) {
		t.Error("the first status is news")
	}
	if seen(m, map[string]string{"state": "OPEN", "epoch": "19", "fence": "9"}) {
		t.Error("an older status is news")
	}
	if m.last[""].State != wire.Stopped || m.epoch[""] != 20 || m.fence[""] != 5 {
		t.Errorf("%+v", m)
	}
	if seen(m, map[string]string{"state": "STOPPED", "epoch": "20", "fence": "5"}) {
		t.Error("the same status is news")
	}
	for _, v := range []map[string]string{
		{"state": "STOPPED", "epoch": "21"}, {"state": "STOPPED", "epoch": "21", "paused": "1"},
		{"state": "STOPPED", "epoch": "21", "throttled_until": "9"}, {"state": "STOPPED", "epoch": "21", "delay_start": "9"},
	} {
		if !seen(m, v) {
			t.Errorf("%v is no news", v)
		}
	}
	// a missing status is seen, and forgets nothing
	if !seen(m, map[string]string{}) || m.last[""].State != wire.Unknown || m.epoch[""] != 21 {
		t.Errorf("%+v", m)
	}
	if v, has, _ := offered(t, m); !has || v.State != "STOPPED" {
		t.Errorf("%+v", v)
	}
}

// An Airport's methods may be called from any goroutine (run with -race).
func TestAnAirportFromManyGoroutines(t *testing.T) {
	r := miniredis.RunT(t)
	s, err := Open(Config{URLs: []string{"redis://" + r.Addr()}, Namespace: "tr"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	a := s.Airport("crm:acme", "w1", "g0")
	var news sync.Map
	a.OnNews(func(st wire.Status) { news.Store(st.Scope.String(), st.State) })
	ctx := context.Background()
	for _, g := range []string{"", "g0"} {
		_, epoch, err := a.BeginBirth(ctx, g)
		if err == nil {
			_, err = a.FinishBirth(ctx, g, epoch, false, Slots{})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for j := range 6 {
				var err error
				switch (i + j) % 6 {
				case 0:
					_, err = a.Beat(ctx, BeatCall{Incarnations: []string{"w1.1"}, Interval: time.Second, Kind: WorkerAnd})
				case 1:
					_, err = a.Flight(ctx, "g0", FlightCall{Incarnation: "w1.1", Seq: uint64(i*100 + j), Mode: "enforce", Clear: []Request{{Flight: "f" + strconv.Itoa(i)}}})
				case 2:
					err = a.Offer(ctx)
				case 3:
					a.AddGates("g" + strconv.Itoa(j))
					_ = a.Gates()
				case 4:
					_, _, err = a.Pause(ctx, "g0", "dana", "", false)
				default:
					a.Last("g0")
					a.SeenEpoch("")
					_, err = a.Reopen(ctx, "g0", 0, "dana", "", true)
				}
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if _, ok := news.Load("crm:acme/g0"); !ok {
		t.Error("nobody was told of the gate")
	}
	if st, ok := a.Last("g0"); !ok || st.Epoch != a.SeenEpoch("g0") {
		t.Errorf("%+v, seen %d", st, a.SeenEpoch("g0"))
	}
}

// A status that comes again as it was is passed over; one that differs in a word, or
// comes back after another, is not.
func TestTheMemoryPassesOverARepeat(t *testing.T) {
	m := newMemory()
	open := func() []any { return []any{"OPEN", "1", ""} }
	stopped := []any{"STOPPED", "2", "b7"}
	for i, step := range []struct {
		gate  string
		reply []any
		same  bool
	}{
		{"", open(), false}, {"", open(), true}, {"contacts", open(), false}, {"", stopped, false}, {"", open(), false}, {"", open(), true},
		{"", []any{"OPEN", "1"}, false}, {"", []any{"OPEN", nil}, false}, {"", []any{"OPEN", nil}, false}, {"", nil, false}, {"", nil, false},
	} {
		if same := m.repeats(step.gate, step.reply); same != step.same {
			t.Errorf("step %d, %v at %q: repeats is %v, want %v", i, step.reply, step.gate, same, step.same)
		}
	}
}
