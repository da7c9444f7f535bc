package governortest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/traction-go/traction/pkg/governor"
	"github.com/traction-go/traction/pkg/governor/governortest"
)

// bulk is a vendor that takes several contacts in one call.
type bulk struct {
	answer func(ids []string) error // nil: all land

	mu     sync.Mutex
	calls  [][]string // contact ids, of each call
	landed map[string]int
}

func (b *bulk) FlyBatch(_ context.Context, flights []governor.Flight[[]byte]) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	ids := make([]string, len(flights))
	for i, f := range flights {
		var c contact
		if err := json.Unmarshal(f.Payload, &c); err != nil {
			return err
		}
		ids[i] = c.ID
	}
	b.calls = append(b.calls, ids)
	var err error
	if b.answer != nil {
		err = b.answer(ids)
	}
	if err == nil {
		for _, id := range ids {
			if b.landed == nil {
				b.landed = map[string]int{}
			}
			b.landed[id]++
		}
	}
	return err
}

func batched(b governor.BatchPilot, set func(*governor.Gate)) governor.Airport {
	g := governor.Gate{ID: "contacts", Workers: 1, Batch: &governor.Batch{Size: 25, Pilot: b}}
	if set != nil {
		set(&g)
	}
	return governor.Airport{ID: "crm:acme", Reporter: report, Gates: []governor.Gate{g}}
}

// dispatchAsleep has all flights on the runway before the first is cleared.
func dispatchAsleep(field *governortest.Field, flights ...governor.Outgoing) {
	field.Pause("crm:acme", "loading")
	field.DispatchAll("crm:acme/contacts", flights...)
	field.Reopen("crm:acme")
}

func sizes(calls [][]string) []int {
	var n []int
	for _, c := range calls {
		n = append(n, len(c))
	}
	return n
}

func TestABatchIsOneCall(t *testing.T) {
	b := &bulk{}
	field := governortest.New(t, batched(b, nil))
	dispatchAsleep(field, backlog(0, 60)...)
	field.Settle()
	if got := sizes(b.calls); !slices.Equal(got, []int{25, 25, 10}) {
		t.Errorf("calls of %v flights, want 25, 25 and what lingered: 10", got)
	}
	if g := field.Gate("crm:acme/contacts"); g.Landed != 60 || g.Waiting != 0 {
		t.Errorf("%d landed, %d wait; want 60 and none", g.Landed, g.Waiting)
	}
}

func TestOneBadRecordIsFoundByHalving(t *testing.T) {
	for _, bad := range []string{"record", "panic"} {
		t.Run(bad, func(t *testing.T) {
			b := &bulk{}
			b.answer = func(ids []string) error {
				if !slices.Contains(ids, "b13") {
					return nil
				}
				if bad == "panic" {
					panic("index out of range")
				}
				return errRecord
			}
			field := governortest.New(t, batched(b, nil))
			dispatchAsleep(field, backlog(0, 25)...)
			field.Settle()
			g := field.Gate("crm:acme/contacts")
			for i := range 25 {
				id := fmt.Sprintf("b%d", i)
				if want := 1; id != "b13" && b.landed[id] != want {
					t.Errorf("%s landed %d times, want %d", id, b.landed[id], want)
				}
			}
			if g.Landed != 24 || g.State != governor.OpenState {
				t.Errorf("%d landed, the gate is %s; want 24, OPEN", g.Landed, g.State)
			}
			if bad == "record" && (g.Rejected != 1 || g.Parked != 0) {
				t.Errorf("%d rejected, %d parked; want the bad record alone rejected", g.Rejected, g.Parked)
			}
			if bad == "panic" {
				parked := field.Parked("crm:acme/contacts")
				if len(parked) != 1 || parked[0].BusinessID != "b13" || parked[0].Reason != "INTERNAL" {
					t.Errorf("parked: %+v, want b13 alone, INTERNAL", parked)
				}
			}
			if len(b.calls) > 2*(1+5*2) {
				t.Errorf("%d calls to find one of 25", len(b.calls))
			}
		})
	}
}

func TestResultsFlightByFlight(t *testing.T) {
	pilot := governor.BatchPilotFunc(func(_ context.Context, flights []governor.Flight[[]byte]) error {
		out := &governor.BatchError{Flights: map[string]error{}}
		for _, f := range flights {
			switch f.BusinessID {
			case "b3":
				out.Flights[f.ID] = errRecord
			case "b7": // left out
			default:
				out.Flights[f.ID] = nil
			}
		}
		return out
	})
	field := governortest.New(t, batched(pilot, nil))
	dispatchAsleep(field, backlog(0, 25)...)
	field.Settle()
	g := field.Gate("crm:acme/contacts")
	if g.Landed != 23 || g.Rejected != 1 {
		t.Errorf("%d landed, %d rejected; want 23 and 1", g.Landed, g.Rejected)
	}
	parked := field.Parked("crm:acme/contacts")
	if len(parked) != 1 || parked[0].BusinessID != "b7" || parked[0].Reason != "INTERNAL" || parked[0].Evidence == "" {
		t.Errorf("parked: %+v, want b7, which was not reported, as INTERNAL", parked)
	}
}

func TestFiveEventsOfOnePaymentAreOneCall(t *testing.T) {
	byID, err := governor.PointerKey("/ID")
	if err != nil {
		t.Fatal(err)
	}
	dedupe := func(g *governor.Gate) { g.Batch.Dedupe = byID }
	same := func() (out []governor.Outgoing) {
		for range 5 {
			out = append(out, governor.Outgoing{Payload: []byte(`{"ID":"pay-1"}`)})
		}
		return out
	}
	t.Run("lands", func(t *testing.T) {
		b := &bulk{}
		field := governortest.New(t, batched(b, dedupe))
		dispatchAsleep(field, append(same(), backlog(0, 3)...)...)
		field.Settle()
		if len(b.calls) != 1 || len(b.calls[0]) != 4 || b.landed["pay-1"] != 1 {
			t.Errorf("calls: %v, want one with the payment once and three others", b.calls)
		}
		if g := field.Gate("crm:acme/contacts"); g.Landed != 8 || g.Waiting != 0 {
			t.Errorf("%d landed, %d wait; want all 8 in the books", g.Landed, g.Waiting)
		}
	})
	t.Run("fails", func(t *testing.T) {
		refusals := 2
		b := &bulk{answer: func(ids []string) error {
			if refusals--; refusals >= 0 {
				return errRecord
			}
			return nil
		}}
		field := governortest.New(t, batched(b, dedupe))
		dispatchAsleep(field, same()...)
		field.Settle()
		g := field.Gate("crm:acme/contacts")
		if g.Rejected != 2 || g.Landed != 3 || len(b.calls) != 3 {
			t.Errorf("%d rejected, %d landed in %d calls; want the twins cleared on their own: 2, 3, 3", g.Rejected, g.Landed, len(b.calls))
		}
	})
	t.Run("fails, until one twin is left", func(t *testing.T) {
		refusals := 4
		b := &bulk{answer: func([]string) error {
			if refusals--; refusals >= 0 {
				return errRecord
			}
			return nil
		}}
		field := governortest.New(t, batched(b, dedupe))
		dispatchAsleep(field, same()...)
		field.Settle()
		g := field.Gate("crm:acme/contacts")
		if g.Rejected != 4 || g.Landed != 1 || len(b.calls) != 5 || len(b.calls[4]) != 1 {
			t.Errorf("%d rejected, %d landed in calls %v; want the last twin flown alone: 4, 1", g.Rejected, g.Landed, b.calls)
		}
	})
}

func TestAConflictOfABatchIsTriedAgainInPlace(t *testing.T) {
	fights := 2
	b := &bulk{answer: func([]string) error {
		if fights--; fights >= 0 {
			return errConflict
		}
		return nil
	}}
	field := governortest.New(t, batched(b, nil))
	dispatchAsleep(field, backlog(0, 25)...)
	field.Settle()
	if got := sizes(b.calls); !slices.Equal(got, []int{25, 25, 25}) {
		t.Errorf("calls of %v flights, want the same 25 three times", got)
	}
	if g := field.Gate("crm:acme/contacts"); g.Landed != 25 {
		t.Errorf("%d landed", g.Landed)
	}
}

// A failure of the whole call is one observation: three calls stop the gate, not three
// flights of one.
func TestAFailedBatchCountsOnce(t *testing.T) {
	b := &bulk{answer: func([]string) error { return errGate }}
	field := governortest.New(t, batched(b, nil))
	dispatchAsleep(field, backlog(0, 100)...)
	field.Settle()
	g := field.Gate("crm:acme/contacts")
	if len(b.calls) != 3 || g.State != governor.Stopped || g.Parked != 100 {
		t.Errorf("%d calls, %s, %d parked; want STOPPED by the third call with all 100 parked", len(b.calls), g.State, g.Parked)
	}
}

func TestADeadTokenKeepsTheWholeBatch(t *testing.T) {
	dead := true
	b := &bulk{}
	b.answer = func([]string) error {
		if dead {
			return errAuth
		}
		return nil
	}
	field := governortest.New(t, batched(b, nil))
	dispatchAsleep(field, backlog(0, 40)...)
	field.Settle()
	a := field.Airport("crm:acme")
	if a.State != governor.Stopped || a.Waiting != 40 || len(b.calls) != 1 || len(a.Notifications) != 1 {
		t.Fatalf("%s, %d wait, %d calls, %d notifications; want STOPPED after one call, 40 waiting, one", a.State, a.Waiting, len(b.calls), len(a.Notifications))
	}
	dead = false
	field.Reopen("crm:acme")
	field.Settle()
	if a := field.Airport("crm:acme"); a.Landed != 40 || a.Waiting != 0 {
		t.Errorf("%d landed, %d wait; want all 40 landed", a.Landed, a.Waiting)
	}
}

func TestSlotsOfABatch(t *testing.T) {
	for _, c := range []struct {
		each bool
		want []int
	}{{false, []int{25, 25}}, {true, []int{10, 10, 10, 10, 10}}} {
		b := &bulk{}
		a := batched(b, func(g *governor.Gate) { g.Batch.SlotPerFlight = c.each })
		a.Slots = governor.Slots{N: 10, Per: time.Second}
		field := governortest.New(t, a)
		dispatchAsleep(field, backlog(0, 50)...)
		field.Settle()
		if got := sizes(b.calls); !slices.Equal(got, c.want) {
			t.Errorf("slot per flight %v: calls of %v flights, want %v", c.each, got, c.want)
		}
	}
}

func TestACanaryBoundsTheBatch(t *testing.T) {
	b := &bulk{}
	field := governortest.New(t, batched(b, nil))
	field.Pause("crm:acme", "loading")
	field.DispatchAll("crm:acme/contacts", backlog(0, 40)...)
	field.ReopenWith("crm:acme", governor.ReopenOptions{Canary: 5})
	field.Settle()
	if len(b.calls) == 0 || len(b.calls[0]) != 5 {
		t.Errorf("calls of %v flights, want as many as there are tokens in the first: 5", sizes(b.calls))
	}
	if a := field.Airport("crm:acme"); a.State != governor.OpenState || a.Landed != 40 {
		t.Errorf("%s with %d landed, want OPEN and 40", a.State, a.Landed)
	}
}

func TestBatchesOfOneFlyByThePilot(t *testing.T) {
	v := &vendor{}
	b := &bulk{}
	field := governortest.New(t, batched(b, func(g *governor.Gate) { g.Batch.Size, g.Pilot = 1, v }))
	dispatchAsleep(field, backlog(0, 10)...)
	field.Settle()
	if v.calls != 10 || len(b.calls) != 0 {
		t.Errorf("%d single and %d batched calls, want 10 and none", v.calls, len(b.calls))
	}
}
