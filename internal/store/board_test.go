package store_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	"github.com/traction-go/traction/internal/store"
	"github.com/traction-go/traction/internal/testsvc"
	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/settle"
)

// board is an airport with one gate, a worker's lane and an operator, on a store
// whose clock the test sets.
type board struct {
	ns wire.Namespace
	*lane
	s    *store.Store
	op   *store.Airport
	raw  *redis.Client
	keys wire.Keys
	d    disk
	now  int64

	next int
	air  []string                     // cleared and not yet settled
	from map[string]store.FlightReply // by which call
}

// onBoard runs a test on both stores.
func onBoard(t *testing.T, slots store.Slots, test func(b *board)) {
	t.Run("embedded", func(t *testing.T) {
		m := miniredis.RunT(t)
		newBoard(t, embedded{m}, client(t, m.Addr()), "tr", slots, test)
	})
	t.Run("real", func(t *testing.T) {
		o, err := redis.ParseURL(testsvc.SharedRedis(t))
		if err != nil {
			t.Fatal(err)
		}
		store.SetClock(t)
		ns := wire.Namespace(testsvc.Namespace(t))
		raw := client(t, o.Addr)
		newBoard(t, server{o.Addr, ns, raw}, raw, ns, slots, test)
	})
}

func newBoard(t *testing.T, d disk, raw *redis.Client, ns wire.Namespace, slots store.Slots, test func(b *board)) {
	b := &board{s: d.store(t, nil), d: d, raw: raw, ns: ns, keys: ns.Keys(modelAirport), now: 1_700_000_000_000, from: map[string]store.FlightReply{}}
	b.at(0)
	b.lane = newLane(t, b.s, "w1")
	b.op = b.s.Airport(modelAirport, "dana", "contacts")
	b.bear(slots)
	b.at(1)
	test(b)
}

// at moves the store's clock by d and beats.
func (b *board) at(d int64) {
	b.now += d
	b.d.setTime(b.now)
	if b.lane != nil && d != 0 {
		b.beat()
	}
}

// steady beats on for so long that the lane's word on who is dead counts.
func (b *board) steady(d time.Duration) {
	for range d / time.Second {
		b.at(1000)
	}
}

func (b *board) status(gate string) wire.Status {
	b.t.Helper()
	key := b.keys.Airport()
	if gate != "" {
		key = b.keys.Gate(gate)
	}
	v, err := b.raw.HGetAll(context.Background(), key).Result()
	if err != nil {
		b.t.Fatal(err)
	}
	return store.StatusOf(wire.Scope{Airport: modelAirport, Gate: gate}, v)
}

// take clears n new flights, which must all be cleared.
func (b *board) take(n int) {
	b.t.Helper()
	var ids []string
	for range n {
		b.next++
		ids = append(ids, fmt.Sprintf("f%03d", b.next))
	}
	r := b.clear(ids...)
	for i, id := range ids {
		if r.Clearance[i].Answer != store.Cleared {
			b.t.Fatalf("%s was not cleared: %+v", id, r.Clearance[i])
		}
		b.air, b.from[id] = append(b.air, id), r
	}
}

// land, and fail with an outcome, the first n flights that are in the air.
func (b *board) end(n int, o settle.Outcome) []store.Verdict {
	b.t.Helper()
	var c store.FlightCall
	for range n {
		f := b.air[0]
		b.air = b.air[1:]
		c.Settle = append(c.Settle, b.settled(b.from[f], f, "r-"+f, o))
	}
	return b.call(c).Verdicts
}

func (b *board) reopen(gate string, n int) store.Result {
	b.t.Helper()
	r, err := b.op.Reopen(context.Background(), gate, n, "dana", "fixed", true)
	if err != nil {
		b.t.Fatal(err)
	}
	return r.Result
}

func (b *board) pause(gate string) store.Result {
	b.t.Helper()
	r, _, err := b.op.Pause(context.Background(), gate, "dana", "looking", false)
	if err != nil {
		b.t.Fatal(err)
	}
	return r
}

// forget removes keys of the store behind everybody's back.
func (b *board) forget(keys ...string) {
	b.t.Helper()
	if err := b.raw.Del(context.Background(), keys...).Err(); err != nil {
		b.t.Fatal(err)
	}
}

// loseAll has the store forget everything of this board: other tests run on the same
// store.
func (b *board) loseAll() {
	b.t.Helper()
	keys, err := b.raw.Keys(context.Background(), string(b.ns)+":*").Result()
	if err != nil || len(keys) == 0 {
		b.t.Fatal("nothing to forget: ", err)
	}
	b.forget(keys...)
}

// find bears a scope whose marker stands.
func (b *board) find(gate string) {
	b.t.Helper()
	ctx := context.Background()
	born, epoch, err := b.a.BeginBirth(ctx, gate)
	if err == nil && born == store.Look {
		born, err = b.a.FinishBirth(ctx, gate, epoch, true, store.Slots{})
	}
	if err != nil || born != store.Stands {
		b.t.Fatalf("birth of %q: %v, %v", gate, born, err)
	}
}

func (b *board) incidents() []wire.Incident {
	b.t.Helper()
	list, err := b.s.Incidents(context.Background(), modelAirport)
	if err != nil {
		b.t.Fatal(err)
	}
	return list
}

func (b *board) incident(id string) wire.Incident {
	for _, i := range b.incidents() {
		if i.ID == id {
			return i
		}
	}
	return wire.Incident{}
}

// told gives the keys of the notifications that wait, by type.
func (b *board) told() []wire.Notice {
	b.t.Helper()
	n, err := b.a.Outbox(context.Background(), 0, 1000, nil, nil)
	if err != nil {
		b.t.Fatal(err)
	}
	return n
}

func (b *board) toldOf(typ string) (n []wire.Notice) {
	for _, x := range b.told() {
		if x.Type == typ {
			n = append(n, x)
		}
	}
	return n
}

// change says what became of a scope, in words that a table can hold.
func (b *board) change(before, after wire.Status) string {
	w := []string{string(after.State)}
	add := func(is bool, word string) {
		if is {
			w = append(w, word)
		}
	}
	add(after.Paused, "paused")
	add(after.Lost, "lost")
	add(after.Held, "held")
	add(after.Covered, "covered")
	add(after.ThrottledUntil.UnixMilli() > b.now, "throttled")
	add(after.Delayed, "delayed")
	move := func(name string, from, to int64) {
		switch {
		case to > from:
			w = append(w, name+"+")
		case to < from:
			w = append(w, name+" BACK")
		}
	}
	move("epoch", before.Epoch, after.Epoch)
	move("fence", before.Fence, after.Fence)
	switch {
	case before.Incident != "" && before.Incident == after.Incident:
		w = append(w, "same incident")
	case after.Incident != "":
		w = append(w, "new incident")
	case before.Incident != "" && b.incident(before.Incident).ClosedAt > 0:
		w = append(w, "incident closed")
	case before.Incident != "":
		w = append(w, "incident LEFT OPEN")
	}
	return strings.Join(w, ", ")
}
