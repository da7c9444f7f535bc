package rehearse

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/traction-go/traction/internal/broker"
	"github.com/traction-go/traction/internal/store"
	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/governor"
	"github.com/traction-go/traction/pkg/settle"
)

// small is one airport with an adopted queue.
func small(t *testing.T) []governor.Airport {
	return []governor.Airport{{ID: "crm:acme", Holds: settle.Policy{Transient: []time.Duration{time.Minute}, Internal: []time.Duration{time.Minute}},
		Gates: []governor.Gate{
			{ID: "contacts", Pilot: nobody{t}, Workers: 2, Adopt: &governor.Adoption{Queue: "incoming", BusinessID: "/id",
				Route: &governor.Route{By: "/type", Gates: map[string]string{"settled": "contacts"}, Default: "other"}}},
			{ID: "other", Batch: &governor.Batch{Size: 5, Pilot: nobody{t}, Dedupe: func([]byte) string { return "" }}, Workers: 2},
		}}}
}

// Each step must see what is spoiled right before it.
func TestEachStepCanFail(t *testing.T) {
	const gate = "crm:acme/contacts"
	breaks := func(o settle.Outcome) func(*testing.T, *rehearsal) {
		return func(_ *testing.T, r *rehearsal) { r.book.breaks(gate, o) }
	}
	longer := func(_ *testing.T, r *rehearsal) {
		airport := &r.plan.rehearsed[0]
		airport.Holds.Transient = append(airport.Holds.Transient, time.Second) // not what the workers know
	}
	// Each needs a namespace with workers, and nothing but the steps before it that it
	// goes on from.
	before := map[string][]string{"replay": {"reject", "park"}, "discard": {"reject", "park"}, "gate reopen": {"gate stop"}}
	for name, c := range map[string]struct {
		step  string
		spoil func(*testing.T, *rehearsal)
		says  string
	}{
		"nobody lands":          {"land", breaks(settle.FlightFault), "landed 4"},
		"the gate is broken":    {"reject", breaks(settle.GateFault), "rejected 4"},
		"one hold too few":      {"hold", longer, "landed 0, parked 4"},
		"another reason":        {"park", func(_ *testing.T, r *rehearsal) { r.plan.rehearsed[0].Holds.Internal = nil }, "parked"},
		"a parked flight drops": {"replay", func(t *testing.T, r *rehearsal) { drop(t, r, governor.ParkedShelf, gate) }, "parked 2"},
		"a bad record drops":    {"discard", func(t *testing.T, r *rehearsal) { drop(t, r, governor.RejectedShelf, gate) }, "rejected"},
		"nobody is told":        {"gate stop", func(_ *testing.T, r *rehearsal) { r.pager = &pager{} }, "0 told of"},
		"it is not mended":      {"gate reopen", func(t *testing.T, r *rehearsal) { reopen(t, r, gate) }, "reopened"},
		"nothing stops":         {"airport stop", func(_ *testing.T, r *rehearsal) { r.book = newBook() }, "0 stopped"},
		"no batch forms":        {"batch", scaled, "the largest had 1"},
		"a worker is missing":   {"scale", func(_ *testing.T, r *rehearsal) { r.plan.rehearsed[0].Gates[0].Workers = 9 }, "9 workers"},
		"a message from nobody": {"intake", stranger, "rejected 1"},
		"a wrong gate":          {"route", func(_ *testing.T, r *rehearsal) { r.stand[0].Spec.Route.Gates = map[string]string{"settled": "other"} }, "landed"},
		"a rival consumer":      {"rollback", rival, "no consumer on"},
		"a flight is missing":   {"books", func(_ *testing.T, r *rehearsal) { r.book.expect([]byte("never sent"), gate, "") }, "sent"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, e *embedded) {
				r, err := Run(t.Context(), Options{Airports: small(t), Flights: 4, dial: e.dial, only: append([]string{"stand in", "declare", c.step}, before[c.step]...), patience: 5 * time.Second, tick: 200 * time.Millisecond, spoil: func(step string, r *rehearsal) {
					if step == c.step {
						c.spoil(t, r)
					}
				}})
				failed := r.Failures()
				if err == nil || len(failed) != 1 || failed[0].Name != c.step || failed[0].Next == "" {
					t.Fatalf("%v\n%s", err, r.text())
				}
				if text := failed[0].Wanted + "; " + failed[0].Seen; !strings.Contains(text, c.says) {
					t.Errorf("wanted %q in: %s", c.says, text)
				}
				if len(r.Left) > 0 || r.Passed() || !strings.HasPrefix(r.Verdict(), "failed at "+c.step) {
					t.Errorf("%s", r.text())
				}
				e.empty(t, r.Namespace)
			})
		})
	}
}

func drop(t *testing.T, r *rehearsal, shelf governor.Shelf, gate string) {
	_, err := r.desk.Discard(context.Background(), shelf, gate, governor.MoveOptions{Filter: governor.ParkedFilter{Limit: 1}, Confirm: gate})
	if err != nil {
		t.Error(err)
	}
}

func reopen(t *testing.T, r *rehearsal, gate string) {
	if _, err := r.desk.Reopen(context.Background(), gate, governor.ReopenOptions{}); err != nil {
		t.Error(err)
	}
}

func scaled(t *testing.T, r *rehearsal) {
	one := 1
	if _, err := r.desk.Scale(context.Background(), "crm:acme/other", governor.ScaleOptions{Batch: &one}); err != nil {
		t.Error(err)
	}
}

// stranger puts a message on the adopted queue that the rehearsal did not send.
func stranger(t *testing.T, r *rehearsal) {
	m := broker.Publishing{Key: r.stand[0].Name, Message: wire.Message{Body: []byte("{}")}}
	if err := r.bk.Publish(context.Background(), []broker.Publishing{m})[0]; err != nil {
		t.Error(err)
	}
}

// rival consumes the adopted queue, and takes nothing.
func rival(t *testing.T, r *rehearsal) {
	sub, err := r.bk.Subscribe(context.Background(), r.stand[0].Name, 1)
	if err != nil {
		t.Error(err)
		return
	}
	t.Cleanup(func() { _ = sub.Close(context.Background()) })
}

// undeletable keeps one queue, whoever deletes it.
type undeletable struct {
	broker.Transport
	suffix string
}

func (u *undeletable) DeleteQueue(ctx context.Context, name string) error {
	if strings.HasSuffix(name, u.suffix) {
		return errors.New("it stays")
	}
	return u.Transport.DeleteQueue(ctx, name)
}

func TestWhatIsLeftIsNamed(t *testing.T) {
	bubble(t, func(t *testing.T, e *embedded) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		r, err := Run(ctx, Options{Airports: small(t), Flights: 1, Told: func(s Step) {
			if s.Name == "declare" {
				cancel()
			}
		}, dial: func(ctx context.Context, ns wire.Namespace) (broker.Transport, *store.Store, error) {
			bk, st, err := e.dial(ctx, ns)
			return &undeletable{bk, ".hold.10s"}, st, err
		}})
		var m *Mismatch
		if !errors.As(err, &m) || !errors.Is(err, context.Canceled) || !slices.Equal(r.Left, []string{"queue " + r.Namespace + ".hold.10s"}) {
			t.Errorf("%v, left %v", err, r.Left)
		}
		if v := r.Verdict(); !strings.HasPrefix(v, "interrupted after 3 steps") || !strings.Contains(v, "left of namespace "+r.Namespace+": queue") {
			t.Error(v)
		}
	})
}

func TestANamespaceInUseIsRefused(t *testing.T) {
	bubble(t, func(t *testing.T, e *embedded) {
		bk, st, err := e.dial(t.Context(), "used")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _, _ = bk.Close(t.Context()), st.Close() }()
		if err := bk.Declare(t.Context(), broker.Topology{Queues: []broker.Queue{{Name: "used-adopted.incoming"}}}); err != nil {
			t.Fatal(err)
		}
		if err := st.AddAirport(t.Context(), "crm:acme"); err != nil {
			t.Fatal(err)
		}
		for _, o := range []Options{{Namespace: "used"}, {Namespace: "tr"}, {Namespace: "mine", Wanted: "mine"}} {
			o.Airports, o.dial = small(t), e.dial
			if r, err := Run(t.Context(), o); !errors.Is(err, governor.ErrRefused) || r != nil {
				t.Errorf("%s: %v", o.Namespace, err)
			}
		}
		if n, err := st.CountKeys(t.Context()); n != 1 || err != nil {
			t.Errorf("%d keys, want the one that stood: %v", n, err)
		}
		if _, err := st.RemoveKeys(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := Run(t.Context(), Options{Namespace: "used", Airports: small(t), dial: e.dial, patience: 5 * time.Second, tick: 200 * time.Millisecond}); !errors.Is(err, governor.ErrRefused) {
			t.Errorf("a stand-in's queue is taken, and it was not refused: %v", err)
		}
		if _, stands, err := bk.Depth(t.Context(), "used-adopted.incoming"); !stands || err != nil {
			t.Errorf("the queue that stood is gone: %v", err)
		}
	})
}
