package rehearse

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/alicebob/miniredis/v2"

	"github.com/traction-go/traction/internal/broker"
	"github.com/traction-go/traction/internal/broker/memory"
	"github.com/traction-go/traction/internal/store"
	"github.com/traction-go/traction/internal/testsvc"
	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/governor"
	"github.com/traction-go/traction/pkg/settle"
)

func TestMain(m *testing.M) { testsvc.Main(m) }

// embedded are a broker and a store in this process. They live in a bubble, where a
// rehearsal takes no time.
type embedded struct {
	bk   *memory.Broker
	mini *miniredis.Miniredis
}

// bubble runs f in virtual time, on embedded services.
func bubble(t *testing.T, f func(*testing.T, *embedded)) {
	synctest.Test(t, func(t *testing.T) {
		e := &embedded{memory.NewBroker(), miniredis.NewMiniRedis()}
		e.mini.ClockTTL(true)
		defer e.mini.Close()
		f(t, e)
	})
}

func (e *embedded) dial(_ context.Context, ns wire.Namespace) (broker.Transport, *store.Store, error) {
	st, err := store.Open(store.Config{URLs: []string{"redis://127.0.0.1:6379"}, Namespace: ns, PoolSize: 1000, // never dialled
		Dialer: func(context.Context, string, string) (net.Conn, error) { return e.mini.Dial() }})
	if err != nil {
		return nil, nil, err
	}
	return e.bk.Dial(), st, nil
}

// empty looks that nothing of a namespace stands.
func (e *embedded) empty(t *testing.T, ns string) {
	t.Helper()
	for _, k := range e.mini.Keys() {
		if strings.HasPrefix(k, ns) {
			t.Errorf("key %s is left", k)
		}
	}
}

// nobody is the pilot of a configuration: a rehearsal never calls it.
type nobody struct{ t *testing.T }

func (n nobody) Fly(context.Context, governor.Flight[[]byte]) error {
	n.t.Error("the configuration's own pilot was called")
	return nil
}

func (n nobody) FlyBatch(context.Context, []governor.Flight[[]byte]) error {
	n.t.Error("the configuration's own pilot was called")
	return nil
}

// sample is one of each: a gate that parks, one that stays and drops, an adopted queue
// with a route, another airport that observes.
func sample(t *testing.T) []governor.Airport {
	p := nobody{t}
	return []governor.Airport{
		{ID: "crm:acme", Slots: governor.Slots{N: 20, Per: time.Second}, Gates: []governor.Gate{
			{ID: "contacts", Pilot: p, Workers: 2},
			{ID: "companies", Pilot: p, OnStop: settle.StayOnStop, DropRejected: true},
		}},
		{ID: "analytics", Mode: governor.Observe, Holds: settle.Policy{Transient: []time.Duration{time.Minute}, Internal: []time.Duration{time.Minute, time.Hour}},
			Streaks: governor.Streaks{AirportFault: 2, GateFault: 1}, Gates: []governor.Gate{
				{ID: "events", Pilot: p, Adopt: &governor.Adoption{Queue: "incoming", BusinessID: "/payment/id",
					Route: &governor.Route{By: "/type", Gates: map[string]string{"settled": "events"}, Default: "other"}}},
				{ID: "other", Pilot: p, OnStop: settle.StayOnStop},
				{ID: "reports", Batch: &governor.Batch{Size: 5, Pilot: p, Linger: time.Minute, Dedupe: func(b []byte) string { return string(b) }}},
				{ID: "bills", Pilot: p, DropRejected: true, Batch: &governor.Batch{Size: 1, Pilot: p}},
			}},
	}
}

func (r *Report) text() string {
	var b strings.Builder
	for _, s := range r.Steps {
		b.WriteString(strings.Join([]string{s.Name, string(s.Result), s.Seen, s.Wanted, s.Next, s.Took.String()}, " | ") + "\n")
	}
	for _, x := range r.Books {
		b.WriteString(x.Gate + ": " + x.String() + "\n")
	}
	return b.String() + strings.Join(r.Notes, "\n") + "\n" + r.Verdict()
}

func TestEverythingPasses(t *testing.T) {
	for n, airports := range map[int][]governor.Airport{1: small(t), 7: sample(t)} {
		bubble(t, func(t *testing.T, e *embedded) {
			r, err := Run(t.Context(), Options{Airports: airports, Flights: n, dial: e.dial, patience: 5 * time.Second, tick: 200 * time.Millisecond})
			if err != nil || !r.Passed() {
				t.Fatalf("%d flights: %v\n%s", n, err, r.text())
			}
			for _, s := range r.Steps {
				if s.Result != Passed {
					t.Errorf("%d flights: step %s: %s", n, s.Name, s.Result)
				}
			}
			if total := r.Total(); !total.Balanced() || total.Landed == 0 || total.Discarded == 0 && n > 1 || total.Left < n {
				t.Errorf("%d flights: %s", n, total)
			}
			t.Logf("%d flights:\n%s", n, r.text())
			e.empty(t, r.Namespace)
		})
	}
}

// What the configuration has nothing of is skipped, and named.
func TestWithoutAnAdoptedQueue(t *testing.T) {
	bubble(t, func(t *testing.T, e *embedded) {
		r, err := Run(t.Context(), Options{Airports: sample(t)[:1], Flights: 2, only: []string{"stand in", "declare", "land", "batch", "intake", "route", "rollback", "books"}, dial: e.dial, patience: 5 * time.Second, tick: 200 * time.Millisecond})
		if err != nil || !r.Passed() || !strings.HasPrefix(r.Verdict(), "passed: 4 steps, 5 skipped; ") {
			t.Errorf("%v\n%s", err, r.text())
		}
	})
}

// It ends at any step, and leaves nothing.
func TestInterrupted(t *testing.T) {
	for _, at := range []string{"compare", "hold", "batch", "rollback"} {
		bubble(t, func(t *testing.T, e *embedded) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			r, err := Run(ctx, Options{Airports: small(t), Flights: 3, only: []string{"compare", "stand in", "declare", at}, dial: e.dial, patience: 5 * time.Second, tick: 200 * time.Millisecond, spoil: func(step string, _ *rehearsal) {
				if step == at {
					time.AfterFunc(30*time.Millisecond, cancel)
				}
			}})
			if at == "compare" { // it may be over by then
				cancel()
			} else if !errors.Is(err, context.Canceled) || !r.Interrupted || !strings.HasPrefix(r.Verdict(), "interrupted after ") {
				t.Errorf("at %s: %v\n%s", at, err, r.text())
			}
			if len(r.Failures()) > 0 || len(r.Left) > 0 {
				t.Errorf("at %s: %s", at, r.text())
			}
			e.empty(t, r.Namespace)
		})
	}
}
