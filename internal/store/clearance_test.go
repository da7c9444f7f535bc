package store_test

import (
	"context"
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/traction-go/traction/internal/store"
	"github.com/traction-go/traction/pkg/settle"
)

func (b *board) set(key string, fields ...any) {
	b.t.Helper()
	if err := b.raw.HSet(context.Background(), key, fields...).Err(); err != nil {
		b.t.Fatal(err)
	}
}

// other is a second process's lane.
func (b *board) other(worker string) *lane { return newLane(b.t, b.s, worker) }

func TestClearanceAsksTheCheapestFirst(t *testing.T) {
	onBoard(t, store.Slots{N: 1, Per: time.Minute, Stamp: 1}, func(b *board) {
		b.other("w2").clear("held")
		b.set(b.keys.Flying(), "landed", "L w9 1 1")
		airport, gate := b.keys.Airport(), b.keys.Gate("contacts")
		b.set(airport, "state", "BIRTH", "paused", "1", "throttled_until", b.now+30000)
		b.set(gate, "state", "STOPPED", "lost", "1", "paused", "1", "delay_start", b.now, "delay_probe", b.now+20000, "canary_n", 0)
		steps := []struct {
			set           []any
			on            string
			landed, held  store.Answer
			fresh         store.Answer
			until         int64
			whatIsLeftOut string
		}{
			{nil, airport, store.Unknown, store.Unknown, store.Unknown, 0, "all"},
			{[]any{"state", "STOPPED"}, airport, store.AirportStops, store.AirportStops, store.AirportStops, 0, "a stopped airport"},
			{[]any{"state", "OPEN"}, airport, store.AirportStops, store.AirportStops, store.AirportStops, 0, "a paused airport"},
			{[]any{"paused", ""}, airport, store.Throttled, store.Throttled, store.Throttled, 30000, "a throttle"},
			{[]any{"throttled_until", 0}, airport, store.GateStays, store.GateStays, store.GateStays, 0, "a lost gate"},
			{[]any{"lost", ""}, gate, store.GateStopped, store.GateStopped, store.GateStopped, 0, "a stopped gate"},
			{[]any{"state", "CANARY"}, gate, store.GateStays, store.GateStays, store.GateStays, 0, "a paused gate"},
			{[]any{"paused", ""}, gate, store.Wait, store.Wait, store.Wait, 20000, "a delay"},
			{[]any{"delay_start", 0}, gate, store.LandedAlready, store.Held, store.Wait, 1000, "no token"},
			{[]any{"state", "OPEN"}, gate, store.LandedAlready, store.Held, store.Wait, 60001, "no slot"},
			{[]any{"slots_n", 0}, airport, store.LandedAlready, store.Held, store.Cleared, 0, "nothing"},
		}
		for _, s := range steps {
			if s.set != nil {
				b.set(s.on, s.set...)
			}
			r := b.clear("landed", "held", "fresh")
			for i, w := range []store.Answer{s.landed, s.held, s.fresh} {
				if r.Clearance[i].Answer != w {
					b.t.Errorf("%s: flight %d was answered %d, want %d", s.whatIsLeftOut, i, r.Clearance[i].Answer, w)
				}
			}
			if s.until > 0 && r.Clearance[2].Until.UnixMilli() != b.now+s.until {
				b.t.Errorf("%s: wait until %d, want %d", s.whatIsLeftOut, r.Clearance[2].Until.UnixMilli()-b.now, s.until)
			}
		}
	})
}

func TestOnlyClearedWritesANote(t *testing.T) {
	onBoard(t, store.Slots{}, func(b *board) {
		b.take(2)
		notes := func() int {
			n, err := b.a.Notes(context.Background(), nil)
			if err != nil {
				b.t.Fatal(err)
			}
			return len(n)
		}
		if n := notes(); n != 2 {
			b.t.Fatalf("%d notes", n)
		}
		// its owner asking again renews; any other answer removes
		want(b.t, b.clear("f001"), store.Cleared)
		pauseAirport(b)
		want(b.t, b.clear("f001"), store.AirportStops)
		if n := notes(); n != 1 {
			b.t.Errorf("%d notes after a refusal, want 1", n)
		}
		b.call(store.FlightCall{Returns: []string{"f002"}})
		if n := notes(); n != 0 {
			b.t.Errorf("%d notes after a return", n)
		}
	})
}

// A process's clean-up removes the note it read, never one written since.
func TestCleanUpLeavesANewerNote(t *testing.T) {
	onBoard(t, store.Slots{}, func(b *board) {
		b.take(2)
		read, _ := b.a.Notes(context.Background(), nil)
		b.at(5)
		want(b.t, b.clear("f001"), store.Cleared)
		left, err := b.a.Notes(context.Background(), read)
		if err != nil || len(left) != 1 || left[0].Flight != "f001" {
			b.t.Errorf("left %+v, %v", left, err)
		}
	})
}

func TestAFlightOfARunIsNotFlown(t *testing.T) {
	onBoard(t, store.Slots{}, func(b *board) {
		want(b.t, b.call(store.FlightCall{Clear: []store.Request{{Flight: "f1", Run: "run-1"}}}), store.CharterLost)
	})
}

func TestALapsedIncarnationClearsNothing(t *testing.T) {
	onBoard(t, store.Slots{}, func(b *board) {
		b.now += 10001
		b.d.setTime(b.now)
		want(b.t, b.clear("f1"), store.Lapsed)
		b.beat()
		want(b.t, b.clear("f1"), store.Cleared)
		b.cfg.Incarnation = "w1.2" // never beat
		want(b.t, b.clear("f2"), store.Lapsed)
	})
}

func TestManyFlightsInOneCall(t *testing.T) {
	onBoard(t, store.Slots{}, func(b *board) {
		b.take(1500)
		for _, v := range b.end(1500, settle.Landed) {
			if v != store.Make {
				b.t.Fatal(v)
			}
		}
		var marks []string
		for i := range 1500 {
			marks = append(marks, fmt.Sprintf("f%03d", i+1))
		}
		b.call(store.FlightCall{Marks: marks})
		if n := b.raw.HLen(context.Background(), b.keys.Flying()).Val(); n != 0 {
			b.t.Errorf("%d marks are left", n)
		}
		if got := b.status("contacts").Landed; got != 1500 {
			b.t.Errorf("%d landed", got)
		}
	})
}

// Canary tokens.

func TestACanaryFliesAsManyAsItHasTokens(t *testing.T) {
	onBoard(t, store.Slots{}, func(b *board) {
		b.take(1)
		stopAirport(b)
		b.reopen("", 3)
		want(b.t, b.clear("a", "b"), store.Cleared, store.Cleared)
		// those who ask again leave the third to somebody else
		want(b.t, b.clear("a", "b", "c", "d"), store.Cleared, store.Cleared, store.Cleared, store.Wait)
		// asking again takes no second token
		want(b.t, b.clear("a", "b", "c", "d"), store.Cleared, store.Cleared, store.Cleared, store.Wait)
		// a return frees one: nothing is given back that could be given back twice
		want(b.t, b.call(store.FlightCall{Returns: []string{"a", "a"}, Clear: []store.Request{{Flight: "d"}, {Flight: "e"}}}), store.Cleared, store.Wait)
	})
}

func TestOnlyTokenHoldersLandingsCount(t *testing.T) {
	onBoard(t, store.Slots{}, func(b *board) {
		b.take(4)
		stopAirport(b)
		b.reopen("", 2)
		b.end(3, settle.Landed) // cleared before the canary
		if st := b.status(""); st.CanaryLanded != 0 {
			b.t.Fatalf("%d landings counted", st.CanaryLanded)
		}
		b.take(2)
		incident := b.status("").Incident
		b.end(1, settle.Landed)
		if st := b.status(""); st.State != "CANARY" || st.CanaryLanded != 1 {
			b.t.Fatalf("%+v", st)
		}
		fence := b.status("").Fence
		b.end(1, settle.Landed)
		if st := b.status(""); st.State != "OPEN" || st.Fence != fence || st.Incident != "" || b.incident(incident).ClosedBy != "canary" {
			b.t.Errorf("%+v", st)
		}
		if n := b.toldOf("REOPENED"); len(n) != 1 || n[0].Key != incident+"/REOPENED" {
			b.t.Errorf("told %+v", n)
		}
	})
}

func TestANewCanaryVoidsOldTokens(t *testing.T) {
	onBoard(t, store.Slots{}, func(b *board) {
		b.reopen("contacts", 1)
		b.take(1)
		b.at(2)
		b.reopen("contacts", 1)
		b.end(1, settle.Landed)
		if st := b.status("contacts"); st.State != "CANARY" || st.CanaryLanded != 0 {
			b.t.Errorf("an old token counted: %+v", st)
		}
		b.take(1)
	})
}

func TestADeadHoldersTokenIsFree(t *testing.T) {
	onBoard(t, store.Slots{}, func(b *board) {
		b.reopen("", 1)
		want(b.t, b.other("w2").clear("f1"), store.Cleared)
		want(b.t, b.clear("f2"), store.Wait)
		b.steady(11 * time.Second)
		want(b.t, b.clear("f2"), store.Cleared)
	})
}

// A token whose holder lapsed may have been taken: the new incarnation asks for
// one like anybody.
func TestALapsedHoldersTokenIsNotKept(t *testing.T) {
	onBoard(t, store.Slots{}, func(b *board) {
		b.reopen("", 1)
		want(b.t, b.clear("f1"), store.Cleared)
		w2 := b.other("w2")
		for range 11 {
			b.now += 1000
			b.d.setTime(b.now)
			w2.beat()
		}
		want(b.t, w2.clear("f2"), store.Cleared)
		b.cfg.Incarnation = "w1.2"
		b.beat()
		want(b.t, b.clear("f1"), store.Wait)
	})
}

// Slots.

func TestSlotsAreSharedAmongGatesThatWereRefused(t *testing.T) {
	onBoard(t, store.Slots{N: 10, Per: time.Second, Stamp: 1}, func(b *board) {
		deals := b.s.Airport(modelAirport, "w1", "deals")
		ctx := context.Background()
		_, epoch, err := deals.BeginBirth(ctx, "deals")
		if err == nil {
			_, err = deals.FinishBirth(ctx, "deals", epoch, false, store.Slots{})
		}
		if err != nil {
			b.t.Fatal(err)
		}
		ask := func(a *store.Airport, gate string, n int) int {
			c := b.with(store.FlightCall{})
			for i := range n {
				c.Clear = append(c.Clear, store.Request{Flight: gate + strconv.Itoa(int(b.now)) + "-" + strconv.Itoa(i)})
			}
			r, err := a.Flight(ctx, gate, c)
			if err != nil {
				b.t.Fatal(err)
			}
			got := 0
			for _, x := range r.Clearance {
				if x.Answer == store.Cleared {
					got++
				}
			}
			return got
		}
		if got := ask(b.a, "contacts", 20); got != 10 {
			b.t.Fatalf("a gate alone got %d of 10", got)
		}
		if got := ask(deals, "deals", 1); got != 0 {
			b.t.Fatalf("got %d of none", got)
		}
		b.at(1001) // when deals asks again: its refusal counts
		if got := ask(b.a, "contacts", 20); got != 5 {
			b.t.Fatalf("a batch took %d, its share is 5", got)
		}
		b.at(1002) // deals has not asked again: it is not waited for
		if got := ask(b.a, "contacts", 20); got != 10 {
			b.t.Fatalf("got %d", got)
		}
		b.at(500)
		ask(deals, "deals", 1)
		b.at(501)
		if got := ask(b.a, "contacts", 20); got != 5 {
			b.t.Errorf("a batch took %d, its share is 5", got)
		}
		if got := ask(deals, "deals", 20); got != 5 {
			b.t.Errorf("the sibling got %d, want what is left, 5", got)
		}
	})
}

// Requests that fly in one call share its slot: two calls take the two slots, and of
// the third call nothing is cleared.
func TestACallTakesOneSlot(t *testing.T) {
	onBoard(t, store.Slots{N: 2, Per: time.Minute, Stamp: 1}, func(b *board) {
		var asked []store.Request
		for i, slot := range []int{1, 1, 1, 2, 3, 3} {
			asked = append(asked, store.Request{Flight: strconv.Itoa(i), Seat: -1, Slot: slot})
		}
		r := b.call(store.FlightCall{Clear: asked})
		for i, want := range []store.Answer{store.Cleared, store.Cleared, store.Cleared, store.Cleared, store.Wait, store.Wait} {
			if got := r.Clearance[i].Answer; got != want {
				b.t.Errorf("flight %d was answered %d, want %d", i, got, want)
			}
		}
	})
}
