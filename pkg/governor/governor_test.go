package governor_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"

	"github.com/traction-go/traction/internal/broker/memory"
	"github.com/traction-go/traction/internal/store"
	"github.com/traction-go/traction/internal/testsvc"
	"github.com/traction-go/traction/pkg/governor"
)

func TestMain(m *testing.M) { testsvc.Main(m) }

const (
	// beat is short, for what waits for a death, and long enough that nobody who lives
	// counts as dead on a busy machine: that takes five.
	beat = 400 * time.Millisecond
	// patience bounds what others bring about. What goes well waits for nothing.
	patience = 2 * time.Minute
)

// fleet is what a test of this package runs on: the embedded services, or real
// ones.
type fleet struct {
	t    *testing.T
	open func() *governor.Governor
	cfg  governor.Config
}

func logger() *slog.Logger {
	if os.Getenv("TRACTION_TEST_LOG") != "" {
		return slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug}))
	}
	return slog.New(slog.NewTextHandler(io.Discard, nil))
}

// onBoth runs a test beside the others: it waits more than it works.
func onBoth(t *testing.T, test func(f *fleet)) {
	t.Parallel()
	t.Run("embedded", func(t *testing.T) {
		t.Parallel()
		b := memory.NewBroker()
		m := miniredis.RunT(t)
		f := &fleet{t: t, cfg: governor.Config{Heartbeat: beat, Logger: logger()}}
		f.open = func() *governor.Governor {
			st, err := store.Open(store.Config{URLs: []string{"redis://" + m.Addr()}, Namespace: "tr", Timeout: 20 * time.Second})
			if err != nil {
				t.Fatal(err)
			}
			g, err := governor.Open(t.Context(), f.cfg.WithServices(governor.Services{Broker: b.Dial(), Store: st}))
			if err != nil {
				t.Fatal(err)
			}
			return g
		}
		test(f)
	})
	t.Run("real", func(t *testing.T) {
		t.Parallel()
		testsvc.Need(t)
		f := &fleet{t: t, cfg: governor.Config{AMQP: testsvc.SharedRabbitMQ(t), Redis: testsvc.SharedRedis(t), Namespace: testsvc.Namespace(t),
			Heartbeat: beat, Logger: logger()}}
		f.open = func() *governor.Governor {
			g, err := governor.Open(t.Context(), f.cfg)
			if err != nil {
				t.Fatal(err)
			}
			return g
		}
		test(f)
	})
}

// governor opens one that is closed with the test.
func (f *fleet) governor() *governor.Governor {
	g := f.open()
	f.t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := g.Close(ctx); err != nil {
			f.t.Errorf("close: %v", err)
		}
	})
	return g
}

// run starts a worker and returns what stops it, drained.
func (f *fleet) run(a ...governor.Airport) (*governor.Governor, func()) {
	g := f.governor()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- g.Run(ctx, a...) }()
	var once sync.Once
	stop := func() {
		once.Do(func() {
			cancel()
			select {
			case err := <-done:
				if err != nil {
					f.t.Errorf("run: %v", err)
				}
			case <-time.After(patience):
				f.t.Error("the drain did not end")
			}
		})
	}
	f.t.Cleanup(stop)
	return g, stop
}

var errAuth = errors.New("401 token expired")

// vendor is a pilot that counts what reaches it.
type vendor struct {
	err    atomic.Pointer[error]
	calls  atomic.Int64
	mu     sync.Mutex
	landed map[string]int
}

func newVendor() *vendor { return &vendor{landed: map[string]int{}} }

func (v *vendor) fail(err error) { v.err.Store(&err) }
func (v *vendor) mend()          { v.err.Store(nil) }

func (v *vendor) Fly(_ context.Context, f governor.Flight[[]byte]) error {
	v.calls.Add(1)
	if e := v.err.Load(); e != nil {
		return *e
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.landed[f.BusinessID]++
	return nil
}

func (v *vendor) count() (distinct, total int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, n := range v.landed {
		total += n
	}
	return len(v.landed), total
}

func report(ctx context.Context, m governor.Meta, err error) governor.Report {
	if errors.Is(err, errAuth) {
		return governor.AirportFault(err)
	}
	return governor.DefaultReporter(ctx, m, err)
}

func TestLandsAll(t *testing.T) {
	onBoth(t, func(f *fleet) {
		v := newVendor()
		g, stop := f.run(governor.Airport{ID: "crm:acme", Gates: []governor.Gate{{ID: "contacts", Pilot: v}}, Reporter: report})
		f.dispatch(g, "crm:acme/contacts", 1000)
		testsvc.Until(f.t, patience, "1,000 landings", func() bool { n, _ := v.count(); return n == 1000 })
		stop()
		if n, total := v.count(); n != 1000 || total != 1000 {
			f.t.Fatalf("landed %d flights in %d calls, want 1000 in 1000", n, total)
		}
	})
}

func (f *fleet) dispatch(g *governor.Governor, gate string, n int) {
	f.t.Helper()
	// The first flight waits for the gate's runway; the rest follow in bulk.
	outgoing := func(i int) governor.Outgoing {
		return governor.Outgoing{Payload: []byte(`{"id":1}`), BusinessID: fmt.Sprintf("b%d", i), ContentType: "application/json"}
	}
	testsvc.Until(f.t, patience, "the gate's runway", func() bool {
		_, err := g.Dispatch(f.t.Context(), gate, outgoing(0).Payload, governor.BusinessID("b0"))
		if err != nil && !errors.Is(err, governor.ErrNotFound) {
			f.t.Fatal(err)
		}
		return err == nil
	})
	res, err := g.DispatchAll(f.t.Context(), gate, func(yield func(governor.Outgoing, error) bool) {
		for i := 1; i < n; i++ {
			if !yield(outgoing(i), nil) {
				return
			}
		}
	})
	if err != nil || res.Sent != n-1 {
		f.t.Fatalf("dispatch: %v %+v", err, res)
	}
}
