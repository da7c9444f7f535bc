package demo

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/traction-go/traction/internal/cli/render"
	"github.com/traction-go/traction/pkg/governor"
)

const (
	airportID = "crm:acme"
	gateID    = "contact-sync"
	gateScope = airportID + "/" + gateID

	// window is what the slots count in, and pace what is checked: a call leaves
	// a moment after its clearance, so the check is a little narrower.
	window = time.Second
	pace   = window * 9 / 10

	// quiet is how long a stopped vendor is watched for a call that should not come.
	quiet = time.Second
)

// night is the outage scenario as it goes on.
type night struct {
	*stage
	n      int
	vendor *vendor
	crm    *crm
	pager  *pager
	desk   *governor.Governor // the operator's: it runs nothing
	res    *Result
}

// outage is the same night, governed: the first refusal stops the airport, the work
// waits, one human is told once, and one command lets it fly.
func outage(ctx context.Context, st *stage) (res *Result, err error) {
	n := &night{stage: st, n: st.Flights, pager: &pager{narrator: st.Narrator}, res: &Result{Scenario: "outage", Label: "traction"}}
	st.Narrator.Say("outage: the same %s contact syncs, governed", count(n.n))
	if n.vendor, err = startVendor(st.sabotage); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, n.vendor.close()) }()
	n.crm = newCRM(n.vendor)
	defer n.crm.close()
	if n.desk, err = st.field.governor(ctx, governor.Config{Name: "tractionctl", NoTower: true, Actor: st.Actor, Logger: st.log()}); err != nil {
		return nil, err
	}
	defer func() {
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), closing)
		defer cancel()
		err = errors.Join(err, n.desk.Close(end))
	}()
	fleet, err := startFleet(ctx, st, n.airport(), n.pager)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, fleet.end(ctx)) }()

	for _, step := range []func(context.Context) (bool, error){n.ready, n.arrive, n.stopped, n.silent, n.reopen, n.land} {
		if on, err := step(ctx); err != nil {
			return nil, err
		} else if !on {
			return n.res, nil // what differs stands in the result
		}
	}
	// What is in hand is settled and given back before the books are closed.
	if err := fleet.end(ctx); err != nil {
		return nil, err
	}
	return n.res, n.books(ctx)
}

func (n *night) airport() governor.Airport {
	return governor.Airport{
		ID:    airportID,
		Slots: governor.Slots{N: n.Rate + n.sabotage.slots, Per: window},
		Gates: []governor.Gate{{
			ID: gateID, Workers: workers, Timeout: 10 * time.Second,
			Pilot: governor.JSON(func(ctx context.Context, f governor.Flight[contact]) error {
				return n.crm.Upsert(ctx, f.Payload)
			}),
		}},
	}
}

// look reads what an operator would see. An airport that nobody has declared yet is
// empty.
func (n *night) look(ctx context.Context) (governor.AirportInfo, error) {
	a, err := n.desk.Airport(ctx, airportID)
	if errors.Is(err, governor.ErrNotFound) {
		return governor.AirportInfo{}, nil
	}
	return a, err
}

// ready waits until every process can fly.
func (n *night) ready(ctx context.Context) (bool, error) {
	able := 0
	ok, err := watch(ctx, n.stage, func(ctx context.Context) (int, bool, error) {
		a, err := n.look(ctx)
		able = 0
		for _, g := range a.Gates {
			able += g.WorkersActual
		}
		return able, a.State == governor.OpenState && able == processes*workers, err
	})
	want(n.res, "workers ready", able, processes*workers)
	return ok, err
}

func (n *night) arrive(ctx context.Context) (bool, error) {
	n.Narrator.Say("  %d processes x %d workers share %s calls a second; the token has expired,", processes, workers, count(n.Rate))
	n.Narrator.Say("  and %s contact syncs arrive", count(n.n))
	sent, err := n.desk.DispatchAll(ctx, gateScope, n.contacts())
	want(n.res, "dispatched", sent.Sent, n.n)
	return true, err
}

func (n *night) contacts() iter.Seq2[governor.Outgoing, error] {
	return func(yield func(governor.Outgoing, error) bool) {
		for i := range n.n {
			c := contactNumber(i)
			if !yield(governor.Outgoing{Payload: c.payload(), BusinessID: c.ID, ContentType: "application/json"}, nil) {
				return
			}
		}
	}
}

// stopped waits until the airport is stopped, everyone is told, and all the work is
// back on the runway.
func (n *night) stopped(ctx context.Context) (bool, error) {
	var a governor.AirportInfo
	_, err := watch(ctx, n.stage, func(ctx context.Context) (seen [4]int, done bool, err error) {
		a, err = n.look(ctx)
		told := len(n.pager.taken())
		n.Narrator.Progress("  %s · waiting %s of %s · calls to the dead vendor %s", a.State, count(a.Runway), count(n.n), count(n.vendor.dead()))
		return [4]int{a.Runway, a.InAir, told, n.vendor.dead()},
			a.State == governor.Stopped && a.Runway == n.n && a.InAir == 0 && a.Unsent == 0 && told > 0, err
	})
	if err != nil {
		return false, err
	}
	want(n.res, "state after the first refusal", a.State, governor.Stopped)
	want(n.res, "flights waiting at the stop", a.Runway, n.n)
	return a.State == governor.Stopped, nil
}

// silent watches that a stopped airport makes no call, and shows what the operator
// sees.
func (n *night) silent(ctx context.Context) (bool, error) {
	before := n.vendor.dead()
	select {
	case <-ctx.Done():
		return false, ctx.Err()
	case <-time.After(quiet):
	}
	dead := n.vendor.dead()
	want(n.res, "calls while stopped", dead-before, 0)
	n.res.check(dead >= 1 && dead <= processes*workers, "calls to the dead vendor: %d, want 1 to the %d in the air", dead, processes*workers)
	a, err := n.look(ctx)
	if err != nil {
		return false, err
	}
	n.Narrator.Say("  %s were in the air; after them the vendor hears nothing.", render.Plural(render.Count(dead), "call"))
	n.Narrator.Say("  What an operator sees now:")
	n.Narrator.Say("    AIRPORT   STATE    REASON         RUNWAY  PARKED  IN AIR")
	n.Narrator.Say("    %-8s  %-7s  %-13s  %6s  %6s  %6s", a.Airport, a.State, a.Reason, count(a.Runway), count(a.Parked), count(a.InAir))
	open, err := n.desk.Incidents(ctx, governor.IncidentFilter{Open: true})
	want(n.res, "open incidents", len(open), 1)
	return true, err
}

// reopen is the one command. It is the code that tractionctl runs.
func (n *night) reopen(ctx context.Context) (bool, error) {
	n.crm.fix()
	n.Narrator.Say("  Somebody fixes the token, then:")
	n.Narrator.Say("    $ tractionctl airport reopen %s", airportID)
	r, err := n.desk.Reopen(ctx, airportID, governor.ReopenOptions{Reason: "the token is renewed"})
	if err != nil {
		return false, err
	}
	n.Narrator.Say("    %s is %s, was %s for %s; %s", r.Scope, r.State, r.Was, render.Rough(r.Stood), waitPhrase(r.Waiting))
	want(n.res, "the reopen changed it", r.Changed, true)
	return true, nil
}

func waitPhrase(n int) string { return render.Plural(render.Count(n), "flight") + " to go" }

// land watches every flight land. A second stop, or something that is parked, ends
// the watch: it would not pass by itself.
func (n *night) land(ctx context.Context) (bool, error) {
	began := time.Now()
	var a governor.AirportInfo
	_, err := watch(ctx, n.stage, func(ctx context.Context) (seen [3]int, done bool, err error) {
		a, err = n.look(ctx)
		landed, writes := n.vendor.landed()
		n.Narrator.Progress("  landed %s of %s", count(landed), count(n.n))
		empty := a.Runway == 0 && a.Holding == 0 && a.InAir == 0
		return [3]int{writes, a.Runway, a.InAir}, err == nil && (a.State != governor.OpenState || landed == n.n && empty), err
	})
	if err != nil {
		return false, err
	}
	landed, _ := n.vendor.landed()
	n.Narrator.Say("  landed %s of %s in %.1fs, at most %s calls within %v, parked %s",
		count(landed), count(n.n), time.Since(began).Seconds(), count(n.crm.peak(pace)), pace, count(a.Parked))
	want(n.res, "state after the reopen", a.State, governor.OpenState)
	return true, nil
}

// books measures what is left when the fleet has drained.
func (n *night) books(ctx context.Context) error {
	a, err := n.look(ctx)
	if err != nil {
		return err
	}
	audit, err := n.desk.Audit(ctx, governor.AuditFilter{Scope: airportID})
	if err != nil {
		return err
	}
	open, err := n.desk.Incidents(ctx, governor.IncidentFilter{Open: true})
	if err != nil {
		return err
	}
	stray := 0 // what hit a delivery limit or found no way back
	for _, q := range []string{n.field.ns.LimitQueue(), n.field.ns.UnroutableQueue()} {
		depth, _, err := n.field.bk.Depth(ctx, q)
		if err != nil {
			return unreachable(err)
		}
		stray += depth
	}
	landed, writes := n.vendor.landed()
	waiting := a.Runway + a.Holding
	told := n.pager.taken()

	r := n.res
	lost := n.n - landed - waiting - a.Parked - a.Rejected - stray
	r.fact("lost", lost)
	r.fact("notifications", len(told))
	r.fact("calls to the dead vendor", n.vendor.dead())
	r.fact("recovery", commands(len(audit)))

	want(r, "lost", lost, 0)
	want(r, "contacts landed", landed, n.n)
	want(r, "writes of the contacts that landed", writes, landed)
	want(r, "waiting", waiting, 0)
	want(r, "parked", a.Parked, 0)
	want(r, "rejected", a.Rejected, 0)
	want(r, "dead-lettered", stray, 0)
	want(r, "notifications", len(told), 1)
	for _, t := range told {
		want(r, "notification", t.Type+" "+t.Reason, "GROUND_STOP AIRPORT_FAULT")
	}
	want(r, "operators' commands", len(audit), 1)
	want(r, "open incidents at the end", len(open), 0)
	peak := n.crm.peak(pace)
	r.check(peak <= n.Rate, "calls within %v: %d, want at most the %d slots of %v", pace, peak, n.Rate, window)
	return nil
}

func commands(n int) string {
	if n == 1 {
		return "one command"
	}
	return fmt.Sprintf("%d commands", n)
}
