package governor_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/traction-go/traction/internal/broker"
	"github.com/traction-go/traction/internal/broker/memory"
	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/governor"
)

const shelfGate = "crm:acme/contacts"

var shelfQueue = wire.Namespace("tr").Parked(wire.Scope{Airport: "crm:acme", Gate: "contacts"})

// park leaves n parked flights at a gate that no worker serves.
func (f *fleet) park(g *governor.Governor, n int) {
	t := f.t
	t.Helper()
	v := &failing{vendor: newVendor()}
	for i := range n {
		v.set(fmt.Sprintf("b%d", i), errContract)
	}
	run, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- g.Run(run, lenient(v)) }()
	f.dispatch(g, shelfGate, n)
	f.until("all parked", func() bool { return f.state(g, "crm:acme").Parked == n })
	stop()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
}

func TestWhatOthersHaveInHandIsTold(t *testing.T) {
	t.Parallel()
	var b broker.Transport
	g, st := embedded(t, func(is broker.Transport) broker.Transport { b = is; return is })
	f := &fleet{t: t}
	f.park(g, 30)
	all, err := g.Parked(t.Context(), "crm:acme", governor.ParkedFilter{})
	if err != nil || len(all) != 30 {
		t.Fatalf("nobody else is there: %v, %d flights", err, len(all))
	}
	sub, err := b.Subscribe(t.Context(), shelfQueue, 10)
	if err != nil {
		t.Fatal(err)
	}
	for range 10 {
		<-sub.Deliveries()
	}
	if err := sub.Pause(t.Context()); err != nil {
		t.Fatal(err)
	}
	told := func(what string, err error) {
		t.Helper()
		if !errors.Is(err, governor.ErrPartial) || errors.Is(err, governor.ErrNotFound) || !strings.Contains(err.Error(), "somebody else") ||
			!strings.Contains(err.Error(), "try again when that has ended") {
			t.Errorf("%s: %v", what, err)
		}
	}
	list, err := g.Parked(t.Context(), "crm:acme", governor.ParkedFilter{})
	if told("a list", err); len(list) != 20 {
		t.Errorf("%d were listed, want the 20 that nobody has", len(list))
	}
	_, err = g.ShowShelved(t.Context(), governor.ParkedShelf, shelfGate, all[0].Flight)
	told("one that is in other hands", err)
	if s, err := g.ShowShelved(t.Context(), governor.ParkedShelf, shelfGate, all[15].Flight); err != nil || s.Flight != all[15].Flight {
		t.Errorf("one that is there: %v", err)
	}
	if a := f.state(g, "crm:acme"); a.Parked != governor.Unread || a.Gates[0].Parked != governor.Unread || a.Rejected != 0 {
		t.Errorf("%d parked at the airport, %d at the gate, want that nobody can count them", a.Parked, a.Gates[0].Parked)
	}
	for _, dry := range []bool{true, false} {
		r, err := g.Discard(t.Context(), governor.ParkedShelf, shelfGate, governor.MoveOptions{DryRun: dry, Confirm: shelfGate})
		if told("a discard", err); r.Planned != 20 || r.Moved != 20 || r.Left != 0 {
			t.Errorf("%+v", r)
		}
	}
	lock, _, err := st.LockGate(t.Context(), wire.Scope{Airport: "crm:acme", Gate: "contacts"}, "dana", "parked replay", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = g.Parked(t.Context(), shelfGate, governor.ParkedFilter{}); err == nil || !strings.Contains(err.Error(), "dana (parked replay, since ") {
		t.Errorf("while dana moves them: %v", err)
	}
	if err := errors.Join(lock.Release(t.Context()), sub.Close(t.Context())); err != nil {
		t.Fatal(err)
	}
	if list, err := g.Parked(t.Context(), "crm:acme", governor.ParkedFilter{}); err != nil || len(list) != 10 {
		t.Errorf("afterwards: %v, %d flights", err, len(list))
	}
	if a := f.state(g, "crm:acme"); a.Parked != 10 {
		t.Errorf("afterwards %d are parked", a.Parked)
	}
}

// A short look that is under way is waited for.
func TestALookWaitsForAnother(t *testing.T) {
	t.Parallel()
	var b broker.Transport
	g, _ := embedded(t, func(is broker.Transport) broker.Transport { b = is; return is })
	(&fleet{t: t}).park(g, 3)
	sub, err := b.Subscribe(t.Context(), shelfQueue, 3)
	if err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(100*time.Millisecond, func() { _ = sub.Close(context.Background()) })
	if list, err := g.Parked(t.Context(), shelfGate, governor.ParkedFilter{}); err != nil || len(list) != 3 {
		t.Errorf("%v, %d flights", err, len(list))
	}
}

func TestAReplayThatWaitsHasNothingInHand(t *testing.T) {
	onBoth(t, func(f *fleet) {
		t := f.t
		g, other := f.governor(), f.governor()
		f.park(g, 40)
		for name, o := range map[string]governor.MoveOptions{"a canary": {Canary: 2}, "a rate": {Rate: 0.2}} {
			before := f.state(other, "crm:acme").Parked
			ctx, stop := context.WithCancelCause(t.Context())
			var once sync.Once
			under := make(chan struct{})
			o.Waits = func(string) { once.Do(func() { close(under) }) } // no worker is there
			o.Progress = func(r governor.MoveResult) {
				if r.Moved > 0 && o.Rate > 0 {
					once.Do(func() { close(under) })
				}
			}
			over := errors.New("seen")
			var r governor.MoveResult
			ended := make(chan error, 1)
			go func() {
				var err error
				r, err = g.Replay(ctx, governor.ParkedShelf, shelfGate, o)
				ended <- err
			}()
			select {
			case <-under:
			case err := <-ended:
				t.Fatalf("%s: it has ended: %v", name, err)
			}
			f.until(name+" to leave the shelf to be seen", func() bool {
				list, err := other.Parked(t.Context(), shelfGate, governor.ParkedFilter{})
				return err == nil && len(list) >= before-10
			})
			f.until("the shelf to be counted", func() bool { return f.state(other, "crm:acme").Parked >= before-10 })
			stop(over)
			if err := <-ended; !errors.Is(err, over) || r.Planned != before || r.Moved+r.Left != before || r.Moved == 0 {
				t.Errorf("%s: %v %+v, want %d planned", name, err, r, before)
			}
			f.until(fmt.Sprintf("%s: the %d that it left", name, r.Left), func() bool { return f.state(other, "crm:acme").Parked == r.Left })
		}
	})
}

// cut is a broker whose connections end in the middle of a step.
type cut struct {
	broker.Transport
	b     *memory.Broker
	sent  bool // after the copies are confirmed, before the originals are acknowledged
	heard bool // after that, before the broker said that it has the acknowledgements
}

func (c *cut) Publish(ctx context.Context, msgs []broker.Publishing) []error {
	errs := c.Transport.Publish(ctx, msgs)
	if c.sent {
		c.b.DropConnections()
	}
	return errs
}

func (c *cut) Subscribe(ctx context.Context, queue string, prefetch int) (broker.Subscription, error) {
	s, err := c.Transport.Subscribe(ctx, queue, prefetch)
	return cutSub{s, c}, err
}

type cutSub struct {
	broker.Subscription
	c *cut
}

func (s cutSub) Sync(ctx context.Context, session uint64) error {
	if s.c.heard {
		s.c.b.DropConnections()
	}
	return s.Subscription.Sync(ctx, session)
}

func TestALostConnectionLeavesTrueCounts(t *testing.T) {
	t.Parallel()
	b := memory.NewBroker()
	c := &cut{b: b}
	g, _ := embedded(t, func(broker.Transport) broker.Transport { c.Transport = b.Dial(); return c })
	f := &fleet{t: t}
	f.park(g, 12)

	c.sent = true
	r, err := g.Replay(t.Context(), governor.ParkedShelf, shelfGate, governor.MoveOptions{})
	if !errors.Is(err, governor.ErrUnreachable) || !strings.Contains(err.Error(), "a copy of 12 of those that are left") {
		t.Errorf("cut before the originals were acknowledged: %v", err)
	}
	if r.Planned != 12 || r.Moved != 0 || r.Unknown != 0 || r.Left != 12 {
		t.Errorf("cut before the originals were acknowledged: %+v", r)
	}
	f.until("all on the shelf", func() bool { return f.state(g, "crm:acme").Parked == 12 })

	c.sent, c.heard = false, true
	r, err = g.Replay(t.Context(), governor.ParkedShelf, shelfGate, governor.MoveOptions{Filter: governor.ParkedFilter{Limit: 5}})
	if !errors.Is(err, governor.ErrPartial) || r.Planned != 12 || r.Moved != 0 || r.Unknown != 5 || r.Left != 7 {
		t.Errorf("cut before the broker answered: %v %+v", err, r)
	}
	list, err := g.Audit(t.Context(), governor.AuditFilter{Scope: shelfGate, Limit: 1})
	if err != nil || len(list) != 1 || list[0].Count != 0 || !strings.Contains(list[0].Result, "5 left or moved") || list[0].Reason != "only --limit 5" {
		t.Errorf("%v; the audit says %+v", err, list)
	}
	c.heard = false
	f.until("the rest on the shelf", func() bool { return f.state(g, "crm:acme").Parked == 7 })
	if r, err = g.Replay(t.Context(), governor.ParkedShelf, shelfGate, governor.MoveOptions{}); err != nil || r.Moved != 7 {
		t.Errorf("the next run: %v %+v", err, r)
	}
}

func TestTheAuditSaysWhatWasChosen(t *testing.T) {
	t.Parallel()
	g, _ := embedded(t, func(b broker.Transport) broker.Transport { return b })
	(&fleet{t: t}).park(g, 6)
	o := governor.MoveOptions{Confirm: shelfGate, Filter: governor.ParkedFilter{BusinessID: "b3", Reason: "GATE_FAULT", OlderThan: time.Millisecond}}
	if r, err := g.Discard(t.Context(), governor.ParkedShelf, shelfGate, o); err != nil || r.Moved != 1 {
		t.Fatalf("%v %+v", err, r)
	}
	list, err := g.Audit(t.Context(), governor.AuditFilter{Scope: shelfGate})
	if err != nil || len(list) != 2 {
		t.Fatalf("%v %+v", err, list)
	}
	const only = "only --reason GATE_FAULT --business-id b3 --older-than 1ms"
	for _, e := range list {
		switch {
		case e.Result == "begun" && e.Count == 6 && e.Reason == "counts all that was parked then; moves "+only:
		case e.Result == "ok" && e.Count == 1 && e.Reason == only:
		default:
			t.Errorf("%+v", e)
		}
	}
}

// Looks that meet take turns: each sees all there is, and the shelf keeps its order.
func TestLooksThatMeetTakeTurns(t *testing.T) {
	onBoth(t, func(f *fleet) {
		t := f.t
		const n = 400
		g := f.shelve(n)
		before := f.flights(g)
		if len(before) != n {
			t.Fatalf("%d flights", len(before))
		}
		dir := t.TempDir()
		var all sync.WaitGroup
		for i := range 6 {
			all.Go(func() {
				if i%3 == 2 {
					var r governor.BackupResult
					err := inTurn(func() (err error) {
						r, err = g.Backup(t.Context(), f.ns()+"."+shelfGate+".parked", fmt.Sprintf("%s/%d", dir, i), governor.BackupOptions{})
						return err
					})
					if err != nil || r.Written != n {
						t.Errorf("a backup: %d of %d, %v", r.Written, n, err)
					}
					return
				}
				var list []governor.ParkedFlight
				err := inTurn(func() (err error) {
					list, err = g.Parked(t.Context(), shelfGate, governor.ParkedFilter{})
					return err
				})
				if err != nil || len(list) != n {
					t.Errorf("a list: %d of %d, %v", len(list), n, err)
				}
			})
		}
		all.Wait()
		f.same(f.flights(g), before)
	})
}

// inTurn takes a look again that was not begun, since the looks before it took long.
func inTurn(look func() error) error {
	for end := time.Now().Add(patience); ; {
		err := look()
		if err == nil || !strings.Contains(err.Error(), "nothing of it was looked at") || time.Now().After(end) {
			return err
		}
	}
}

// Where somebody looks for longer nothing is half seen: a look and a backup are not
// begun, and a move says that it knows of a part alone.
func TestALongLookIsNamedToOthers(t *testing.T) {
	t.Parallel()
	g, st := embedded(t, func(is broker.Transport) broker.Transport { return is })
	(&fleet{t: t}).park(g, 3)
	scope := wire.Scope{Airport: "crm:acme", Gate: "contacts"}
	if _, holder, err := st.LockLook(t.Context(), scope, "parked", "ann@desk", "queue backup", time.Minute); err != nil || holder != nil {
		t.Fatal(holder, err)
	}
	var told sync.WaitGroup
	says := func(what string, class, err error) {
		t.Helper()
		if !errors.Is(err, class) || !strings.Contains(err.Error(), "ann@desk (queue backup, since ") {
			t.Errorf("%s: %v", what, err)
		}
	}
	told.Go(func() {
		list, err := g.Parked(t.Context(), shelfGate, governor.ParkedFilter{})
		if says("a list", governor.ErrPartial, err); len(list) != 0 {
			t.Errorf("%d flights were listed", len(list))
		}
	})
	told.Go(func() {
		_, err := g.Replay(t.Context(), governor.ParkedShelf, shelfGate, governor.MoveOptions{DryRun: true})
		says("a dry run", governor.ErrPartial, err)
	})
	told.Go(func() {
		file := t.TempDir() + "/b"
		_, err := g.Backup(t.Context(), shelfQueue, file, governor.BackupOptions{})
		if says("a backup", governor.ErrRefused, err); errors.Is(err, governor.ErrPartial) {
			t.Errorf("a backup that is not begun is partly done: %v", err)
		}
	})
	told.Wait()
	r, err := g.Replay(t.Context(), governor.ParkedShelf, shelfGate, governor.MoveOptions{})
	if says("a replay", governor.ErrPartial, err); r.Moved != 3 {
		t.Errorf("%+v", r)
	}
}
