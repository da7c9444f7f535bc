package governor_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/traction-go/traction/pkg/governor"
)

// killer is a vendor whose pilot dies of one record, as an exec pilot's child does.
type killer struct {
	*vendor
	pill   string
	deaths atomic.Int64
	beside atomic.Int64 // flights in the air beside the pill's second flight
	inAir  atomic.Int64
}

func (k *killer) Fly(ctx context.Context, f governor.Flight[[]byte]) error {
	k.inAir.Add(1)
	defer k.inAir.Add(-1)
	if f.BusinessID == k.pill {
		if k.deaths.Add(1) == 2 {
			k.beside.Store(k.inAir.Load() - 1)
		}
		return &governor.DeathError{Why: "signal: killed"}
	}
	return k.vendor.Fly(ctx, f)
}

func TestAPillOfAChildIsParkedAtTheSecondDeath(t *testing.T) {
	onBoth(t, func(f *fleet) {
		t := f.t
		h := &hook{}
		f.cfg.Hooks = []governor.Hook{h}
		k := &killer{vendor: newVendor(), pill: "b7"}
		g, _ := f.run(crm(k))
		f.dispatch(g, "crm:acme/contacts", 300)
		f.until("299 landings", func() bool { n, _ := k.count(); return n == 299 })
		f.until("the pill parked", func() bool {
			list, err := g.Parked(t.Context(), "crm:acme/contacts", governor.ParkedFilter{})
			return err == nil && len(list) == 1 && list[0].Reason == "POISON_PILL" && list[0].BusinessID == "b7" &&
				strings.Contains(list[0].Evidence, "died: signal: killed")
		})
		if k.deaths.Load() != 2 || k.beside.Load() != 0 {
			t.Fatalf("%d deaths, %d flights beside the second", k.deaths.Load(), k.beside.Load())
		}
		f.until("one notification that names it", func() bool { l := h.of("POISON_PILL"); return len(l) == 1 && len(l[0].Records) == 2 })
		if n := h.of("POISON_PILL")[0]; !strings.Contains(n.Text, "(record b7): what flew it died of it twice") || !strings.Contains(n.Text, "died: signal: killed") {
			t.Errorf("it says %s", n.Text)
		}
		s, err := g.Suspects(t.Context(), "")
		if err != nil || len(s) != 1 || s[0].Verdict != "CONVICTED" {
			t.Fatalf("%v %+v", err, s)
		}
		f.until("a convicted flight that waits for a human, and no suspect", func() bool {
			a := f.state(g, "crm:acme")
			return a.Parked == 1 && a.State == governor.OpenState && a.Deaths == 2 && a.Suspects == 0
		})
		f.until("a notification that counts it as parked, and not as waiting", func() bool {
			n, err := g.TestNotify(t.Context(), "crm:acme")
			return err == nil && n.Waiting == 0 && n.Parked == 1
		})
		// Everything flies again after the session.
		for i := range 20 {
			if _, err := g.Dispatch(t.Context(), "crm:acme/contacts", map[string]int{"id": i}, governor.BusinessID(fmt.Sprintf("c%d", i))); err != nil {
				t.Fatal(err)
			}
		}
		f.until("20 more", func() bool { n, _ := k.count(); return n == 319 })
	})
}

// stubborn ignores its ended context for one record.
type stubborn struct {
	*vendor
	free chan struct{}
}

func (s *stubborn) Fly(ctx context.Context, f governor.Flight[[]byte]) error {
	if f.BusinessID == "b3" {
		<-s.free
		return nil
	}
	return s.vendor.Fly(ctx, f)
}

func TestAPilotThatIgnoresItsContextIsGivenUp(t *testing.T) {
	onBoth(t, func(f *fleet) {
		t := f.t
		s := &stubborn{vendor: newVendor(), free: make(chan struct{})}
		a := crm(s)
		a.Gates[0].Timeout = 100 * time.Millisecond
		g, stop := f.run(a)
		f.dispatch(g, "crm:acme/contacts", 50)
		f.until("49 landings", func() bool { n, _ := s.count(); return n == 49 })
		f.until("the leak counted", func() bool { return g.Stats().Gates["crm:acme/contacts"].Leaked == 1 })
		f.until("it parked the second time", func() bool {
			list, err := g.Parked(t.Context(), "crm:acme/contacts", governor.ParkedFilter{})
			return err == nil && len(list) == 1 && list[0].Reason == "POISON_PILL"
		})
		stop()
		close(s.free)
	})
}
