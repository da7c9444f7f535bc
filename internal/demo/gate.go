package demo

import (
	"context"
	"errors"
	"iter"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/traction-go/traction/internal/cli/render"
	"github.com/traction-go/traction/pkg/governor"
)

const (
	siblingID    = "company-sync"
	siblingScope = airportID + "/" + siblingID

	// faults is how many distinct records stop a gate, by default.
	faults = 3
)

// change is the gate scenario as it goes on.
type change struct {
	*act
	vendor   *contractor
	http     *http.Client
	endpoint atomic.Pointer[string] // where contacts are written to
}

// brokenGate is a vendor's contract change: one gate breaks and stops, its sibling at
// the same airport keeps flying, and what was parked lands after the fix.
func brokenGate(ctx context.Context, st *stage) (res *Result, err error) {
	c := &change{act: newAct(st, "gate")}
	st.Narrator.Say("gate: the vendor has moved %s to %s and told nobody", oldContacts, newContacts)
	if c.vendor, err = startContractor(st.sabotage); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, c.vendor.close()) }()
	c.http = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
	defer c.http.CloseIdleConnections()
	old := oldContacts
	c.endpoint.Store(&old)
	return c.play(ctx, c.airport(), c.books, c.arrive, c.contained, c.repair, c.land)
}

func (c *change) airport() governor.Airport {
	pilot := func(path func() string) governor.Pilot {
		return governor.JSON(func(ctx context.Context, f governor.Flight[contact]) error {
			return post(ctx, c.http, c.vendor.URL+path(), f.Payload)
		})
	}
	return governor.Airport{
		ID:    airportID,
		Slots: governor.Slots{N: c.Rate + c.sabotage.slots, Per: window},
		Gates: []governor.Gate{
			{ID: gateID, Workers: workers, Timeout: 10 * time.Second, Pilot: pilot(func() string { return *c.endpoint.Load() })},
			{ID: siblingID, Workers: workers, Timeout: 10 * time.Second, Pilot: pilot(func() string { return companies })},
		},
	}
}

// half is how many flights each gate gets.
func (c *change) half() int { return c.n / 2 }

func (c *change) arrive(ctx context.Context) (bool, error) {
	c.Narrator.Say("  %s contacts and %s companies arrive at two gates of one airport", count(c.half()), count(c.half()))
	for _, scope := range []string{gateScope, siblingScope} {
		sent, err := c.desk.DispatchAll(ctx, scope, records(c.half()))
		if err != nil {
			return false, err
		}
		want(c.res, "dispatched to "+scope, sent.Sent, c.half())
	}
	return true, nil
}

func records(n int) iter.Seq2[governor.Outgoing, error] {
	return func(yield func(governor.Outgoing, error) bool) {
		for i := range n {
			c := contactNumber(i)
			if !yield(governor.Outgoing{Payload: c.payload(), BusinessID: c.ID, ContentType: "application/json"}, nil) {
				return
			}
		}
	}
}

// contained watches until every contact is parked and every company has landed, with
// the gate stopped and the airport open.
func (c *change) contained(ctx context.Context) (bool, error) {
	var a governor.AirportInfo
	_, err := watch(ctx, c.stage, func(ctx context.Context) (seen [3]int, done bool, err error) {
		a, err = c.look(ctx)
		g := gate(a, gateScope)
		landed, _ := c.vendor.landed(companies)
		c.Narrator.Progress("  contacts parked %s · companies landed %s", count(g.Parked), count(landed))
		told := len(c.pager.taken())
		return [3]int{g.Parked, landed, told}, err == nil && g.Parked == c.half() && landed == c.half() && a.InAir == 0 && told > 0, err
	})
	if err != nil {
		return false, err
	}
	g, sibling := gate(a, gateScope), gate(a, siblingScope)
	landed, _ := c.vendor.landed(companies)
	c.Narrator.Say("    %-22s  %-7s  %-10s  %6s  %6s", "GATE", "STATE", "REASON", "PARKED", "LANDED")
	for _, x := range []governor.GateInfo{g, sibling} {
		c.Narrator.Say("    %-22s  %-7s  %-10s  %6s  %6s", x.Gate, x.State, or(x.Reason, "-"), count(x.Parked), count(int(x.Landed)))
	}
	want(c.res, "the broken gate", g.State, governor.Stopped)
	want(c.res, "its sibling", sibling.State, governor.OpenState)
	want(c.res, "their airport", a.State, governor.OpenState)
	want(c.res, "contacts parked", g.Parked, c.half())
	want(c.res, "companies landed meanwhile", landed, c.half())
	i, err := c.desk.Incident(ctx, gateScope)
	if err != nil && !errors.Is(err, governor.ErrNotFound) {
		return false, err
	}
	c.res.check(len(i.Records) >= faults, "records implicated in the stop: %d, want %d or more", len(i.Records), faults)
	return len(c.res.Differences) == 0, nil
}

// repair is what a human does: fix, reopen, replay.
func (c *change) repair(ctx context.Context) (bool, error) {
	fixed := newContacts
	c.endpoint.Store(&fixed)
	c.Narrator.Say("  Somebody deploys the new endpoint, then:")
	c.shell("gate reopen " + gateScope)
	r, err := c.desk.Reopen(ctx, gateScope, governor.ReopenOptions{Reason: "contacts are written to " + newContacts})
	if err != nil {
		return false, err
	}
	c.Narrator.Say("    %s is %s, was %s for %s", r.Scope, r.State, r.Was, render.Rough(r.Stood))
	c.shell("parked replay " + gateScope)
	m, err := c.desk.Replay(ctx, governor.ParkedShelf, gateScope, governor.MoveOptions{})
	if err != nil {
		return false, err
	}
	c.Narrator.Say("    replayed %s of %s parked at %s; left %s", count(m.Moved), count(m.Planned), gateScope, count(m.Left))
	want(c.res, "replayed", m.Moved, c.half())
	return true, nil
}

func (c *change) land(ctx context.Context) (bool, error) {
	began := time.Now()
	landed := 0
	_, err := watch(ctx, c.stage, func(ctx context.Context) (seen [2]int, done bool, err error) {
		a, err := c.look(ctx)
		landed, _ = c.vendor.landed(newContacts)
		g := gate(a, gateScope)
		c.Narrator.Progress("  contacts landed %s of %s", count(landed), count(c.half()))
		return [2]int{landed, g.Parked}, err == nil && (g.State == governor.Stopped || landed == c.half() && a.InAir == 0 && a.Runway == 0), err
	})
	c.Narrator.Say("  contacts landed %s of %s in %s", count(landed), count(c.half()), seconds(began))
	return err == nil, err
}

// books measures what is left when the fleet has drained.
func (c *change) books(ctx context.Context) error {
	a, err := c.look(ctx)
	if err != nil {
		return err
	}
	done, err := c.done(ctx)
	if err != nil {
		return err
	}
	open, err := c.desk.Incidents(ctx, governor.IncidentFilter{Open: true})
	if err != nil {
		return err
	}
	stray, err := c.stray(ctx)
	if err != nil {
		return err
	}
	contacts, writes := c.vendor.landed(newContacts)
	sibling, siblingWrites := c.vendor.landed(companies)
	told := c.pager.taken()
	waiting := a.Runway + a.Holding

	r := c.res
	lost := 2*c.half() - contacts - sibling - waiting - a.Parked - a.Rejected - stray
	r.fact("lost", lost)
	r.fact("notifications", len(told))
	r.fact("calls to the moved endpoint", c.vendor.gone())
	r.fact("landed meanwhile at the sibling", sibling)
	r.fact("parked, then landed", contacts)
	r.fact("recovery", commands(done))

	want(r, "lost", lost, 0)
	want(r, "contacts landed", contacts, c.half())
	want(r, "writes of the contacts", writes, contacts)
	want(r, "writes of the companies", siblingWrites, sibling)
	want(r, "waiting, parked, rejected or dead-lettered", waiting+a.Parked+a.Rejected+stray, 0)
	want(r, "notifications", len(told), 1)
	for _, t := range told {
		want(r, "notification", t.Type+" "+t.Scope, "GATE_STOP "+gateScope)
	}
	want(r, "operators' commands", done, 2)
	want(r, "open incidents at the end", len(open), 0)
	// What was in the air when the third fault came is called too, and nothing else.
	most := faults + processes*workers
	r.check(c.vendor.gone() >= faults && c.vendor.gone() <= most, "calls to the moved endpoint: %d, want %d to %d", c.vendor.gone(), faults, most)
	return nil
}

func or(s, other string) string {
	if s == "" {
		return other
	}
	return s
}
