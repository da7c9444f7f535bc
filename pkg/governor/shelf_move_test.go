package governor_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"

	"github.com/traction-go/traction/internal/broker"
	"github.com/traction-go/traction/internal/broker/memory"
	"github.com/traction-go/traction/internal/store"
	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/governor"
)

func TestACanaryTellsThatItsGateIsDelayed(t *testing.T) {
	onBoth(t, func(f *fleet) {
		t := f.t
		v := &failing{vendor: newVendor()}
		v.set("b0", errContract)
		g, _ := f.run(lenient(v))
		gate := "crm:acme/contacts"
		f.dispatch(g, gate, 1)
		f.until("it to be parked", func() bool { return f.state(g, "crm:acme").Parked == 1 })
		down := &governor.StatusError{Code: 503, Body: "down"}
		for i := range 6 {
			v.set(fmt.Sprintf("d%d", i), down)
			if _, err := g.Dispatch(t.Context(), gate, []byte(`{}`), governor.BusinessID(fmt.Sprintf("d%d", i))); err != nil {
				t.Fatal(err)
			}
		}
		f.until("the delay", func() bool {
			x, err := g.Gate(t.Context(), gate)
			return err == nil && x.State == governor.Delayed
		})
		ctx, stop := context.WithCancelCause(t.Context())
		defer stop(nil)
		var mu sync.Mutex
		var said []string
		over := errors.New("told")
		r, err := g.Replay(ctx, governor.ParkedShelf, gate, governor.MoveOptions{Canary: 1, Waits: func(what string) {
			mu.Lock()
			said = append(said, what)
			mu.Unlock()
			stop(over)
		}})
		if !errors.Is(err, over) || r.Moved != 1 {
			t.Fatalf("%v %+v", err, r)
		}
		mu.Lock()
		defer mu.Unlock()
		if len(said) != 1 || !strings.HasPrefix(said[0], gate+" is DELAYED") || !strings.Contains(said[0], "the next one at 20") {
			t.Errorf("it said %q", said)
		}
	})
}

// embedded opens a governor on a broker and a store in this process.
func embedded(t *testing.T, over func(broker.Transport) broker.Transport) (*governor.Governor, *store.Store) {
	t.Helper()
	m := miniredis.RunT(t)
	st, err := store.Open(store.Config{URLs: []string{"redis://" + m.Addr()}, Namespace: "tr", Timeout: 20 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	g, err := governor.Open(t.Context(), governor.Config{Heartbeat: beat, Logger: logger()}.WithServices(
		governor.Services{Broker: over(memory.NewBroker().Dial()), Store: st}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := g.Close(context.Background()); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return g, st
}

// counting is a broker that counts more on one queue than it will hand out, as where
// somebody else takes the rest.
type counting struct {
	broker.Transport
	queue string
	more  int
}

func (c *counting) Depth(ctx context.Context, queue string) (int, bool, error) {
	n, exists, err := c.Transport.Depth(ctx, queue)
	if queue == c.queue {
		n += c.more
	}
	return n, exists, err
}

func (c *counting) Standing(ctx context.Context, queue string) (broker.Standing, error) {
	s, err := c.Transport.Standing(ctx, queue)
	if queue == c.queue {
		s.Ready += c.more
	}
	return s, err
}

func TestAMoveThatIsNotHandedEverythingIsPartlyDone(t *testing.T) {
	c := &counting{queue: wire.Namespace("tr").Parked(wire.Scope{Airport: "crm:acme", Gate: "companies"})}
	g, _ := embedded(t, func(b broker.Transport) broker.Transport { c.Transport = b; return c })
	v := &failing{vendor: newVendor()}
	a := lenient(v)
	second := a.Gates[0]
	second.ID = "companies"
	a.Gates = append([]governor.Gate{second}, a.Gates...)
	run, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- g.Run(run, a) }()
	f := &fleet{t: t}
	for i := range 4 {
		v.set(fmt.Sprintf("b%d", i), errContract)
	}
	f.dispatch(g, "crm:acme/companies", 4)
	f.dispatch(g, "crm:acme/contacts", 4)
	f.until("all parked", func() bool { return f.state(g, "crm:acme").Parked == 8 })
	stop()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	c.more = 3
	r, err := g.Replay(t.Context(), governor.ParkedShelf, "crm:acme", governor.MoveOptions{})
	if !errors.Is(err, governor.ErrPartial) || !strings.Contains(err.Error(), "3 of the 7 flights that were parked at crm:acme/companies") ||
		!strings.Contains(err.Error(), c.queue) {
		t.Errorf("the replay says %v", err)
	}
	if r.Planned != 11 || r.Moved != 8 || r.Left != 3 {
		t.Errorf("%+v, want the other gate moved too, and 3 left", r)
	}
	list, err := g.Audit(t.Context(), governor.AuditFilter{Scope: "crm:acme/companies", Limit: 1})
	if err != nil || len(list) != 1 || !strings.HasPrefix(list[0].Result, "ended early") || list[0].Count != 4 {
		t.Errorf("%v; the audit says %+v", err, list)
	}
	c.more = 2
	if r, err = g.Discard(t.Context(), governor.ParkedShelf, "crm:acme/companies", governor.MoveOptions{Confirm: "crm:acme/companies"}); !errors.Is(err, governor.ErrPartial) || r.Moved != 0 || r.Left != 2 {
		t.Errorf("the discard says %v %+v", err, r)
	}
}

func TestARefusedMoveSaysThatTheLockEndsByItself(t *testing.T) {
	g, st := embedded(t, func(b broker.Transport) broker.Transport { return b })
	run, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- g.Run(run, crm(newVendor())) }()
	f := &fleet{t: t}
	f.ready(g, "crm:acme/contacts")
	stop()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	gate := wire.Scope{Airport: "crm:acme", Gate: "contacts"}
	if _, holder, err := st.LockGate(t.Context(), gate, "dana@desk", "parked replay", time.Minute); err != nil || holder != nil {
		t.Fatalf("%v %+v", err, holder)
	}
	_, replay := g.Replay(t.Context(), governor.ParkedShelf, gate.String(), governor.MoveOptions{})
	_, removal := g.Remove(t.Context(), gate.String(), governor.RemoveOptions{Confirm: gate.String()})
	for verb, err := range map[string]error{"replay": replay, "remove": removal} {
		if !errors.Is(err, governor.ErrRefused) || !strings.Contains(err.Error(), "dana@desk") || !strings.Contains(err.Error(), "or 30 s where it was killed: its lock ends by itself") {
			t.Errorf("%s: %v", verb, err)
		}
	}
}
