package governor_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"testing"
	"time"

	"github.com/traction-go/traction/pkg/governor"
)

// failing is a vendor that answers by business id.
type failing struct {
	*vendor
	mu  sync.Mutex
	why map[string]error
}

func (v *failing) set(id string, err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.why == nil {
		v.why = map[string]error{}
	}
	v.why[id] = err
}

func (v *failing) Fly(ctx context.Context, f governor.Flight[[]byte]) error {
	v.mu.Lock()
	err := v.why[f.BusinessID]
	v.mu.Unlock()
	if err != nil {
		return err
	}
	return v.vendor.Fly(ctx, f)
}

var (
	errContract = &governor.StatusError{Code: 404, Body: "no such endpoint"}
	errRecord   = &governor.StatusError{Code: 422, Body: "bad email"}
)

// lenient is an airport whose gate does not stop on a few faults.
func lenient(v governor.Pilot) governor.Airport {
	a := crm(v)
	a.Streaks = governor.Streaks{GateFault: 1000, RecordFault: 1000}
	return a
}

func source(n int, salt string) governor.Source {
	return func() iter.Seq2[governor.Outgoing, error] {
		return func(yield func(governor.Outgoing, error) bool) {
			for i := range n {
				if !yield(governor.Outgoing{Payload: []byte(`{}`), BusinessID: fmt.Sprintf("b%d%s", i, salt)}, nil) {
					return
				}
			}
		}
	}
}

func (f *fleet) ready(g *governor.Governor, gate string) {
	f.t.Helper()
	f.until("the gate", func() bool {
		x, err := g.Gate(f.t.Context(), gate)
		return err == nil && x.WorkersWanted > 0 // declared last, after the queues
	})
}

func TestACharterBalances(t *testing.T) {
	onBoth(t, func(f *fleet) {
		t := f.t
		h := &hook{}
		f.cfg.Hooks = []governor.Hook{h}
		v := &failing{vendor: newVendor()}
		v.set("b7", errContract)
		v.set("b8", errContract)
		v.set("b9", errRecord)
		g, _ := f.run(lenient(v))
		gate, run := "crm:acme/contacts", "crm:acme/contacts/run-1"
		f.ready(g, gate)
		spec := governor.CharterSpec{Run: "run-1", Expected: 1500}
		res, err := g.DispatchCharter(t.Context(), gate, spec, source(1500, ""))
		if err != nil || res.Sent != 1500 {
			t.Fatalf("%v %+v", err, res)
		}
		f.until("completion", func() bool {
			c, err := g.Charter(t.Context(), run)
			return err == nil && c.State == governor.CharterComplete
		})
		c, err := g.Charter(t.Context(), run)
		if err != nil || c.Books.Landed != 1497 || c.Books.Parked != 2 || c.Books.Rejected != 1 || c.Books.Dispatched != 0 {
			t.Fatalf("%v %+v", err, c)
		}
		f.until("one notification", func() bool { return len(h.of("CHARTER_COMPLETE")) == 1 })

		// The same source again flies nothing; another is refused before anything.
		res, err = g.DispatchCharter(t.Context(), gate, spec, source(1500, ""))
		if err != nil || res.Sent != 0 || res.Standing != 1500 {
			t.Fatalf("%v %+v", err, res)
		}
		for _, bad := range []struct {
			spec governor.CharterSpec
			src  governor.Source
		}{
			{spec, source(1500, "x")},
			{governor.CharterSpec{Run: "run-1", Expected: 1400}, source(1400, "")},
			{spec, source(1501, "")},
		} {
			if res, err := g.DispatchCharter(t.Context(), gate, bad.spec, bad.src); !errors.Is(err, governor.ErrRefused) || res.Sent != 0 {
				t.Fatalf("%v %+v", err, res)
			}
		}

		// What was parked is replayed, and lands or is discarded: the books follow.
		f.until("both parked", func() bool { return f.state(g, "crm:acme").Parked == 2 })
		v.set("b7", nil)
		v.set("b8", nil)
		moved, err := g.Replay(t.Context(), governor.ParkedShelf, gate, governor.MoveOptions{Filter: governor.ParkedFilter{BusinessID: "b7"}})
		if err != nil || moved.Planned != 2 || moved.Moved != 1 || moved.Skipped["filter"] != 1 || moved.Left != 0 {
			t.Fatalf("%v %+v", err, moved)
		}
		f.until("the replayed landing", func() bool { c, _ := g.Charter(t.Context(), run); return c.Books.Landed == 1498 })
		f.until("the other one back on its shelf", func() bool { return f.state(g, "crm:acme").Parked == 1 })
		if _, err := g.Discard(t.Context(), governor.ParkedShelf, gate, governor.MoveOptions{Confirm: "crm:acme"}); !errors.Is(err, governor.ErrRefused) {
			t.Fatalf("a discard without the exact confirm: %v", err)
		}
		moved, err = g.Discard(t.Context(), governor.ParkedShelf, gate, governor.MoveOptions{Confirm: gate})
		if err != nil || moved.Moved != 1 {
			t.Fatalf("%v %+v", err, moved)
		}
		c, err = g.Charter(t.Context(), run)
		if err != nil || c.Books.Landed != 1498 || c.Books.Parked != 0 || c.Books.Discarded != 1 || c.Books.Rejected != 1 {
			t.Fatalf("%v %+v", err, c)
		}
		list, err := g.Audit(t.Context(), governor.AuditFilter{Scope: gate})
		if err != nil || len(list) != 4 { // two entries each: begun, and how it ended
			t.Fatalf("%v %+v", err, list)
		}
	})
}

func TestAnAbortedCharterBalances(t *testing.T) {
	onBoth(t, func(f *fleet) {
		t := f.t
		h := &hook{}
		f.cfg.Hooks = []governor.Hook{h}
		v := newVendor()
		a := crm(v)
		a.Slots = governor.Slots{N: 100, Per: time.Second} // far from all when it is aborted
		g, _ := f.run(a)
		gate, run := "crm:acme/contacts", "crm:acme/contacts/run-1"
		f.ready(g, gate)
		if _, err := g.DispatchCharter(t.Context(), gate, governor.CharterSpec{Run: "run-1", Expected: 2000}, source(1000, "")); !errors.Is(err, governor.ErrPartial) {
			t.Fatalf("a shorter source: %v", err)
		}
		f.until("some landings", func() bool { n, _ := v.count(); return n > 100 })
		if _, err := g.AbortCharter(t.Context(), run, run, "dana", "wrong list"); err != nil {
			t.Fatal(err)
		}
		f.until("balance", func() bool {
			c, err := g.Charter(t.Context(), run)
			return err == nil && c.Books.Complete()
		})
		c, err := g.Charter(t.Context(), run)
		n, _ := v.count()
		if err != nil || c.State != governor.CharterAborted || c.Books.Landed != n || c.Books.Skipped != 2000-n || n == 1000 {
			t.Fatalf("%v %+v, %d landed at the vendor", err, c, n)
		}
		f.until("one notification", func() bool { return len(h.of("CHARTER_COMPLETE")) == 1 })
		if _, err := g.DispatchCharter(t.Context(), gate, governor.CharterSpec{Run: "run-1", Expected: 2000}, source(2000, "")); !errors.Is(err, governor.ErrRefused) {
			t.Fatalf("dispatch into an aborted run: %v", err)
		}
	})
}

func TestTwoReplaysAtOnceMoveEachFlightOnce(t *testing.T) {
	onBoth(t, func(f *fleet) {
		t := f.t
		const n = 2000 // four steps of a move
		v := &failing{vendor: newVendor()}
		for i := range n {
			v.set(fmt.Sprintf("b%d", i), errContract)
		}
		g, _ := f.run(crm(v))
		gate := "crm:acme/contacts"
		f.dispatch(g, gate, n)
		f.until("all parked", func() bool { return f.state(g, "crm:acme").Parked == n })
		for i := range n {
			v.set(fmt.Sprintf("b%d", i), nil)
		}
		if _, err := g.Reopen(t.Context(), gate, governor.ReopenOptions{}); err != nil {
			t.Fatal(err)
		}
		var mu sync.Mutex
		moved := 0
		var wg sync.WaitGroup
		for range 2 {
			op := f.governor()
			wg.Go(func() {
				for {
					r, err := op.Replay(t.Context(), governor.ParkedShelf, gate, governor.MoveOptions{})
					if errors.Is(err, governor.ErrRefused) {
						<-time.After(50 * time.Millisecond) // the other one has the lock
						continue
					}
					mu.Lock()
					moved += r.Moved
					mu.Unlock()
					if errors.Is(err, governor.ErrPartial) && t.Context().Err() == nil {
						continue // the broker was slow to hand out; what is left is moved by the next
					}
					if err != nil {
						t.Error(err)
					}
					return
				}
			})
		}
		wg.Wait()
		if moved != n {
			t.Fatalf("%d moved", moved)
		}
		f.until("all landings", func() bool { got, _ := v.count(); return got == n })
		if got, total := v.count(); got != total {
			t.Fatalf("%d landed in %d calls", got, total)
		}
	})
}

func TestACanaryReplayStopsAtTheFirstThatFails(t *testing.T) {
	onBoth(t, func(f *fleet) {
		t := f.t
		v := &failing{vendor: newVendor()}
		for i := range 20 {
			v.set(fmt.Sprintf("b%d", i), errContract)
		}
		g, _ := f.run(lenient(v))
		gate := "crm:acme/contacts"
		f.dispatch(g, gate, 20)
		f.until("all parked", func() bool { return f.state(g, "crm:acme").Parked == 20 })
		r, err := g.Replay(t.Context(), governor.ParkedShelf, gate, governor.MoveOptions{Canary: 2})
		if err == nil || r.Moved != 2 || r.Left != 18 {
			t.Fatalf("%v %+v", err, r)
		}
		f.until("all parked again", func() bool { return f.state(g, "crm:acme").Parked == 20 })
		for i := range 20 {
			v.set(fmt.Sprintf("b%d", i), nil)
		}
		if r, err = g.Replay(t.Context(), governor.ParkedShelf, gate, governor.MoveOptions{Canary: 2}); err != nil || r.Moved != 20 {
			t.Fatalf("%v %+v", err, r)
		}
		f.until("20 landings", func() bool { n, _ := v.count(); return n == 20 })
	})
}

func TestALimitIsForAllGatesTogether(t *testing.T) {
	onBoth(t, func(f *fleet) {
		t := f.t
		v := &failing{vendor: newVendor()}
		for i := range 6 {
			v.set(fmt.Sprintf("b%d", i), errContract)
		}
		a := lenient(v)
		second := a.Gates[0]
		second.ID = "companies"
		a.Gates = append(a.Gates, second)
		g, _ := f.run(a)
		for _, gate := range []string{"crm:acme/contacts", "crm:acme/companies"} {
			f.ready(g, gate)
			f.dispatch(g, gate, 6)
		}
		f.until("all parked", func() bool { return f.state(g, "crm:acme").Parked == 12 })
		o := governor.MoveOptions{Filter: governor.ParkedFilter{Limit: 8}, Confirm: "crm:acme"}
		for _, dry := range []bool{true, false} {
			o.DryRun = dry
			r, err := g.Discard(t.Context(), governor.ParkedShelf, "crm:acme", o)
			if err != nil || r.Planned != 12 || r.Moved != 8 || r.Left != 4 {
				t.Fatalf("dry run %v: %v %+v", dry, err, r)
			}
		}
		f.until("the rest", func() bool { return f.state(g, "crm:acme").Parked == 4 })
	})
}

func TestWhatWasRejectedSaysWhy(t *testing.T) {
	onBoth(t, func(f *fleet) {
		t := f.t
		v := &failing{vendor: newVendor()}
		v.set("b0", errRecord)
		g, _ := f.run(lenient(v))
		f.ready(g, "crm:acme/contacts")
		f.dispatch(g, "crm:acme/contacts", 1)
		f.until("the rejection", func() bool { return f.state(g, "crm:acme").Rejected == 1 })
		list, err := g.Shelved(t.Context(), governor.RejectedShelf, "crm:acme", governor.ParkedFilter{Reason: governor.ReasonRejected})
		if err != nil || len(list) != 1 || list[0].Reason != governor.ReasonRejected || list[0].BusinessID != "b0" {
			t.Fatalf("%v %+v", err, list)
		}
	})
}
