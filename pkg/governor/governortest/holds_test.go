package governortest_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/traction-go/traction/pkg/governor"
	"github.com/traction-go/traction/pkg/governor/governortest"
	"github.com/traction-go/traction/pkg/settle"
)

func TestTransientIsHeldThreeTimesThenParked(t *testing.T) {
	v := &vendor{err: errDown}
	var attempts []int
	v.fly = func(_ context.Context, f governor.Flight[[]byte]) error {
		attempts = append(attempts, f.Attempt)
		return errDown
	}
	field := governortest.New(t, crm(v))
	field.Dispatch("crm:acme/contacts", contact{"1"}, governor.BusinessID("1"))
	field.Settle()

	want := []time.Duration{30 * time.Second, 2 * time.Minute, 10 * time.Minute}
	if len(v.at) != 4 {
		t.Fatalf("%d calls, want 4: the first and one after each hold", len(v.at))
	}
	for i, hold := range want {
		if got := v.at[i+1].Sub(v.at[i]); got < hold || got > hold+2*time.Second {
			t.Errorf("call %d came %s after the one before, want %s", i+2, got, hold)
		}
	}
	if !slices.Equal(attempts, []int{1, 2, 3, 4}) {
		t.Errorf("attempts %v, want 1 to 4", attempts)
	}
	p := field.Parked("crm:acme/contacts")
	if len(p) != 1 || p[0].Reason != settle.ReasonHoldBudget || p[0].Holds != (settle.Holds{Transient: 3}) || p[0].BusinessID != "1" {
		t.Fatalf("parked %+v, want the flight for HOLD_BUDGET with transient=3", p)
	}
	a := field.Airport("crm:acme")
	if a.State != governor.OpenState || len(a.Notifications) != 1 || a.Notifications[0].Type != "PARKING" {
		t.Errorf("state %s, notifications %+v; want OPEN and one PARKING", a.State, a.Notifications)
	}
}

func TestInternalIsHeldOnceThenParked(t *testing.T) {
	for name, fly := range map[string]func(context.Context, governor.Flight[[]byte]) error{
		"an unclassified error": func(context.Context, governor.Flight[[]byte]) error { return errors.New("odd") },
		"a panic":               func(context.Context, governor.Flight[[]byte]) error { panic("nil map") },
	} {
		t.Run(name, func(t *testing.T) {
			v := &vendor{fly: fly}
			field := governortest.New(t, crm(v))
			field.Dispatch("crm:acme/contacts", contact{"1"})
			field.Settle()
			p := field.Parked("crm:acme/contacts")
			if len(v.at) != 2 || len(p) != 1 || p[0].Reason != settle.ReasonInternal || p[0].Holds != (settle.Holds{Internal: 1}) {
				t.Fatalf("%d calls, parked %+v; want two calls and it parked for INTERNAL with internal=1", len(v.at), p)
			}
			if gap := v.at[1].Sub(v.at[0]); gap < 30*time.Second || gap > 32*time.Second {
				t.Errorf("held for %s, want 30s", gap)
			}
		})
	}
}

func TestPanicIsEvidence(t *testing.T) {
	field := governortest.New(t, crm(&vendor{fly: func(context.Context, governor.Flight[[]byte]) error { panic("nil map") }}))
	field.Dispatch("crm:acme/contacts", contact{"1"})
	field.Settle()
	s := field.Settled()
	if len(s) != 2 || s[0].Outcome != "INTERNAL" || s[0].Settled != "hold" {
		t.Fatalf("settled %+v, want INTERNAL held, then parked", s)
	}
	for _, want := range []string{"nil map", "holds_test.go"} {
		if !strings.Contains(s[0].Evidence, want) {
			t.Errorf("evidence %q does not name %q", s[0].Evidence, want)
		}
	}
}

func TestConflictIsRetriedInPlace(t *testing.T) {
	n := 0
	v := &vendor{fly: func(context.Context, governor.Flight[[]byte]) error {
		if n++; n <= 3 {
			return errConflict
		}
		return nil
	}}
	field := governortest.New(t, crm(v))
	field.Dispatch("crm:acme/contacts", contact{"1"}, governor.BusinessID("1"))
	field.Settle()
	if a := field.Airport("crm:acme"); a.Landed != 1 || v.calls != 4 {
		t.Fatalf("%d landed after %d calls, want 1 after 4", a.Landed, v.calls)
	}
	for i := 1; i < len(v.at); i++ {
		if gap := v.at[i].Sub(v.at[i-1]); gap < 50*time.Millisecond || gap > 500*time.Millisecond {
			t.Errorf("retry %d came after %s, want 50 to 200 ms and a look", i, gap)
		}
	}
	if s := field.Settled(); len(s) != 1 || s[0].Settled != "landed" {
		t.Errorf("settled %+v, want one landing: a conflict spends no budget", s)
	}
}

func TestConflictThatStaysIsTransient(t *testing.T) {
	v := &vendor{err: errConflict}
	field := governortest.New(t, crm(v))
	field.Dispatch("crm:acme/contacts", contact{"1"})
	field.Advance(10 * time.Second)
	s := field.Settled()
	if v.calls != 4 || len(s) != 1 || s[0].Outcome != "TRANSIENT" || s[0].Settled != "hold" {
		t.Fatalf("%d calls, settled %+v; want four calls, then a hold as TRANSIENT", v.calls, s)
	}
}

func TestMalformedIsParkedWithoutACall(t *testing.T) {
	calls := 0
	field := governortest.New(t, governor.Airport{ID: "crm:acme", Gates: []governor.Gate{{
		ID: "contacts", Pilot: governor.JSON(func(context.Context, governor.Flight[contact]) error { calls++; return nil }),
	}}})
	field.Dispatch("crm:acme/contacts", []byte(`{"ID":`))
	field.Dispatch("crm:acme/contacts", contact{"2"})
	field.Settle()
	p := field.Parked("crm:acme/contacts")
	if calls != 1 || len(p) != 1 || p[0].Reason != settle.ReasonMalformed || !strings.Contains(p[0].Evidence, "JSON") {
		t.Fatalf("%d calls, parked %+v; want the good one flown, the other parked as MALFORMED", calls, p)
	}
}

func TestRejectedIsKeptAndCounted(t *testing.T) {
	v := &vendor{fly: func(_ context.Context, f governor.Flight[[]byte]) error {
		if f.BusinessID == "b3" {
			return errRecord
		}
		return nil
	}}
	field := governortest.New(t, crm(v))
	field.DispatchAll("crm:acme/contacts", backlog(0, 20)...)
	field.Settle()
	a := field.Airport("crm:acme")
	if a.State != governor.OpenState || a.Landed != 19 || a.Rejected != 1 || a.Waiting != 0 || a.Parked != 0 {
		t.Fatalf("%+v, want OPEN with 19 landed and one rejected", a)
	}
	if len(a.Notifications) != 0 {
		t.Errorf("told of a rejected record: %+v", a.Notifications)
	}
}

// A vendor that is down for ten minutes costs a handful of probes. Nothing is
// parked, nothing is replayed, nobody is needed.
func TestAnOutageCostsLittle(t *testing.T) {
	const flights = 1000
	var up time.Time
	v := &vendor{fly: func(context.Context, governor.Flight[[]byte]) error {
		if time.Now().Before(up) {
			return errDown
		}
		return nil
	}}
	field := governortest.New(t, crm(v))
	up = field.Now().Add(10 * time.Minute)
	field.DispatchAll("crm:acme/contacts", backlog(0, flights)...)

	field.Advance(time.Minute)
	if g := field.Gate("crm:acme/contacts"); g.State != governor.Delayed {
		t.Fatalf("the gate is %s after a minute of 503, want DELAYED", g.State)
	}
	field.Advance(up.Sub(field.Now()))
	if v.calls >= 30 {
		t.Errorf("%d calls during ten minutes of 503, want under 30", v.calls)
	}
	field.Settle()
	a := field.Airport("crm:acme")
	if len(v.landed) != flights || a.Parked != 0 || a.Waiting != 0 || a.State != governor.OpenState {
		t.Fatalf("%d landed, %d parked, %d waiting, %s; want all %d landed by themselves", len(v.landed), a.Parked, a.Waiting, a.State, flights)
	}
	for id, n := range v.landed {
		if n != 1 {
			t.Errorf("%s landed %d times", id, n)
		}
	}
	if g := field.Gate("crm:acme/contacts"); g.State != governor.OpenState {
		t.Errorf("the gate is %s, want OPEN", g.State)
	}
	if got := types(a.Notifications); !slices.Equal(got, []string{"GROUND_DELAY", "GROUND_DELAY"}) && len(got) != 0 {
		t.Errorf("notifications %v, want the delay and its end, or none", got)
	}
}

// A vendor that stays down is probed ever more rarely, and Settle comes back.
func TestSettleEndsBeforeAVendorThatStaysDown(t *testing.T) {
	v := &vendor{err: errDown}
	field := governortest.New(t, crm(v))
	field.DispatchAll("crm:acme/contacts", backlog(0, 50)...)
	field.Settle()
	g := field.Gate("crm:acme/contacts")
	if g.State != governor.Delayed || g.Waiting != 50 || g.Parked != 0 {
		t.Fatalf("%s, %d waiting, %d parked; want DELAYED with all 50 waiting", g.State, g.Waiting, g.Parked)
	}
	if v.calls > 20 {
		t.Errorf("%d calls, want a handful", v.calls)
	}
	held, deferred := 0, 0
	for _, s := range field.Settled() {
		switch s.Settled {
		case "hold":
			held++
		case "defer":
			deferred++
		}
	}
	// Five make the delay, with what was in the air beside them; probes spend no budget.
	if held > 5+governor.DefaultWorkers || deferred < 3 {
		t.Errorf("%d held and %d deferred; want the first few held and every probe deferred", held, deferred)
	}
	if got := types(g.Notifications); !slices.Equal(got, []string{"GROUND_DELAY"}) {
		t.Errorf("notifications %v, want one GROUND_DELAY", got)
	}
}

func types(list []governor.Notification) []string {
	var out []string
	for _, n := range list {
		out = append(out, n.Type)
	}
	return out
}
