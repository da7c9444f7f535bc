package governor_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/traction-go/traction/internal/testsvc"
	"github.com/traction-go/traction/pkg/governor"
)

// hook counts what people are told.
type hook struct {
	mu   sync.Mutex
	seen map[string]int // by key
	all  []governor.Notification
}

func (h *hook) Notify(_ context.Context, n governor.Notification) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.seen == nil {
		h.seen = map[string]int{}
	}
	h.seen[n.Key]++
	h.all = append(h.all, n)
	return nil
}

func (h *hook) of(kind string) (list []governor.Notification) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, n := range h.all {
		if n.Type == kind {
			list = append(list, n)
		}
	}
	return list
}

func crm(v governor.Pilot) governor.Airport {
	return governor.Airport{ID: "crm:acme", Gates: []governor.Gate{{ID: "contacts", Pilot: v, Workers: 4}}, Reporter: report}
}

func (f *fleet) state(g *governor.Governor, id string) governor.AirportInfo {
	f.t.Helper()
	ctx, cancel := context.WithTimeout(f.t.Context(), 30*time.Second)
	defer cancel()
	a, err := g.Airport(ctx, id)
	if err != nil && !errors.Is(err, governor.ErrNotFound) && !errors.Is(err, governor.ErrUnreachable) {
		f.t.Fatal(err)
	}
	return a
}

func (f *fleet) until(what string, cond func() bool) {
	f.t.Helper()
	testsvc.Until(f.t, patience, what, cond)
}

func TestADeadTokenCostsWhatWasInTheAir(t *testing.T) {
	onBoth(t, func(f *fleet) {
		t := f.t
		h := &hook{}
		f.cfg.Hooks = []governor.Hook{h}
		v := newVendor()
		v.fail(errAuth)
		g, _ := f.run(crm(v))
		f.run(crm(v))
		f.run(crm(v))
		f.dispatch(g, "crm:acme/contacts", 1000)
		f.until("the stop", func() bool { return f.state(g, "crm:acme").State == governor.Stopped })
		f.until("one notification", func() bool { return len(h.of("GROUND_STOP")) == 1 })
		f.until("all flights back on the runway", func() bool { a := f.state(g, "crm:acme"); return a.Runway == 1000 && a.InAir == 0 })
		if n := v.calls.Load(); n > 12 || n < 1 {
			t.Fatalf("%d calls reached the dead vendor, want 1 to 12", n)
		}
		inc, err := g.Incidents(t.Context(), governor.IncidentFilter{Open: true})
		if err != nil || len(inc) != 1 || inc[0].Kind != "GROUND_STOP" || inc[0].Evidence == "" {
			t.Fatalf("%v %+v", err, inc)
		}
		before := v.calls.Load()
		f.run(crm(v)) // a worker that boots into a ground stop makes no call
		f.until("the fourth worker's beat", func() bool { return f.state(g, "crm:acme").Workers == 4 })
		f.until("nothing in the fourth worker's hand", func() bool { return f.state(g, "crm:acme").Runway == 1000 })
		if n := v.calls.Load(); n != before {
			t.Fatalf("%d calls while stopped", n-before)
		}
		v.mend()
		r, err := g.Reopen(t.Context(), "crm:acme", governor.ReopenOptions{Actor: "dana"})
		// What a worker took and gave back just now is told by its beats: it may be counted
		// neither here nor there for a moment.
		if err != nil || !r.Changed || r.Was != governor.Stopped || r.Waiting < 900 || r.Waiting > 1000 {
			t.Fatalf("%v %+v", err, r)
		}
		f.until("1,000 landings", func() bool { n, _ := v.count(); return n == 1000 })
		f.until("an empty runway", func() bool { a := f.state(g, "crm:acme"); return a.Runway == 0 && a.InAir == 0 })
		if n, total := v.count(); total != n {
			t.Fatalf("%d flights landed in %d calls", n, total)
		}
		if a := f.state(g, "crm:acme"); a.Parked != 0 || a.Rejected != 0 || a.Landed != 1000 {
			t.Fatalf("%+v", a)
		}
		if got := len(h.all); got != 1 {
			t.Fatalf("%d notifications, want 1: %+v", got, h.all)
		}
	})
}

func TestThirtyStopsAndReopensLoseNothing(t *testing.T) {
	onBoth(t, func(f *fleet) {
		t := f.t
		v := newVendor()
		v.fail(errAuth)
		g, _ := f.run(crm(v))
		f.run(crm(v))
		f.dispatch(g, "crm:acme/contacts", 300)
		for range 30 {
			f.until("the stop", func() bool { return f.state(g, "crm:acme").State == governor.Stopped })
			if _, err := g.Reopen(t.Context(), "crm:acme", governor.ReopenOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		f.until("the last stop", func() bool { return f.state(g, "crm:acme").State == governor.Stopped })
		v.mend()
		if _, err := g.Reopen(t.Context(), "crm:acme", governor.ReopenOptions{}); err != nil {
			t.Fatal(err)
		}
		f.until("300 landings", func() bool { n, _ := v.count(); return n == 300 })
		f.until("an empty runway", func() bool { a := f.state(g, "crm:acme"); return a.Runway == 0 && a.InAir == 0 })
		if n, total := v.count(); n != total {
			t.Errorf("%d flights landed in %d calls", n, total)
		}
		if a := f.state(g, "crm:acme"); a.Landed != 300 || a.Parked+a.Rejected != 0 {
			t.Fatalf("%+v", a)
		}
	})
}

// What workers have taken from the runway and not called yet waits too, though the
// broker no longer counts it.
func TestWhatIsInHandWaits(t *testing.T) {
	onBoth(t, func(f *fleet) {
		t := f.t
		f.cfg.Heartbeat = 2 * time.Second // what is in hand is told by the beats, for as long as five of them
		v := newVendor()
		a := crm(v)
		// A clearance whose answer is lost costs its slot: the next comes in bounded time.
		a.Slots = governor.Slots{N: 1, Per: 20 * time.Second}
		g, _ := f.run(a)
		f.dispatch(g, "crm:acme/contacts", 3)
		f.until("one landing, and two in hand", func() bool {
			x := f.state(g, "crm:acme")
			return x.Landed == 1 && x.Runway == 2 && x.InAir == 0
		})
		r, err := g.Reopen(t.Context(), "crm:acme", governor.ReopenOptions{})
		if err != nil || r.Waiting != 2 {
			t.Fatalf("%v %+v", err, r)
		}
	})
}

// An airport's reopen says which of its gates still do not fly.
func TestAReopenNamesTheGatesThatStayStopped(t *testing.T) {
	onBoth(t, func(f *fleet) {
		t := f.t
		g, _ := f.run(crm(newVendor()))
		f.ready(g, "crm:acme/contacts")
		if _, err := g.Pause(t.Context(), "crm:acme/contacts", governor.PauseOptions{Reason: "looking"}); err != nil {
			t.Fatal(err)
		}
		r, err := g.Reopen(t.Context(), "crm:acme", governor.ReopenOptions{})
		if err != nil || r.Changed || len(r.Gates) != 1 || r.Gates[0].Gate != "crm:acme/contacts" || r.Gates[0].State != governor.Paused {
			t.Fatalf("%v %+v", err, r)
		}
	})
}
