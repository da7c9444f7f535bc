package memory

import (
	"container/heap"
	"time"

	"github.com/traction-go/traction/internal/broker"
	"github.com/traction-go/traction/internal/wire"
)

// item is one message in one queue. Its place never changes.
type item struct {
	place   uint64
	key     string // the routing key it was published with
	msg     wire.Message
	expires time.Time // zero: never
	returns int       // how often it came back
}

// items is a heap by place: the head is the oldest that is ready.
type items []*item

func (h items) Len() int           { return len(h) }
func (h items) Less(i, j int) bool { return h[i].place < h[j].place }
func (h items) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *items) Push(x any)        { *h = append(*h, x.(*item)) }
func (h *items) Pop() any {
	old := *h
	it := old[len(old)-1]
	old[len(old)-1] = nil
	*h = old[:len(old)-1]
	return it
}

type queue struct {
	broker.Queue
	b     *Broker
	ready items
	// stuck is what expired or hit the limit while its target routed nowhere: an
	// at-least-once queue keeps it until the topology changes.
	stuck   []dead
	subs    []*subscription // in turn
	looks   int             // under way
	timer   *time.Timer     // for the head's expiry
	deleted bool
}

type dead struct {
	it     *item
	reason string
}

func (q *queue) enqueue(key string, m wire.Message) {
	it := &item{place: q.b.next(), key: key, msg: m}
	if q.TTL > 0 {
		it.expires = time.Now().Add(q.TTL)
	}
	heap.Push(&q.ready, it)
	q.hand()
}

// giveBack returns a message that was handed out to its place; counted says that
// it was seen by a consumer.
func (q *queue) giveBack(it *item, counted bool) {
	if q.deleted {
		return
	}
	if counted {
		it.returns++
		if it.returns > q.b.limit {
			q.deadLetter(it, "delivery_limit")
			return
		}
	}
	heap.Push(&q.ready, it)
}

// hand gives ready messages to whoever has room, in turn.
func (q *queue) hand() {
	q.expire()
	for len(q.ready) > 0 {
		s := q.turn()
		if s == nil {
			break
		}
		s.take(q.pop())
	}
	q.arm()
}

func (q *queue) turn() *subscription {
	for i, s := range q.subs {
		if s.hasRoom() {
			// A new slice: whoever ranges over the old one is not disturbed.
			next := make([]*subscription, 0, len(q.subs))
			next = append(append(append(next, q.subs[:i]...), q.subs[i+1:]...), s)
			q.subs = next
			return s
		}
	}
	return nil
}

func (q *queue) expire() {
	if q.TTL <= 0 {
		return
	}
	now := time.Now()
	for len(q.ready) > 0 && !q.ready[0].expires.After(now) {
		q.deadLetter(q.pop(), "expired")
	}
}

// arm sets the timer for the oldest ready message: one TTL for all means that
// the oldest is the first to expire.
func (q *queue) arm() {
	if q.TTL <= 0 {
		return
	}
	if q.timer != nil {
		q.timer.Stop()
		q.timer = nil
	}
	if len(q.ready) == 0 || q.deleted {
		return
	}
	q.timer = time.AfterFunc(time.Until(q.ready[0].expires), func() {
		q.b.mu.Lock()
		defer q.b.mu.Unlock()
		if !q.b.down { // a stopped broker's clock runs on; Start catches up
			q.hand()
		}
	})
}

// deadLetter passes a message on, under the routing key it had.
func (q *queue) deadLetter(it *item, reason string) {
	if q.DeadLetterExchange == "" {
		return // no target: the broker drops it
	}
	targets := q.b.route(q.DeadLetterExchange, it.key)
	if len(targets) == 0 {
		q.stuck = append(q.stuck, dead{it, reason})
		return
	}
	for _, t := range targets {
		if looped(it.msg, t.Name) {
			continue // a cycle without a rejection drops, in silence
		}
		t.enqueue(it.key, traced(it.msg, q.Name, reason))
	}
}

// retry passes on what was stuck, after the topology changed.
func (q *queue) retry() {
	stuck := q.stuck
	q.stuck = nil
	for _, d := range stuck {
		q.deadLetter(d.it, d.reason)
	}
}

// looped reads the trace a broker leaves: it has been in that queue before, and
// nothing since was a rejection (this transport has none).
func looped(m wire.Message, queue string) bool {
	trace, _ := m.Headers["x-death"].([]any)
	for _, e := range trace {
		if t, ok := e.(map[string]any); ok && t["queue"] == queue {
			return true
		}
	}
	return false
}

func traced(m wire.Message, queue, reason string) wire.Message {
	old, _ := m.Headers["x-death"].([]any)
	h := make(map[string]any, len(m.Headers)+4)
	for k, v := range m.Headers {
		h[k] = v
	}
	trace := make([]any, 0, len(old)+1)
	trace = append(trace, map[string]any{"queue": queue, "reason": reason, "count": int64(1)})
	h["x-death"] = append(trace, old...)
	if _, ok := h["x-first-death-queue"]; !ok {
		h["x-first-death-queue"], h["x-first-death-reason"] = queue, reason
	}
	delete(h, "x-delivery-count")
	m.Headers = h
	return m
}
