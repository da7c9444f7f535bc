package settle_test

import (
	"testing"
	"time"

	"github.com/traction-go/traction/pkg/settle"
)

// The settle table for flights that flew, row by row, with the default policy.
func TestDecideTable(t *testing.T) {
	fresh := settle.Holds{}
	defer0 := settle.Move{Settlement: settle.Defer}
	hold := func(d time.Duration, why settle.HoldReason, h settle.Holds) settle.Move {
		return settle.Move{Settlement: settle.Hold, Delay: d, HeldFor: why, Holds: h}
	}
	park := func(r settle.Reason, h settle.Holds) settle.Move {
		return settle.Move{Settlement: settle.Park, Reason: r, Holds: h}
	}
	deferred := func(h settle.Holds) settle.Move { return settle.Move{Settlement: settle.Defer, Holds: h} }
	tr := func(n int) settle.Holds { return settle.Holds{Transient: n} }

	for _, row := range []struct {
		name    string
		outcome settle.Outcome
		spent   settle.Holds
		want    settle.Plan
	}{
		{"landed", settle.Landed, fresh, settle.Plan{Move: settle.Move{Settlement: settle.Land, Landing: settle.AsLanded}}},
		{"landed late", settle.Landed, tr(2), settle.Plan{Move: settle.Move{Settlement: settle.Land, Landing: settle.AsLanded}}},
		{"bad record", settle.FlightFault, tr(1), settle.Plan{Move: settle.Move{Settlement: settle.Land, Landing: settle.AsRejected, Holds: tr(1)}}},
		{"gate fault", settle.GateFault, tr(1), settle.Plan{Move: park(settle.ReasonGateFault, tr(1))}},
		{"airport fault", settle.AirportFault, fresh, settle.Plan{Move: defer0, Otherwise: hold(30*time.Second, settle.HoldTransient, tr(1))}},
		{"airport fault, budget spent", settle.AirportFault, tr(3), settle.Plan{Move: deferred(tr(3)), Otherwise: park(settle.ReasonHoldBudget, tr(3))}},
		{"rate limit", settle.RateLimit, tr(1), settle.Plan{Move: deferred(tr(1)), Otherwise: hold(2*time.Minute, settle.HoldTransient, tr(2))}},
		{"conflict after its retries", settle.Conflict, fresh, settle.Plan{Move: hold(30*time.Second, settle.HoldTransient, tr(1)), Otherwise: defer0}},
		{"transient 1", settle.Transient, fresh, settle.Plan{Move: hold(30*time.Second, settle.HoldTransient, tr(1)), Otherwise: defer0}},
		{"transient 2", settle.Transient, tr(1), settle.Plan{Move: hold(2*time.Minute, settle.HoldTransient, tr(2)), Otherwise: deferred(tr(1))}},
		{"transient 3", settle.Transient, tr(2), settle.Plan{Move: hold(10*time.Minute, settle.HoldTransient, tr(3)), Otherwise: deferred(tr(2))}},
		{"transient 4", settle.Transient, tr(3), settle.Plan{Move: park(settle.ReasonHoldBudget, tr(3)), Otherwise: deferred(tr(3))}},
		{"internal 1", settle.Internal, tr(3), settle.Plan{Move: hold(30*time.Second, settle.HoldInternal, settle.Holds{Transient: 3, Internal: 1})}},
		{"internal 2", settle.Internal, settle.Holds{Internal: 1}, settle.Plan{Move: park(settle.ReasonInternal, settle.Holds{Internal: 1})}},
		{"no outcome", 0, fresh, settle.Plan{Move: hold(30*time.Second, settle.HoldInternal, settle.Holds{Internal: 1})}},
		{"an outcome nobody made", 200, settle.Holds{Internal: 1}, settle.Plan{Move: park(settle.ReasonInternal, settle.Holds{Internal: 1})}},
		{"a count below zero", settle.Transient, tr(-1), settle.Plan{Move: park(settle.ReasonHoldBudget, tr(-1)), Otherwise: deferred(tr(-1))}},
	} {
		t.Run(row.name, func(t *testing.T) {
			if got := settle.Decide(row.outcome, row.spent, settle.DefaultPolicy()); got != row.want {
				t.Errorf("Decide(%v, %q)\n got %+v\nwant %+v", row.outcome, row.spent, got, row.want)
			}
		})
	}
}

// A policy without holds parks at the first failure.
func TestDecideWithoutPatience(t *testing.T) {
	for o, want := range map[settle.Outcome]settle.Reason{
		settle.Transient: settle.ReasonHoldBudget, settle.Internal: settle.ReasonInternal,
	} {
		got := settle.Decide(o, settle.Holds{}, settle.Policy{}).Move
		if got != (settle.Move{Settlement: settle.Park, Reason: want}) {
			t.Errorf("Decide(%v) with no holds: %+v", o, got)
		}
	}
}

func TestFindTable(t *testing.T) {
	spent := settle.Holds{Transient: 2, Internal: 1}
	park := func(r settle.Reason) settle.Step {
		return settle.Step{Move: settle.Move{Settlement: settle.Park, Reason: r, Holds: spent}}
	}
	back := settle.Step{Return: true}
	land := func(l settle.Landing) settle.Step {
		return settle.Step{Move: settle.Move{Settlement: settle.Land, Landing: l}}
	}
	for _, row := range []struct {
		name       string
		finding    settle.Finding
		park, stay settle.Step
	}{
		{"airport stopped", settle.FoundAirportStopped, back, back},
		{"gate stopped", settle.FoundGateStopped, park(settle.ReasonGateStopped), back},
		{"gate paused", settle.FoundGatePaused, back, back},
		{"wait", settle.FoundWait, settle.Step{Wait: true}, settle.Step{Wait: true}},
		{
			"held", settle.FoundHeld,
			settle.Step{Move: settle.Move{Settlement: settle.Hold, Delay: 10 * time.Second, Holds: spent}},
			settle.Step{Move: settle.Move{Settlement: settle.Hold, Delay: 10 * time.Second, Holds: spent}},
		},
		{"landed already", settle.FoundLanded, land(settle.AsLanded), land(settle.AsLanded)},
		{"aborted", settle.FoundAborted, land(settle.AsSkipped), land(settle.AsSkipped)},
		{"charter lost", settle.FoundCharterLost, park(settle.ReasonCharterLost), park(settle.ReasonCharterLost)},
		{"malformed", settle.FoundMalformed, park(settle.ReasonMalformed), park(settle.ReasonMalformed)},
		{"convicted", settle.FoundConvicted, park(settle.ReasonPoisonPill), park(settle.ReasonPoisonPill)},
		{"a finding nobody made", 99, back, back},
	} {
		t.Run(row.name, func(t *testing.T) {
			if got := settle.Find(row.finding, settle.ParkOnStop, spent); got != row.park {
				t.Errorf("on_stop park: got %+v, want %+v", got, row.park)
			}
			if got := settle.Find(row.finding, settle.StayOnStop, spent); got != row.stay {
				t.Errorf("on_stop stay: got %+v, want %+v", got, row.stay)
			}
		})
	}
}

func TestOutcomeNames(t *testing.T) {
	names := []string{"LANDED", "FLIGHT_FAULT", "GATE_FAULT", "AIRPORT_FAULT", "RATE_LIMIT", "CONFLICT", "TRANSIENT", "INTERNAL"}
	all := settle.Outcomes()
	if len(all) != len(names) {
		t.Fatalf("%d outcomes, want %d", len(all), len(names))
	}
	for i, o := range all {
		if o.String() != names[i] || !o.Valid() {
			t.Errorf("outcome %d is %q, valid %v; want %q", i, o, o.Valid(), names[i])
		}
		if back, err := settle.ParseOutcome(names[i]); err != nil || back != o {
			t.Errorf("ParseOutcome(%q) = %v, %v", names[i], back, err)
		}
		counts := o == settle.FlightFault || o == settle.Internal
		if o.CountsRecord() != counts {
			t.Errorf("%v.CountsRecord() = %v", o, o.CountsRecord())
		}
	}
	for _, bad := range []string{"", "landed", "LANDED ", "Outcome(9)"} {
		if o, err := settle.ParseOutcome(bad); err == nil || o != 0 {
			t.Errorf("ParseOutcome(%q) = %v, %v; want an error and no outcome", bad, o, err)
		}
	}
	for _, o := range []settle.Outcome{0, 9, 255} {
		if o.Valid() {
			t.Errorf("Outcome(%d) is valid", o)
		}
	}
	if got := settle.Outcome(9).String(); got != "Outcome(9)" {
		t.Errorf("unknown outcome prints %q", got)
	}
}

func TestMoveNames(t *testing.T) {
	for want, m := range map[string]settle.Move{
		"landed":   {Settlement: settle.Land},
		"rejected": {Settlement: settle.Land, Landing: settle.AsRejected},
		"skipped":  {Settlement: settle.Land, Landing: settle.AsSkipped},
		"hold":     {Settlement: settle.Hold},
		"park":     {Settlement: settle.Park},
		"defer":    {Settlement: settle.Defer},
		"none":     {},
	} {
		if got := m.Name(); got != want {
			t.Errorf("%+v is named %q, want %q", m, got, want)
		}
	}
}

// Only the reasons without an incident of their own are told when they park.
func TestReasonTells(t *testing.T) {
	for r, want := range map[settle.Reason]bool{
		settle.ReasonGateFault: false, settle.ReasonGateStopped: false,
		settle.ReasonPoisonPill: false, settle.ReasonCharterLost: false,
		settle.ReasonHoldBudget: true, settle.ReasonInternal: true,
		settle.ReasonMalformed: true, settle.ReasonDeliveryLimit: true,
		"SOMETHING_NEW": false,
	} {
		if r.Tells() != want {
			t.Errorf("%s.Tells() = %v, want %v", r, r.Tells(), want)
		}
	}
}
