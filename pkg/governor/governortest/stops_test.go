package governortest_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/traction-go/traction/pkg/governor"
	"github.com/traction-go/traction/pkg/governor/governortest"
	"github.com/traction-go/traction/pkg/settle"
)

func TestDeadTokenStopsTheAirportAndKeepsTheFlight(t *testing.T) {
	v := &vendor{err: errAuth}
	field := governortest.New(t, crm(v))
	field.Dispatch("crm:acme/contacts", contact{ID: "7"}, governor.BusinessID("7"))
	field.Settle()
	a := field.Airport("crm:acme")
	if a.State != governor.Stopped || a.Waiting != 1 || a.Parked != 0 || v.calls != 1 {
		t.Fatalf("state %s, %d waiting, %d parked, %d calls; want STOPPED with the flight waiting after one call", a.State, a.Waiting, a.Parked, v.calls)
	}
	if len(a.Notifications) != 1 || a.Notifications[0].Type != "GROUND_STOP" {
		t.Fatalf("notifications %+v, want one GROUND_STOP", a.Notifications)
	}

	v.err = nil
	if r := field.Reopen("crm:acme"); !r.Changed || r.Was != governor.Stopped || r.Waiting != 1 {
		t.Fatalf("reopen: %+v", r)
	}
	field.Settle()
	if a := field.Airport("crm:acme"); a.State != governor.OpenState || a.Waiting != 0 || a.Landed != 1 {
		t.Fatalf("after the reopen: state %s, %d waiting, %d landed; want it OPEN and the flight landed", a.State, a.Waiting, a.Landed)
	}
	if n := field.Notifications(); len(n) != 1 {
		t.Fatalf("%d notifications, want one for one stop", len(n))
	}
}

func TestGateFaultsParkAndStopTheGate(t *testing.T) {
	bad := &vendor{err: errGate}
	good := &vendor{}
	a := crm(bad)
	a.Gates = append(a.Gates, governor.Gate{ID: "companies", Pilot: good})
	field := governortest.New(t, a)
	field.DispatchAll("crm:acme/contacts", backlog(0, 10)...)
	field.DispatchAll("crm:acme/companies", backlog(0, 10)...)
	field.Settle()

	g := field.Gate("crm:acme/contacts")
	if g.State != governor.Stopped || g.Parked != 10 || g.Waiting != 0 {
		t.Fatalf("%s, %d parked, %d waiting; want STOPPED with all 10 parked", g.State, g.Parked, g.Waiting)
	}
	// Three of distinct records stop it; what was in the air beside them may add.
	if bad.calls < 3 || bad.calls > 3+4 {
		t.Errorf("%d calls reached the broken gate, want 3 and what was in the air", bad.calls)
	}
	reasons := map[settle.Reason]int{}
	for _, p := range field.Parked("crm:acme/contacts") {
		reasons[p.Reason]++
	}
	if reasons[settle.ReasonGateFault] != bad.calls || reasons[settle.ReasonGateStopped] != 10-bad.calls {
		t.Errorf("parked for %v, want GATE_FAULT for each call and GATE_STOPPED for the rest", reasons)
	}
	if got := types(field.Notifications()); !slices.Equal(got, []string{"GATE_STOP"}) {
		t.Errorf("notifications %v, want one GATE_STOP", got)
	}
	if s := field.Gate("crm:acme/companies"); s.State != governor.OpenState || s.Landed != 10 {
		t.Errorf("the sibling is %s with %d landed, want OPEN with 10", s.State, s.Landed)
	}
	field.DispatchAll("crm:acme/companies", backlog(10, 5)...)
	field.Settle()
	if s := field.Gate("crm:acme/companies"); s.Landed != 15 {
		t.Errorf("the sibling landed %d after the stop, want 15: it keeps flying", s.Landed)
	}
}

func TestOneRecordAgainIsOneRecord(t *testing.T) {
	v := &vendor{err: errGate}
	field := governortest.New(t, crm(v))
	for range 5 {
		field.Dispatch("crm:acme/contacts", contact{"1"}, governor.BusinessID("1"))
	}
	field.Settle()
	if g := field.Gate("crm:acme/contacts"); g.State != governor.OpenState || g.Parked != 5 {
		t.Fatalf("%s with %d parked; want OPEN: five faults of one record are one", g.State, g.Parked)
	}
}

func TestRecordStreakStopsTheGate(t *testing.T) {
	v := &vendor{err: errRecord}
	a := crm(v)
	a.Gates[0].Workers = 1
	field := governortest.New(t, a)
	field.DispatchAll("crm:acme/contacts", backlog(0, 20)...)
	field.Settle()
	g := field.Gate("crm:acme/contacts")
	if g.State != governor.Stopped || g.Rejected != 5 || g.Parked != 15 {
		t.Fatalf("%s, %d rejected, %d parked; want STOPPED after five rejected, the rest parked", g.State, g.Rejected, g.Parked)
	}
}

func TestPauseKeepsTheWorkAndReopenFliesIt(t *testing.T) {
	v := &vendor{}
	field := governortest.New(t, crm(v))
	if p := field.Pause("crm:acme", "planned work"); !p.Changed || len(p.Unseen) != 0 {
		t.Fatalf("pause: %+v", p)
	}
	field.DispatchAll("crm:acme/contacts", backlog(0, 10)...)
	field.Settle()
	if a := field.Airport("crm:acme"); a.State != governor.Paused || a.Waiting != 10 || v.calls != 0 {
		t.Fatalf("%s, %d waiting, %d calls; want PAUSED, 10 and none", a.State, a.Waiting, v.calls)
	}
	field.Reopen("crm:acme")
	field.Settle()
	if a := field.Airport("crm:acme"); a.Landed != 10 || a.Waiting != 0 {
		t.Fatalf("%d landed, %d waiting after the reopen; want 10 and none", a.Landed, a.Waiting)
	}
}

func TestCanaryThatFailsStopsAgainUnderTheSameIncident(t *testing.T) {
	v := &vendor{err: errAuth}
	field := governortest.New(t, crm(v))
	field.DispatchAll("crm:acme/contacts", backlog(0, 10)...)
	field.Settle()
	before, calls := field.Airport("crm:acme"), v.calls

	field.ReopenWith("crm:acme", governor.ReopenOptions{Canary: 3})
	field.Settle()
	a := field.Airport("crm:acme")
	if a.State != governor.Stopped || a.Incident != before.Incident || v.calls-calls > 3 {
		t.Fatalf("%s under %s after %d calls; want STOPPED under %s after at most 3", a.State, a.Incident, v.calls-calls, before.Incident)
	}
	v.err = nil
	field.ReopenWith("crm:acme", governor.ReopenOptions{Canary: 3})
	field.Settle()
	if a := field.Airport("crm:acme"); a.State != governor.OpenState || a.Landed != 10 {
		t.Fatalf("%s with %d landed; want OPEN: three of the canary landed, then the rest", a.State, a.Landed)
	}
	if got := types(field.Notifications()); !slices.Equal(got, []string{"GROUND_STOP"}) {
		t.Errorf("notifications %v, want one for the whole story", got)
	}
}

func TestObserveStopsNothing(t *testing.T) {
	v := &vendor{err: errAuth}
	a := crm(v)
	a.Mode = governor.Observe
	field := governortest.New(t, a)
	field.DispatchAll("crm:acme/contacts", backlog(0, 10)...)
	field.Settle()

	info := field.Airport("crm:acme")
	if info.State != governor.OpenState || info.Parked != 10 {
		t.Errorf("%s with %d parked; want OPEN, and the flights treated as transient", info.State, info.Parked)
	}
	if v.calls != 40 {
		t.Errorf("%d calls, want 40: four for each flight, none straight back", v.calls)
	}
	list := field.Incidents("crm:acme")
	if len(list) != 1 || !list[0].Observed || !list[0].Open() || list[0].Kind != "GROUND_STOP" {
		t.Fatalf("incidents %+v, want one open that would have stopped the airport", list)
	}
	if slices.Contains(types(field.Notifications()), "GROUND_STOP") {
		t.Error("told of a stop that was none")
	}
}

func TestSecondProcessBootsIntoAStop(t *testing.T) {
	v := &vendor{err: errAuth}
	field := governortest.New(t, crm(v))
	field.Dispatch("crm:acme/contacts", contact{"1"})
	field.Settle()
	calls := v.calls
	second := field.Start(crm(v))
	field.DispatchAll("crm:acme/contacts", backlog(0, 10)...)
	field.Settle()
	if v.calls != calls {
		t.Fatalf("%d calls at a stopped airport", v.calls-calls)
	}
	v.err = nil
	field.Reopen("crm:acme")
	field.Settle()
	if a := field.Airport("crm:acme"); a.Landed != 11 || a.Workers != 2 {
		t.Fatalf("%d landed with %d workers, want 11 with 2", a.Landed, a.Workers)
	}
	second.Stop()
	field.Advance(30 * time.Second)
	if a := field.Airport("crm:acme"); a.Workers != 1 {
		t.Errorf("%d workers after one left, want 1", a.Workers)
	}
}

func TestReplayAfterTheFixLandsAll(t *testing.T) {
	v := &vendor{err: errGate}
	var keys []string
	field := governortest.New(t, crm(v))
	field.DispatchAll("crm:acme/contacts", backlog(0, 10)...)
	field.Settle()
	v.fly = func(_ context.Context, f governor.Flight[[]byte]) error {
		if f.Replays != 1 || f.Key != f.ID+"-1" {
			keys = append(keys, f.Key)
		}
		return nil
	}
	field.Reopen("crm:acme/contacts")
	field.Replay("crm:acme/contacts")
	field.Settle()
	if g := field.Gate("crm:acme/contacts"); g.State != governor.OpenState || g.Parked != 0 || g.Landed != 10 {
		t.Fatalf("%s, %d parked, %d landed; want all 10 landed", g.State, g.Parked, g.Landed)
	}
	if len(keys) > 0 {
		t.Errorf("flown under %v after a replay, want the flight's id and -1: a vendor may answer an old key with its old failure", keys)
	}
}
