package rabbit

import (
	"fmt"
	"slices"
	"sync"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/traction-go/traction/internal/broker"
	"github.com/traction-go/traction/internal/wire"
)

// session is a subscription's stay on one channel.
type session struct {
	id    uint64
	queue string
	h     *host

	hurry chan struct{} // makes a burst of returns go at once

	mu      sync.Mutex
	over    bool
	tags    map[uint64]struct{} // handed out, not settled
	back    []uint64            // to be returned
	backing chan struct{}       // closed when that is done; nil when nothing is
}

func newSession(id uint64, queue string, h *host) *session {
	return &session{id: id, queue: queue, h: h, tags: map[uint64]struct{}{}, hurry: make(chan struct{}, 1)}
}

// end makes all later acknowledgements stale and gives what was not settled.
func (s *session) end() []uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over = true
	tags := make([]uint64, 0, len(s.tags))
	for t := range s.tags {
		tags = append(tags, t)
	}
	s.tags = nil
	slices.Sort(tags)
	return tags
}

func (s *session) isOver() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.over
}

func (s *session) take(d *amqp.Delivery) *delivery {
	s.mu.Lock()
	s.tags[d.DeliveryTag] = struct{}{}
	s.mu.Unlock()
	return &delivery{s: s, tag: d.DeliveryTag, redelivered: d.Redelivered, msg: fromAMQP(d)}
}

// settle takes a tag, once: the broker closes the channel on everybody when it
// hears of one for the second time.
func (s *session) settle(tag uint64, nack bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, mine := s.tags[tag]; !mine {
		return fmt.Errorf("queue %q: session %d is over, or this was settled before: %w", s.queue, s.id, broker.ErrStale)
	}
	delete(s.tags, tag)
	if nack {
		s.giveBackSoon(tag)
	}
	return nil
}

type delivery struct {
	s           *session
	tag         uint64
	redelivered bool
	msg         wire.Message
}

func (d *delivery) Message() wire.Message { return d.msg }
func (d *delivery) Queue() string         { return d.s.queue }
func (d *delivery) Redelivered() bool     { return d.redelivered }
func (d *delivery) Session() uint64       { return d.s.id }

func (d *delivery) Ack() error {
	if err := d.s.settle(d.tag, false); err != nil {
		return err
	}
	if err := d.s.h.ch.Ack(d.tag, false); err != nil {
		return fmt.Errorf("queue %q: session %d ended: %w: %w", d.s.queue, d.s.id, broker.ErrStale, err)
	}
	return nil
}

func (d *delivery) Nack() error { return d.s.settle(d.tag, true) }
