package governor_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"

	"github.com/traction-go/traction/internal/broker/memory"
	"github.com/traction-go/traction/internal/store"
	"github.com/traction-go/traction/internal/testsvc"
	"github.com/traction-go/traction/pkg/governor"
)

// onFragile runs a test on services whose store it may empty and stop.
func onFragile(t *testing.T, test func(f *fleet, s fragile)) {
	t.Parallel()
	t.Run("embedded", func(t *testing.T) {
		t.Parallel()
		b := memory.NewBroker()
		m := miniredis.RunT(t)
		f := &fleet{t: t, cfg: governor.Config{Heartbeat: beat, Logger: logger()}}
		f.open = func() *governor.Governor {
			st, err := store.Open(store.Config{URLs: []string{"redis://" + m.Addr()}, Namespace: "tr", Timeout: time.Second})
			if err != nil {
				t.Fatal(err)
			}
			g, err := governor.Open(t.Context(), f.cfg.WithServices(governor.Services{Broker: b.Dial(), Store: st}))
			if err != nil {
				t.Fatal(err)
			}
			return g
		}
		test(f, fragile{flush: m.FlushAll, down: func() { m.SetError("LOADING away") }, up: func() { m.SetError("") }, cut: b.DropConnections})
	})
	t.Run("real", func(t *testing.T) {
		t.Parallel()
		testsvc.Need(t)
		r := testsvc.Redis(t)
		f := &fleet{t: t, cfg: governor.Config{AMQP: testsvc.SharedRabbitMQ(t), Redis: r.URL(), Namespace: testsvc.Namespace(t),
			Heartbeat: beat, Logger: logger(), StoreTimeout: time.Second}}
		f.open = func() *governor.Governor {
			g, err := governor.Open(t.Context(), f.cfg)
			if err != nil {
				t.Fatal(err)
			}
			return g
		}
		test(f, fragile{flush: r.FlushAll, down: r.Stop, up: r.Start})
	})
}

// fragile is what a test does to the services.
type fragile struct {
	flush, down, up func()
	cut             func()
}

func TestFlushDuringAStopKeepsItStopped(t *testing.T) {
	onFragile(t, func(f *fleet, s fragile) {
		t := f.t
		h := &hook{}
		f.cfg.Hooks = []governor.Hook{h}
		v := newVendor()
		v.fail(errAuth)
		g, _ := f.run(crm(v))
		f.run(crm(v))
		f.dispatch(g, "crm:acme/contacts", 50)
		f.until("the stop", func() bool { return f.state(g, "crm:acme").State == governor.Stopped })
		f.until("its notification", func() bool { return len(h.of("GROUND_STOP")) == 1 })
		f.until("the flights back", func() bool { a := f.state(g, "crm:acme"); return a.Runway == 50 && a.InAir == 0 })
		before := v.calls.Load()
		s.flush()
		f.until("the loss noticed", func() bool { return f.state(g, "crm:acme").Reason == "STATE_LOST" })
		f.until("its notification", func() bool { return len(h.of("STATE_LOST")) >= 1 })
		// Everybody offers STOPPED: a restore has nothing to restore, and what was
		// stopped stays so.
		f.stays("stopped without a call", 12*time.Second, func() bool {
			return f.stopped(g) && v.calls.Load() == before
		})
		if n := len(h.of("STATE_LOST")); n != 1 {
			t.Fatalf("%d STATE_LOST notifications, want 1", n)
		}
		v.mend()
		if _, err := g.Reopen(t.Context(), "crm:acme", governor.ReopenOptions{}); err != nil {
			t.Fatal(err)
		}
		f.until("50 landings", func() bool { n, _ := v.count(); return n == 50 })
	})
}

// stopped reports whether the airport is STOPPED, as far as the store answers: a look
// that it does not answer in time shows nothing. The last word is a reopen's.
func (f *fleet) stopped(g *governor.Governor) bool {
	f.t.Helper()
	state := f.state(g, "crm:acme").State
	return state == governor.Stopped || state == ""
}

// stays watches for d that something remains true.
func (f *fleet) stays(what string, d time.Duration, cond func() bool) {
	f.t.Helper()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	end := time.After(d)
	for {
		select {
		case <-end:
			return
		case <-tick.C:
			if !cond() {
				f.t.Fatalf("%s: no longer so", what)
			}
		}
	}
}

func TestFlushOfAnOpenFleetComesBackByItself(t *testing.T) {
	onFragile(t, func(f *fleet, s fragile) {
		t := f.t
		v := newVendor()
		g, _ := f.run(crm(v))
		f.run(crm(v))
		f.dispatch(g, "crm:acme/contacts", 50)
		f.until("50 landings", func() bool { n, _ := v.count(); return n == 50 })
		s.flush()
		f.until("the pause", func() bool { return f.state(g, "crm:acme").State == governor.Stopped })
		f.until("coming back", func() bool { return f.state(g, "crm:acme").State == governor.OpenState })
		v.mu.Lock()
		clear(v.landed)
		v.mu.Unlock()
		f.dispatch(g, "crm:acme/contacts", 50)
		f.until("50 more", func() bool { n, _ := v.count(); return n == 50 })
		inc, err := g.Incidents(t.Context(), governor.IncidentFilter{Open: true})
		if err != nil || len(inc) != 0 {
			t.Fatalf("%v %+v", err, inc)
		}
	})
}

func TestColdStartOnAnEmptyStoreIsStopped(t *testing.T) {
	onFragile(t, func(f *fleet, s fragile) {
		t := f.t
		h := &hook{}
		f.cfg.Hooks = []governor.Hook{h}
		v := newVendor()
		g, stop := f.run(crm(v))
		f.dispatch(g, "crm:acme/contacts", 1)
		f.until("a landing", func() bool { n, _ := v.count(); return n == 1 })
		stop()
		v.mu.Lock()
		clear(v.landed)
		v.mu.Unlock()
		s.flush()
		f.dispatch(g, "crm:acme/contacts", 20)
		before := v.calls.Load()
		g2, _ := f.run(crm(v))
		f.until("STATE_LOST", func() bool { return f.state(g2, "crm:acme").Reason == "STATE_LOST" })
		f.until("its notification", func() bool { return len(h.of("STATE_LOST")) == 1 })
		f.stays("stopped without a call", 12*time.Second, func() bool {
			return f.stopped(g2) && v.calls.Load() == before
		})
		if n := len(h.of("STATE_LOST")); n != 1 {
			t.Fatalf("%d STATE_LOST notifications, want 1", n)
		}
		if _, err := g2.Reopen(t.Context(), "crm:acme", governor.ReopenOptions{}); err != nil {
			t.Fatal(err)
		}
		f.until("20 landings", func() bool { n, _ := v.count(); return n == 20 })
	})
}

func TestWithoutTheStoreNothingIsCalled(t *testing.T) {
	onFragile(t, func(f *fleet, s fragile) {
		v := newVendor()
		g, _ := f.run(crm(v))
		f.dispatch(g, "crm:acme/contacts", 10)
		f.until("10 landings", func() bool { n, _ := v.count(); return n == 10 })
		v.mu.Lock()
		clear(v.landed)
		v.mu.Unlock()
		s.down()
		before := v.calls.Load()
		ctx, cancel := context.WithTimeout(f.t.Context(), patience)
		defer cancel()
		for range 20 {
			if _, err := g.Dispatch(ctx, "crm:acme/contacts", map[string]int{"id": 1}); err != nil {
				f.t.Fatal(err)
			}
		}
		f.stays("no call", 3*time.Second, func() bool { return v.calls.Load() == before })
		s.up()
		f.until("20 landings, by themselves, or a stop for what a real store forgot", func() bool {
			return v.calls.Load() == before+20 || f.state(g, "crm:acme").Reason == "STATE_LOST"
		})
		f.until("20 landings", func() bool { return v.calls.Load() == before+20 })
	})
}

// What an operator scales while the scope is lost is newer than what any process
// remembers from before.
func TestAScalingAfterALossOutlivesTheMemoryOfBefore(t *testing.T) {
	onFragile(t, func(f *fleet, s fragile) {
		t := f.t
		v := newVendor()
		g, _ := f.run(crm(v))
		const gate = "crm:acme/contacts"
		f.ready(g, gate)
		if _, err := g.Scale(t.Context(), gate, governor.ScaleOptions{Workers: ptr(3), Actor: "ann"}); err != nil {
			t.Fatal(err)
		}
		s.flush()
		f.until("the loss", func() bool { return f.state(g, "crm:acme").State == governor.Stopped })
		f.until("bob's none", func() bool {
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
			defer cancel()
			_, err := g.Scale(ctx, gate, governor.ScaleOptions{Workers: ptr(0), Actor: "bob"})
			return err == nil || errors.Is(err, governor.ErrPartial)
		})
		f.until("coming back", func() bool { return f.state(g, "crm:acme").State == governor.OpenState })
		info, err := g.Gate(t.Context(), gate)
		if err != nil || info.WorkersWanted != 0 || info.ScaledBy != "bob" {
			t.Errorf("%v: %d workers wanted by %q, want bob's 0", err, info.WorkersWanted, info.ScaledBy)
		}
		f.dispatch(g, gate, 5)
		f.stays("no call with no workers", 2*time.Second, func() bool { n, _ := v.count(); return n == 0 })
	})
}
