package governor_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/traction-go/traction/pkg/governor"
)

func ptr[T any](v T) *T { return &v }

// unhurried is a vendor whose calls take a while, and that counts how many are made at
// once by each process.
type unhurried struct {
	*vendor
	took time.Duration
}

func (s unhurried) Fly(ctx context.Context, f governor.Flight[[]byte]) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(s.took):
	}
	return s.vendor.Fly(ctx, f)
}

func TestWorkersAreScaledOnARunningFleet(t *testing.T) {
	onBoth(t, func(f *fleet) {
		f.cfg.Heartbeat = time.Second
		v := newVendor()
		a := governor.Airport{ID: "crm:acme", Gates: []governor.Gate{{ID: "contacts", Workers: 1, Pilot: unhurried{v, 20 * time.Millisecond}}}}
		g, stop := f.run(a)
		_, stopToo := f.run(a)
		const n = 600
		f.dispatch(g, "crm:acme/contacts", n)
		f.until("two processes", func() bool {
			gate, err := g.Gate(f.t.Context(), "crm:acme/contacts")
			return err == nil && len(gate.Processes) == 2
		})
		for _, want := range []int{1, 8, 0, 4} {
			ctx, cancel := context.WithTimeout(f.t.Context(), patience)
			r, err := g.Scale(ctx, "crm:acme/contacts", governor.ScaleOptions{Workers: ptr(want)})
			cancel()
			if err != nil || len(r.Unseen) > 0 {
				f.t.Fatalf("to %d workers: %v, not seen by %v", want, err, r.Unseen)
			}
			if len(r.Gate.Processes) != 2 || r.Gate.WorkersActual != 2*want || r.Gate.WorkersWanted != want {
				f.t.Errorf("to %d workers: %+v", want, r.Gate)
			}
			if want == 0 {
				// What was in the air lands still.
				f.until("the backlog back on the runway", func() bool {
					gate, err := g.Gate(f.t.Context(), "crm:acme/contacts")
					return err == nil && gate.InAir == 0 && gate.Runway == n-int(v.calls.Load())
				})
				had := v.calls.Load()
				f.stays("no call with no workers", time.Second, func() bool { return v.calls.Load() == had })
			}
		}
		f.until("all landed", func() bool { k, _ := v.count(); return k == n })
		stop()
		stopToo()
		if k, total := v.count(); k != n || total != n {
			f.t.Errorf("%d of %d landed, in %d calls", k, n, total)
		}
	})
}

// flocks is a batch pilot that keeps how many flights came together.
type flocks struct {
	mu     sync.Mutex
	sizes  map[int]int
	landed map[string]int
}

func (b *flocks) FlyBatch(_ context.Context, flights []governor.Flight[[]byte]) error {
	<-time.After(2 * time.Millisecond)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.sizes == nil {
		b.sizes, b.landed = map[int]int{}, map[string]int{}
	}
	b.sizes[len(flights)]++
	for _, f := range flights {
		b.landed[f.BusinessID]++
	}
	return nil
}

func (b *flocks) count() (distinct, total, largest int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for size := range b.sizes {
		largest = max(largest, size)
	}
	for _, n := range b.landed {
		total += n
	}
	return len(b.landed), total, largest
}

func (b *flocks) forget() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sizes = map[int]int{}
}

func TestBatchingIsSwitchedOffAndOnUnderLoad(t *testing.T) {
	onBoth(t, func(f *fleet) {
		b := &flocks{}
		g, stop := f.run(governor.Airport{ID: "crm:acme", Gates: []governor.Gate{{ID: "contacts", Workers: 2,
			Batch: &governor.Batch{Size: 25, Linger: 20 * time.Millisecond, Pilot: b}}}})
		scale := func(o governor.ScaleOptions) governor.Scaling {
			ctx, cancel := context.WithTimeout(f.t.Context(), patience)
			defer cancel()
			r, err := g.Scale(ctx, "crm:acme/contacts", o)
			if err != nil || len(r.Unseen) > 0 {
				f.t.Fatalf("%+v: %v, not seen by %v", o, err, r.Unseen)
			}
			return r
		}
		const n = 2000
		f.dispatch(g, "crm:acme/contacts", n)
		f.until("a whole batch", func() bool { _, _, largest := b.count(); return largest == 25 })
		if r := scale(governor.ScaleOptions{Batch: ptr(1)}); r.Gate.Batch != 1 || r.Gate.BatchDeclared != 25 || !r.Changed {
			f.t.Errorf("%+v", r)
		}
		// What was cleared together before may still be in the air.
		f.until("the air clear of batches", func() bool {
			b.forget()
			<-time.After(50 * time.Millisecond)
			_, _, largest := b.count()
			return largest <= 1
		})
		if r := scale(governor.ScaleOptions{Reset: true}); r.Gate.Batch != 25 || r.Gate.Scaled {
			f.t.Errorf("%+v", r)
		}
		f.until("all landed", func() bool { k, _, _ := b.count(); return k == n })
		stop()
		if k, total, _ := b.count(); k != n || total != n {
			f.t.Errorf("%d of %d landed, %d times", k, n, total)
		}
	})
}

func TestScaleRefuses(t *testing.T) {
	onBoth(t, func(f *fleet) {
		g, _ := f.run(governor.Airport{ID: "crm:acme", Gates: []governor.Gate{{ID: "contacts", Pilot: newVendor()}}})
		f.until("the gate", func() bool { _, err := g.Gate(f.t.Context(), "crm:acme/contacts"); return err == nil })
		for _, c := range []struct {
			gate string
			o    governor.ScaleOptions
			want error
		}{
			{"crm:acme/contacts", governor.ScaleOptions{Batch: ptr(1)}, governor.ErrRefused}, // it has no batches
			{"crm:acme/contacts", governor.ScaleOptions{Workers: ptr(-1)}, governor.ErrRefused},
			{"crm:acme/contacts", governor.ScaleOptions{Workers: ptr(1001)}, governor.ErrRefused},
			{"crm:acme/contacts", governor.ScaleOptions{}, governor.ErrRefused},
			{"crm:acme/nobody", governor.ScaleOptions{Workers: ptr(1)}, governor.ErrNotFound},
		} {
			if _, err := g.Scale(f.t.Context(), c.gate, c.o); !errors.Is(err, c.want) {
				f.t.Errorf("%s: %v, want %v", fmt.Sprint(c.o), err, c.want)
			}
		}
	})
}

// stuck is a vendor whose calls last until it is let go.
type stuck struct{ entered, free chan struct{} }

func (s stuck) Fly(ctx context.Context, _ governor.Flight[[]byte]) error {
	select {
	case s.entered <- struct{}{}:
	default:
	}
	select {
	case <-s.free:
	case <-ctx.Done():
	}
	return ctx.Err()
}

func TestScaleTellsWhatItDidNotReach(t *testing.T) {
	onBoth(t, func(f *fleet) {
		f.cfg.Heartbeat = time.Second
		v := stuck{make(chan struct{}, 1), make(chan struct{})}
		defer close(v.free)
		g, _ := f.run(governor.Airport{ID: "crm:acme", Gates: []governor.Gate{{ID: "contacts", Workers: 1, Pilot: v}}})
		f.dispatch(g, "crm:acme/contacts", 1)
		<-v.entered
		short, cancel := context.WithTimeout(f.t.Context(), 10*time.Second)
		defer cancel()
		r, err := g.Scale(short, "crm:acme/contacts", governor.ScaleOptions{Workers: ptr(0)})
		if !errors.Is(err, governor.ErrPartial) || len(r.Unseen) != 1 || r.Overtaken {
			f.t.Errorf("with a call in the air: %v, %+v", err, r)
		}
		long, cancel := context.WithTimeout(f.t.Context(), patience)
		defer cancel()
		if _, err := g.Scale(long, "crm:acme/contacts", governor.ScaleOptions{Workers: ptr(1), Actor: "ann"}); err != nil {
			f.t.Errorf("ann: %v", err)
		}
		first := make(chan struct{})
		go func() {
			defer close(first)
			r, err = g.Scale(long, "crm:acme/contacts", governor.ScaleOptions{Workers: ptr(0), Actor: "bob"})
		}()
		f.until("bob's none", func() bool {
			gate, err := g.Gate(f.t.Context(), "crm:acme/contacts")
			return err == nil && gate.WorkersWanted == 0
		})
		if _, err := g.Scale(long, "crm:acme/contacts", governor.ScaleOptions{Workers: ptr(1), Actor: "ann"}); err != nil {
			f.t.Errorf("ann: %v", err)
		}
		<-first
		if !errors.Is(err, governor.ErrPartial) || !r.Overtaken || r.Gate.ScaledBy != "ann" {
			f.t.Errorf("bob, overtaken by ann: %v, %+v", err, r)
		}
	})
}

func TestBatchesAreScaledThoughTheLastToDeclareHasNone(t *testing.T) {
	onBoth(t, func(f *fleet) {
		f.cfg.Heartbeat = time.Second
		b := &flocks{}
		g, _ := f.run(governor.Airport{ID: "crm:acme", Gates: []governor.Gate{{ID: "contacts", Workers: 1, Batch: &governor.Batch{Size: 25, Pilot: b}}}})
		f.ready(g, "crm:acme/contacts")
		_, stop := f.run(governor.Airport{ID: "crm:acme", Gates: []governor.Gate{{ID: "contacts", Workers: 1, Pilot: newVendor()}}})
		f.until("two processes", func() bool {
			gate, err := g.Gate(f.t.Context(), "crm:acme/contacts")
			return err == nil && len(gate.Processes) == 2
		})
		mixed, cancel := context.WithTimeout(f.t.Context(), 10*time.Second)
		defer cancel()
		if r, err := g.Scale(mixed, "crm:acme/contacts", governor.ScaleOptions{Batch: ptr(7)}); !errors.Is(err, governor.ErrPartial) || len(r.Unseen) != 1 {
			f.t.Errorf("one process has no batches: %v, %+v", err, r)
		}
		stop()
		ctx, cancel := context.WithTimeout(f.t.Context(), patience)
		defer cancel()
		if r, err := g.Scale(ctx, "crm:acme/contacts", governor.ScaleOptions{Batch: ptr(1)}); err != nil || r.Gate.Batch != 1 {
			f.t.Errorf("%v, %+v", err, r.Gate)
		}
	})
}
