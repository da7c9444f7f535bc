package governor_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"

	"github.com/traction-go/traction/internal/broker"
	"github.com/traction-go/traction/internal/broker/memory"
	"github.com/traction-go/traction/internal/store"
	"github.com/traction-go/traction/pkg/governor"
)

// remove removes a scope once its stopped workers no longer count as alive.
func (f *fleet) remove(g *governor.Governor, scope string, o governor.RemoveOptions) (governor.Removal, error) {
	f.t.Helper()
	o.Confirm = scope
	var r governor.Removal
	var err error
	f.until("the workers to be gone", func() bool {
		r, err = g.Remove(f.t.Context(), scope, o)
		return !errors.Is(err, governor.ErrRefused)
	})
	return r, err
}

func TestRemoveRefuses(t *testing.T) {
	onBoth(t, func(f *fleet) {
		t := f.t
		v := &failing{vendor: newVendor()}
		v.set("b0", errContract)
		g, stop := f.run(lenient(v))
		f.dispatch(g, "crm:acme/contacts", 3)
		f.until("one parked, two landed", func() bool { a := f.state(g, "crm:acme"); return a.Parked == 1 && a.Landed == 2 })
		gate := "crm:acme/contacts"
		refused := func(why, scope string, o governor.RemoveOptions) {
			t.Helper()
			if r, err := g.Remove(t.Context(), scope, o); !errors.Is(err, governor.ErrRefused) || errors.Is(err, governor.ErrPartial) {
				t.Errorf("%s: %v %+v", why, err, r)
			}
		}
		refused("no confirm", gate, governor.RemoveOptions{})
		refused("another confirm", gate, governor.RemoveOptions{Confirm: "crm:acme"})
		refused("a worker serves it", gate, governor.RemoveOptions{Confirm: gate, To: f.ns() + ".limit"})
		refused("a worker serves the airport, and it has a gate", "crm:acme", governor.RemoveOptions{Confirm: "crm:acme"})
		if _, err := g.Remove(t.Context(), "crm:acme/other", governor.RemoveOptions{Confirm: "crm:acme/other"}); !errors.Is(err, governor.ErrNotFound) {
			t.Errorf("%v", err)
		}
		stop()
		g = f.governor()
		f.stays("refused for what is parked", 3*time.Second, func() bool {
			_, err := g.Remove(t.Context(), gate, governor.RemoveOptions{Confirm: gate})
			return errors.Is(err, governor.ErrRefused)
		})
		refused("its own queue", gate, governor.RemoveOptions{Confirm: gate, To: f.ns() + "." + gate + ".parked"})
		if _, err := g.Remove(t.Context(), gate, governor.RemoveOptions{Confirm: gate, To: "nowhere"}); !errors.Is(err, governor.ErrNotFound) {
			t.Errorf("%v", err)
		}
		if a := f.state(g, "crm:acme"); a.Parked != 1 || len(a.Gates) != 1 || a.Gates[0].State != governor.OpenState {
			t.Fatalf("something was changed: %+v", a)
		}
		v.set("b0", nil)
		_, stop = f.run(lenient(v))
		if _, err := g.Replay(t.Context(), governor.ParkedShelf, gate, governor.MoveOptions{}); err != nil {
			t.Fatal(err)
		}
		f.until("its landing", func() bool { return f.state(g, "crm:acme").Landed == 3 })
		stop()
	})
}

func TestRemoveAndDeclareAgain(t *testing.T) {
	onBoth(t, func(f *fleet) {
		t := f.t
		const n = 20
		g := f.shelve(n)
		gate, to := "crm:acme/contacts", f.ns()+".tower.unreadable"
		r, err := f.remove(g, gate, governor.RemoveOptions{To: to, Actor: "dana", Reason: "the vendor is gone"})
		if err != nil || r.Moved != 2*n {
			t.Fatalf("%v %+v", err, r)
		}
		file := filepath.Join(t.TempDir(), "moved")
		if b, err := g.Backup(t.Context(), to, file, governor.BackupOptions{}); err != nil || b.Written != 2*n {
			t.Fatalf("%v %+v", err, b)
		}
		if _, err := g.Gate(t.Context(), gate); !errors.Is(err, governor.ErrNotFound) {
			t.Errorf("%v", err)
		}
		if _, err := g.Dispatch(t.Context(), gate, 1); !errors.Is(err, governor.ErrNotFound) {
			t.Errorf("a dispatch to it: %v", err)
		}
		if _, err := g.Backup(t.Context(), f.ns()+"."+gate+".runway", file+"2", governor.BackupOptions{}); !errors.Is(err, governor.ErrNotFound) {
			t.Errorf("its runway: %v", err)
		}
		if _, err := f.remove(g, "crm:acme", governor.RemoveOptions{Actor: "dana"}); err != nil {
			t.Fatal(err)
		}
		if list, err := g.Airports(t.Context()); err != nil || len(list) != 0 {
			t.Errorf("%v %+v", err, list)
		}
		audit, err := g.Audit(t.Context(), governor.AuditFilter{Scope: "crm:acme"})
		if err != nil || len(audit) < 4 || audit[0].Action != "remove" || audit[0].Scope != "crm:acme" || audit[0].Actor != "dana" || audit[2].Reason != "the vendor is gone" {
			t.Errorf("%v %+v", err, audit)
		}
		// Declared again it is new, and opens: nothing remembers it.
		v := newVendor()
		g2, _ := f.run(crm(v))
		f.dispatch(g2, gate, 5)
		f.until("5 landings", func() bool { n, _ := v.count(); return n == 5 })
		f.until("them settled, at an open airport", func() bool { a := f.state(g2, "crm:acme"); return a.State == governor.OpenState && a.Landed == 5 })
	})
}

// unlucky is a broker that goes away in the middle of a removal.
type unlucky struct {
	broker.Transport
	at string
}

func (u *unlucky) Unbind(ctx context.Context, b ...broker.Binding) error {
	if u.at == "unbind" {
		return broker.ErrUnreachable
	}
	return u.Transport.Unbind(ctx, b...)
}

func (u *unlucky) DeleteQueue(ctx context.Context, q string) error {
	if u.at == "delete" {
		return broker.ErrUnreachable
	}
	return u.Transport.DeleteQueue(ctx, q)
}

// A removal that ends half-way has lost nothing: reopen takes the gate back.
func TestReopenTakesAHalfRemovedGateBack(t *testing.T) {
	for _, at := range []string{"unbind", "delete"} {
		t.Run(at, func(t *testing.T) {
			b, m := memory.NewBroker(), miniredis.RunT(t)
			f := &fleet{t: t, cfg: governor.Config{Heartbeat: beat, Logger: logger()}}
			f.open = func() *governor.Governor {
				st, err := store.Open(store.Config{URLs: []string{"redis://" + m.Addr()}, Namespace: "tr", Timeout: 20 * time.Second})
				if err != nil {
					t.Fatal(err)
				}
				g, err := governor.Open(t.Context(), f.cfg.WithServices(governor.Services{Broker: &unlucky{b.Dial(), at}, Store: st}))
				if err != nil {
					t.Fatal(err)
				}
				return g
			}
			gate := "crm:acme/contacts"
			v := newVendor()
			g, stop := f.run(crm(v))
			f.ready(g, gate)
			stop()
			g = f.governor()
			_, err := f.remove(g, gate, governor.RemoveOptions{})
			if !errors.Is(err, governor.ErrPartial) {
				t.Fatalf("%v", err)
			}
			if x, err := g.Gate(t.Context(), gate); err != nil || x.State != "REMOVING" {
				t.Fatalf("%v %+v", err, x)
			}
			r, err := g.Reopen(t.Context(), gate, governor.ReopenOptions{})
			if err != nil || !r.Changed || r.State != governor.OpenState {
				t.Fatalf("%v %+v", err, r)
			}
			if _, err := g.Dispatch(t.Context(), gate, 1); err != nil {
				t.Fatal(err)
			}
			f.run(crm(v))
			f.until("a landing", func() bool { n, _ := v.count(); return n == 1 })
		})
	}
}
