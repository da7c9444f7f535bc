//go:build unix

package e2e

import (
	"slices"
	"strings"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/traction-go/traction/internal/wire"
)

// books are where every business id ended, as the vendor and the broker say.
type books struct {
	landed, rejected, parked, queued map[string]int
	parkedCopies                     []amqp.Delivery
	parkedWhy                        map[string]string // by business id
}

// close ends all workers in good order and reads the books. Nothing may be lost.
// With exact, no id may be in two of them and none may have landed twice, which
// holds where nothing was killed.
func (s *site) close(exact bool) books {
	s.t.Helper()
	for _, w := range s.workers {
		if !w.gone() {
			w.term()
		}
	}
	for _, w := range s.workers {
		if !w.gone() {
			w.exits()
		}
	}
	return s.audit(exact)
}

// audit reads the books by emptying the queues. The workers have ended.
func (s *site) audit(exact bool) books {
	s.t.Helper()
	b := books{landed: s.vendor.landed(), rejected: map[string]int{}, parked: map[string]int{}, queued: map[string]int{}, parkedWhy: map[string]string{}}
	conn, err := amqp.Dial(s.amqp)
	if err != nil {
		s.t.Fatal(err)
	}
	defer conn.Close()
	missing := func() (ids []string) {
		for id := range s.sent {
			if b.landed[id]+b.rejected[id]+b.parked[id]+b.queued[id] == 0 {
				ids = append(ids, id)
			}
		}
		slices.Sort(ids)
		return ids
	}
	// What a killed worker had in hand is back when the broker has noticed; what
	// dead-letters from a hold is in neither queue for a moment.
	eventually(func() bool { s.drain(conn, &b); return len(missing()) == 0 })
	if ids := missing(); len(ids) > 0 {
		s.t.Errorf("LOST %d of %d flights: %s", len(ids), len(s.sent), tail(strings.Join(ids, " "), 500))
	}
	twice := 0
	for _, m := range []map[string]int{b.landed, b.rejected, b.parked, b.queued} {
		for id := range m {
			if !s.sent[id] {
				s.t.Errorf("%q was never dispatched", id)
			}
		}
	}
	for id := range s.sent {
		if n := b.landed[id] + b.rejected[id] + b.parked[id] + b.queued[id]; n > 1 {
			twice++
			if exact {
				s.t.Errorf("%s: landed %d times, rejected %d, parked %d, queued %d; want one of them, once", id, b.landed[id], b.rejected[id], b.parked[id], b.queued[id])
			}
		}
	}
	s.t.Logf("books: dispatched %d = landed %d + rejected %d + parked %d + queued %d (in two of them, or twice: %d); calls %d",
		len(s.sent), len(b.landed), len(b.rejected), len(b.parked), len(b.queued), twice, s.vendor.count())
	return b
}

// drain takes what is in the queues of the site into the books.
func (s *site) drain(conn *amqp.Connection, b *books) {
	s.t.Helper()
	n := wire.Namespace(s.ns)
	type source struct {
		queue string
		into  map[string]int
	}
	var list []source
	for _, g := range s.gates {
		gate, err := wire.ParseGate(g)
		if err != nil {
			s.t.Fatal(err)
		}
		list = append(list, source{n.Runway(gate), b.queued}, source{n.Parked(gate), b.parked},
			source{n.Rejected(gate, wire.DefaultRejectedKeep), b.rejected})
	}
	for _, d := range append([]string{"10s"}, s.holds...) {
		list = append(list, source{s.ns + ".hold." + d, b.queued})
	}
	for _, q := range []string{n.LimitQueue(), n.UnroutableQueue()} {
		list = append(list, source{q, b.queued})
	}
	for _, from := range list {
		ch, err := conn.Channel()
		if err != nil {
			s.t.Fatal(err)
		}
		for {
			d, some, err := ch.Get(from.queue, true)
			if err != nil || !some {
				break // a queue that was never declared is empty
			}
			id, _ := d.Headers[wire.HeaderBusinessID].(string)
			if id == "" {
				id = strings.TrimSpace(string(d.Body))
			}
			from.into[id]++
			if strings.HasSuffix(from.queue, ".parked") {
				b.parkedCopies = append(b.parkedCopies, d)
				b.parkedWhy[id], _ = d.Headers[wire.HeaderParkedReason].(string)
			}
		}
		_ = ch.Close()
	}
}

// sameSet reports whether the keys are exactly ids.
func sameSet(m map[string]int, ids ...string) bool {
	if len(m) != len(ids) {
		return false
	}
	for _, id := range ids {
		if m[id] == 0 {
			return false
		}
	}
	return true
}

// apart is the shortest time between two values i and i+n of a sorted list.
func apart(at []time.Time, n int) time.Duration {
	least := time.Duration(1<<63 - 1)
	for i := 0; i+n < len(at); i++ {
		least = min(least, at[i+n].Sub(at[i]))
	}
	return least
}
