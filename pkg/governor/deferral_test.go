package governor_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"

	"github.com/traction-go/traction/internal/broker"
	"github.com/traction-go/traction/internal/broker/memory"
	"github.com/traction-go/traction/internal/store"
	"github.com/traction-go/traction/pkg/governor"
)

// lateConfirms is a broker that has handed a copy out long before the publisher
// hears that it took it.
type lateConfirms struct{ broker.Transport }

func (l lateConfirms) Publish(ctx context.Context, msgs []broker.Publishing) []error {
	errs := l.Transport.Publish(ctx, msgs)
	if msgs[0].Exchange == "tr.runway" {
		<-time.After(200 * time.Millisecond)
	}
	return errs
}

// The copy of a deferred flight, and of a plain message that was given its headers,
// may be handed out before its confirm. It is not a second flight, and does not
// take the ten-second hold of one.
func TestACopyDoesNotWaitForItself(t *testing.T) {
	m := miniredis.RunT(t)
	f := &fleet{t: t, cfg: governor.Config{Heartbeat: beat, Logger: logger()}}
	b := memory.NewBroker()
	f.open = func() *governor.Governor {
		st, err := store.Open(store.Config{URLs: []string{"redis://" + m.Addr()}, Namespace: "tr", Timeout: 20 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		g, err := governor.Open(t.Context(), f.cfg.WithServices(governor.Services{Broker: lateConfirms{b.Dial()}, Store: st}))
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	var mu sync.Mutex
	calls := map[string][]time.Time{}
	pilot := governor.PilotFunc(func(_ context.Context, f governor.Flight[[]byte]) error {
		mu.Lock()
		defer mu.Unlock()
		calls[string(f.Payload)] = append(calls[string(f.Payload)], time.Now())
		if len(calls[string(f.Payload)]) < 3 {
			return &governor.StatusError{Code: 429}
		}
		return nil
	})
	g, _ := f.run(governor.Airport{ID: "crm:acme", Slots: governor.Slots{N: 100, Per: 100 * time.Millisecond},
		Gates: []governor.Gate{{ID: "contacts", Pilot: pilot}}})
	f.dispatch(g, "crm:acme/contacts", 1)
	began := time.Now()
	f.until("the landing", func() bool { return f.state(g, "crm:acme").Landed == 1 })
	if d := time.Since(began); d > 9500*time.Millisecond {
		t.Errorf("two deferrals of 100ms took %v", d)
	}
	// What waits in hand is told by the beats, so it may be a beat old.
	f.until("nothing left", func() bool {
		a := f.state(g, "crm:acme")
		return a.Parked+a.Runway+a.Holding == 0
	})
}
