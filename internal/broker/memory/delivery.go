package memory

import (
	"container/heap"
	"fmt"
	"maps"

	"github.com/traction-go/traction/internal/broker"
	"github.com/traction-go/traction/internal/wire"
)

type delivery struct {
	s           *subscription
	it          *item
	msg         wire.Message
	session     uint64
	consumer    uint64
	redelivered bool
}

func (d *delivery) Message() wire.Message { return d.msg }
func (d *delivery) Queue() string         { return d.s.name }
func (d *delivery) Redelivered() bool     { return d.redelivered }
func (d *delivery) Session() uint64       { return d.session }

func (d *delivery) Ack() error {
	return d.settle(func(*queue) {})
}

func (d *delivery) Nack() error {
	return d.settle(func(q *queue) { q.giveBack(d.it, true) })
}

func (d *delivery) settle(how func(*queue)) error {
	s := d.s
	s.b.mu.Lock()
	defer s.b.mu.Unlock()
	if _, mine := s.hands[d]; !mine {
		return fmt.Errorf("queue %q: session %d is over, or this was settled before: %w", s.name, d.session, broker.ErrStale)
	}
	delete(s.hands, d)
	if d.consumer == s.consumer {
		s.inUse--
	}
	how(s.q)
	s.q.hand()
	return nil
}

// delivered is the message as a consumer gets it: with its count of returns.
func (it *item) delivered() wire.Message {
	m := it.msg
	if it.returns == 0 {
		return m
	}
	h := make(map[string]any, len(m.Headers)+1)
	maps.Copy(h, m.Headers)
	h["x-delivery-count"] = int64(it.returns)
	m.Headers = h
	return m
}

func (q *queue) pop() *item { return heap.Pop(&q.ready).(*item) }
