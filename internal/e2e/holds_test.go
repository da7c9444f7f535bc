//go:build unix

package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/governor"
)

func TestHoldsComeBackAfterTheirDelayAndParkPastTheBudget(t *testing.T) {
	t.Parallel()
	s := newSite(t, "", "")
	s.holds = []string{"300ms", "700ms", "400ms"}
	s.vendor.saying(func(c call) answer {
		switch {
		case c.business == "blip0" && c.nth == 1:
			return answer{status: 503}
		case strings.HasPrefix(c.business, "down"):
			return answer{status: 503}
		case strings.HasPrefix(c.business, "odd"):
			return answer{status: 418, body: "I am a teapot"}
		case strings.HasPrefix(c.business, "bad"):
			return answer{status: 422, body: "no such country"}
		}
		return ok
	})
	file := s.config("traction.yaml", `
  crm:acme:
    holds: {transient: [300ms, 700ms], internal: [400ms]}
    streaks: {transient: 1000, record_fault: 1000}
    gates:
      contacts: {workers: 4, timeout: 20s, http: {url: "VENDOR/contacts"}}
`)
	s.start(2, file)
	s.dispatch(contacts, "down", 0, 3)
	s.dispatch(contacts, "odd", 0, 2)
	s.dispatch(contacts, "blip", 0, 1)
	s.dispatch(contacts, "bad", 0, 2)
	s.dispatch(contacts, "fine", 0, 10)
	s.vendor.lands(t, 11)
	s.until("five parked", func() bool { return s.look().Parked == 5 })
	s.hook.tells(t, 2, wire.Parking)

	at := map[string][]time.Time{}
	for _, c := range s.vendor.all() {
		at[c.business] = append(at[c.business], c.at)
	}
	for id, delays := range map[string][]time.Duration{
		"down0": {300 * time.Millisecond, 700 * time.Millisecond}, "down1": {300 * time.Millisecond, 700 * time.Millisecond},
		"odd0": {400 * time.Millisecond}, "blip0": {300 * time.Millisecond}, "bad0": nil, "fine0": nil,
	} {
		if len(at[id]) != len(delays)+1 {
			t.Errorf("%s was called %d times, want %d", id, len(at[id]), len(delays)+1)
			continue
		}
		for i, d := range delays {
			if got := at[id][i+1].Sub(at[id][i]); got < d {
				t.Errorf("%s came back after %v from a hold of %v", id, got, d)
			}
		}
	}
	type parked struct{ BusinessID, Reason string }
	var got []parked
	for _, p := range asJSON[[]struct {
		BusinessID string `json:"business_id"`
		Reason     string `json:"reason"`
	}](s, "parked", "list", contacts) {
		got = append(got, parked{p.BusinessID, p.Reason})
	}
	slices.SortFunc(got, func(a, b parked) int { return strings.Compare(a.BusinessID, b.BusinessID) })
	if want := "[{down0 HOLD_BUDGET} {down1 HOLD_BUDGET} {down2 HOLD_BUDGET} {odd0 INTERNAL} {odd1 INTERNAL}]"; fmt.Sprint(got) != want {
		t.Errorf("parked list: %v, want %s", got, want)
	}
	b := s.close(true)
	if !sameSet(b.parked, "down0", "down1", "down2", "odd0", "odd1") || !sameSet(b.rejected, "bad0", "bad1") || len(b.landed) != 11 {
		t.Errorf("parked %v, rejected %v, %d landed", b.parked, b.rejected, len(b.landed))
	}
	s.hook.once(t, wire.Parking, 2) // one per reason
}

func TestAGateStopsOnThreeRecordsAndOnlyALandingClearsTheStreak(t *testing.T) {
	t.Parallel()
	s := newSite(t, "", "")
	s.holds = []string{"200ms"}
	s.vendor.saying(func(c call) answer {
		switch {
		case strings.HasPrefix(c.business, "gone"):
			return answer{status: 403, body: "this object is not for you"}
		case strings.HasPrefix(c.business, "bad"):
			return answer{status: 422}
		case strings.HasPrefix(c.business, "blip") && c.nth == 1:
			return answer{status: 503}
		}
		return ok
	})
	file := s.config("traction.yaml", `
  crm:acme:
    holds: {transient: [200ms]}
    streaks: {transient: 1000}
    gates:
      contacts: {workers: 4, timeout: 20s, http: {url: "VENDOR/contacts"}}
`)
	s.start(2, file)
	gate := func() governor.GateInfo {
		for _, g := range s.look().Gates {
			if g.Gate == contacts {
				return g
			}
		}
		return governor.GateInfo{}
	}
	parked := func(n int) {
		t.Helper()
		s.until(fmt.Sprintf("%d parked", n), func() bool { return s.look().Parked == n })
		if g := gate(); g.State != governor.OpenState {
			t.Fatalf("with %d parked the gate is %s %s", n, g.State, g.Reason)
		}
	}
	// One record three times, and a second: two records.
	for range 3 {
		s.dispatch(contacts, "gone", 0, 1)
	}
	parked(3)
	s.dispatch(contacts, "gone", 1, 2)
	parked(4)
	// A landing clears the two.
	s.dispatch(contacts, "fine", 0, 1)
	s.vendor.lands(t, 1)
	s.until("the landing to be settled", func() bool { return s.look().Landed == 1 })
	s.dispatch(contacts, "gone", 2, 4)
	parked(6)
	// A rejection clears nothing.
	s.dispatch(contacts, "bad", 0, 1)
	s.until("the rejection", func() bool { return s.look().Rejected == 1 })
	s.dispatch(contacts, "gone", 4, 5)
	s.until("the gate's stop", func() bool { return gate().State == governor.Stopped })
	if a := s.look(); a.State != governor.OpenState {
		t.Errorf("the airport is %s %s, want it open beside its stopped gate", a.State, a.Reason)
	}
	s.hook.tells(t, 1, wire.GateStop)
	open := s.incidents("--open")
	if len(open) != 1 || open[0].Kind != "GATE_STOP" || open[0].Scope != contacts || len(open[0].Records) != 3 ||
		!slices.Contains(open[0].Records, "gone2") || !slices.Contains(open[0].Records, "gone3") || !slices.Contains(open[0].Records, "gone4") {
		t.Errorf("open incidents: %+v, want one of gone2, gone3 and gone4", open)
	}
	// A stopped gate parks what comes, uncalled.
	before := s.vendor.count()
	s.dispatch(contacts, "late", 0, 5)
	s.until("five more parked", func() bool { return s.look().Parked == 12 })
	if n := s.vendor.count(); n != before {
		t.Errorf("%d calls of a stopped gate", n-before)
	}
	s.do("gate", "reopen", contacts, "--wait=false")
	s.dispatch(contacts, "fine", 1, 3)
	s.vendor.lands(t, 3)
	b := s.close(false) // gone0 is parked three times: it was dispatched three times
	if len(b.landed) != 3 || !sameSet(b.rejected, "bad0") || len(b.parked) != 10 || b.parked["gone0"] != 3 || len(b.queued) != 0 {
		t.Errorf("landed %v, rejected %v, parked %v, queued %v", b.landed, b.rejected, b.parked, b.queued)
	}
	if b.parkedWhy["gone4"] != "GATE_FAULT" || b.parkedWhy["late0"] != "GATE_STOPPED" {
		t.Errorf("parked for %v", b.parkedWhy)
	}
	s.hook.once(t, wire.GateStop, 1)
}
