package governortest

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"

	"github.com/traction-go/traction/internal/broker/memory"
	"github.com/traction-go/traction/internal/store"
	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/governor"
)

// Field is a broker, a store and the processes on it. Its methods are for the
// test's own goroutine, one at a time, and never for pilots; each fails the test
// where it can't do its work. Make it with New.
type Field struct {
	t  *testing.T
	b  *bubble
	ns wire.Namespace

	broker *memory.Broker
	redis  *miniredis.Miniredis
	desk   *governor.Governor // for verbs; it runs nothing

	procs    []*Process
	airports []governor.Airport // every declaration so far

	mu      sync.Mutex
	told    []governor.Notification
	settled []governor.Settled
}

// New makes a field and starts one process that serves the airports, with a tower.
// It returns when their gates take flights, and ends everything with the test.
// With no airports the field is empty: see Start.
func New(t *testing.T, airports ...governor.Airport) *Field {
	t.Helper()
	f := &Field{t: t, b: newBubble(t), ns: wire.DefaultNamespace}
	t.Cleanup(f.end)
	f.do("New", func() error {
		f.broker = memory.NewBroker()
		f.redis = miniredis.NewMiniRedis()
		f.redis.ClockTTL(true) // keys age by the field's clock
		var err error
		f.desk, err = f.open("desk")
		return err
	})
	if len(airports) > 0 {
		f.Start(airports...)
	}
	return f
}

// open connects a new process to the field.
func (f *Field) open(name string) (*governor.Governor, error) {
	st, err := store.Open(store.Config{
		// Never dialled: an address in figures, since the library looks names up.
		URLs: []string{"redis://127.0.0.1:6379"}, Namespace: f.ns,
		Dialer:   func(context.Context, string, string) (net.Conn, error) { return f.redis.Dial() },
		PoolSize: 1000, // a pool that is never empty keeps no timers across bubbles
	})
	if err != nil {
		return nil, fmt.Errorf("open the embedded store: %w", err)
	}
	c := governor.Config{
		Name: name, Actor: "governortest", Namespace: string(f.ns), Hooks: []governor.Hook{hook{f}}, OnSettled: f.hasSettled,
		Logger: slog.New(slog.NewTextHandler(f.t.Output(), nil)),
	}
	return governor.Open(context.Background(), c.WithServices(governor.Services{Broker: f.broker.Dial(), Store: st}))
}

// do runs fn in the bubble and fails the test with its error.
func (f *Field) do(what string, fn func() error) {
	f.t.Helper()
	var err error
	if !f.b.do(what, func() { err = fn() }) {
		f.t.FailNow()
	}
	if err != nil {
		f.t.Fatalf("governortest: %s: %v", what, err)
	}
}

// Do runs fn where the field lives, for whatever the field has no method for. gov
// is connected and runs nothing. fn must not call the field, nor end the test.
func (f *Field) Do(fn func(ctx context.Context, gov *governor.Governor) error) {
	f.t.Helper()
	f.do("Do", func() error { return fn(context.Background(), f.desk) })
}

// end drains the processes and closes everything.
func (f *Field) end() {
	ended := f.b.do("the end", func() {
		for _, p := range f.procs {
			p.stop()
		}
		if f.desk != nil {
			if err := f.desk.Close(context.Background()); err != nil {
				f.t.Errorf("governortest: close: %v", err)
			}
		}
		if f.redis != nil {
			f.redis.Close()
		}
	})
	f.b.end(ended)
}

// Now is the field's clock. It starts at midnight UTC, 2000-01-01.
func (f *Field) Now() time.Time {
	f.t.Helper()
	var now time.Time
	f.do("Now", func() error { now = time.Now(); return nil })
	return now
}

type hook struct{ f *Field }

func (h hook) Notify(_ context.Context, n governor.Notification) error {
	h.f.mu.Lock()
	defer h.f.mu.Unlock()
	h.f.told = append(h.f.told, n)
	return nil
}

func (f *Field) hasSettled(s governor.Settled) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.settled = append(f.settled, s)
}

// Notifications are what people were told so far, in order.
func (f *Field) Notifications() []governor.Notification {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.told)
}

// Settled are the settled steps so far, in order: a flight that was held and then
// landed is there twice.
func (f *Field) Settled() []governor.Settled {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.settled)
}
