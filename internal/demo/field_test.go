package demo

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/traction-go/traction/internal/broker"
	"github.com/traction-go/traction/internal/testsvc"
	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/governor"
)

func TestANamespaceInUseIsRefused(t *testing.T) {
	for name, use := range map[string]func(*testing.T, *field){
		"a key": func(t *testing.T, f *field) {
			if err := f.st.AddAirport(t.Context(), "crm:acme"); err != nil {
				t.Fatal(err)
			}
		},
		"an exchange": func(t *testing.T, f *field) {
			declare(t, f, broker.Topology{Exchanges: []broker.Exchange{{Name: f.ns.RunwayExchange(), Kind: broker.Direct}}})
		},
		"a queue": func(t *testing.T, f *field) {
			declare(t, f, broker.Topology{Queues: []broker.Queue{{Name: f.deadQueue()}}})
		},
	} {
		t.Run(name, func(t *testing.T) {
			f, err := openField(t.Context(), Services{}, sabotage{})
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := f.remove(t.Context()); err != nil {
					t.Error(err)
				}
			}()
			if err := f.vacant(t.Context()); err != nil {
				t.Fatalf("an empty namespace: %v", err)
			}
			use(t, f)
			if err := f.vacant(t.Context()); !errors.Is(err, governor.ErrRefused) {
				t.Errorf("got %v, want a refusal", err)
			}
		})
	}
}

func declare(t *testing.T, f *field, top broker.Topology) {
	t.Helper()
	if err := f.bk.Declare(t.Context(), top); err != nil {
		t.Fatal(err)
	}
}

func TestTheLedgerRemovesWhatWasDeclared(t *testing.T) {
	f, err := openField(t.Context(), Services{}, sabotage{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := f.remove(t.Context()); err != nil {
			t.Error(err)
		}
	}()
	x, q := string(f.ns)+".x", string(f.ns)+".q"
	declare(t, f, broker.Topology{Exchanges: []broker.Exchange{{Name: x, Kind: broker.Fanout}}, Queues: []broker.Queue{{Name: q}}})
	if err := f.ledger.Remove(t.Context(), f.bk); err != nil {
		t.Fatal(err)
	}
	if stands, err := f.bk.HasExchange(t.Context(), x); stands || err != nil {
		t.Errorf("the exchange stands: %v %v", stands, err)
	}
	if _, stands, err := f.bk.Depth(t.Context(), q); stands || err != nil {
		t.Errorf("the queue stands: %v %v", stands, err)
	}
}

func TestNewNamespaceIsOne(t *testing.T) {
	a, b := NewNamespace(), NewNamespace()
	if _, err := wire.ParseNamespace(a); err != nil || a == b {
		t.Errorf("%q, %q: %v", a, b, err)
	}
}

// On real services nothing may be left, however a run ends.
func TestRealServices(t *testing.T) {
	testsvc.Need(t)
	t.Parallel()
	mq := testsvc.RabbitMQ(t)
	s := Services{AMQP: mq.URL(), Redis: testsvc.SharedRedis(t)}
	empty := func(t *testing.T, ns string) {
		t.Helper()
		for _, what := range []string{"list_queues", "list_exchanges"} {
			if out := mq.Ctl("-q", what, "name"); strings.Contains(out, ns) {
				t.Errorf("%s still has some of %s:\n%s", what, ns, out)
			}
		}
		f := &field{Services: s, ns: wire.Namespace(ns)}
		bk, st, err := f.dial(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer func() { f.bk, f.st = bk, st; _ = f.close(context.Background()) }()
		if n, err := st.CountKeys(t.Context()); n != 0 || err != nil {
			t.Errorf("%d keys of %s are left: %v", n, ns, err)
		}
	}
	for name, word := range map[string]string{"naive": "arrive", "outage": "to go"} {
		t.Run(name, func(t *testing.T) {
			s.Namespace = testsvc.Namespace(t)
			r, err := Play(t.Context(), name, Options{Services: s, Flights: 300, Rate: 200})
			if err != nil {
				t.Fatal(err)
			}
			t.Log(r.Line())
			empty(t, s.Namespace)
		})
		t.Run(name+" interrupted", func(t *testing.T) {
			s.Namespace = testsvc.Namespace(t)
			ctx, cancel := context.WithCancel(t.Context())
			_, err := Play(ctx, name, Options{Services: s, Flights: 300, Rate: 200, Narrator: &Narrator{W: &signalWriter{word: word, then: cancel}}})
			if !errors.Is(err, context.Canceled) {
				t.Errorf("got %v, want %v", err, context.Canceled)
			}
			empty(t, s.Namespace)
		})
	}
	t.Run("in use", func(t *testing.T) {
		s.Namespace = testsvc.Namespace(t)
		f := &field{Services: s, ns: wire.Namespace(s.Namespace)}
		f.ledger.Namespace = f.ns
		var err error
		if f.bk, f.st, err = f.dial(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := f.st.AddAirport(t.Context(), "mail:acme"); err != nil {
			t.Fatal(err)
		}
		if _, err := Play(t.Context(), "outage", Options{Services: s}); !errors.Is(err, governor.ErrRefused) {
			t.Errorf("got %v, want a refusal", err)
		}
		if n, err := f.st.CountKeys(t.Context()); n != 1 || err != nil {
			t.Errorf("the refusal left %d keys, want the one that stood: %v", n, err)
		}
		end, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := f.remove(end); err != nil {
			t.Error(err)
		}
	})
}
