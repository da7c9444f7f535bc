package memory

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/traction-go/traction/internal/broker"
)

// subscription is one consumer. Everything but the channels is under b.mu.
type subscription struct {
	t    *transport
	b    *Broker
	name string
	out  chan broker.Delivery
	lost chan uint64
	wake chan struct{}
	done chan struct{} // closed by Close
	gone chan struct{} // closed when the pump has ended
	once sync.Once

	q         *queue // while there is a session
	session   uint64 // 0: none
	wanted    bool   // not paused
	consuming bool
	closed    bool
	consumer  uint64 // grows with each Resume: a prefetch is a consumer's
	prefetch  int
	inUse     int                    // handed to the current consumer, not settled
	hands     map[*delivery]struct{} // of this session, not settled
	pending   []*delivery            // not yet in out
	held      *held                  // what the pump waits with, out being full
}

type held struct {
	d    *delivery
	stop chan struct{} // closed to take d back
	gone chan struct{} // closed when the pump has let go
}

func (t *transport) Subscribe(ctx context.Context, name string, prefetch int) (broker.Subscription, error) {
	if err := broker.CheckPrefetch(prefetch); err != nil {
		return nil, fmt.Errorf("subscribe to queue %q: %w", name, err)
	}
	if err := t.open(ctx); err != nil {
		return nil, fmt.Errorf("subscribe to queue %q: %w", name, err)
	}
	s := &subscription{
		t: t, b: t.b, name: name,
		out:    make(chan broker.Delivery, max(prefetch, broker.MinBuffer)),
		lost:   make(chan uint64, 16),
		wake:   make(chan struct{}, 1),
		done:   make(chan struct{}),
		gone:   make(chan struct{}),
		wanted: true, prefetch: prefetch,
		hands: map[*delivery]struct{}{},
	}
	t.b.mu.Lock()
	defer t.b.mu.Unlock()
	if t.b.queues[name] == nil {
		return nil, fmt.Errorf("subscribe to queue %q: %w", name, broker.ErrNoQueue)
	}
	t.b.subs[s] = struct{}{}
	t.subs[s] = struct{}{}
	s.open()
	go s.pump()
	return s, nil
}

func (s *subscription) Deliveries() <-chan broker.Delivery { return s.out }
func (s *subscription) Lost() <-chan uint64                { return s.lost }

// open consumes, if that is wanted and possible.
func (s *subscription) open() {
	q := s.b.queues[s.name]
	if !s.wanted || s.closed || s.consuming || s.b.down || s.t.cut || q == nil {
		return
	}
	if s.session == 0 {
		s.session, s.q = s.b.next(), q
		q.subs = append(slices.Clone(q.subs), s)
	}
	s.consuming = true
	s.consumer++
	s.inUse = 0
	q.hand()
}

// lose ends the session: what was handed out goes back, and counts.
func (s *subscription) lose() {
	if s.session == 0 {
		return
	}
	old, q := s.session, s.q
	s.session, s.q, s.consuming = 0, nil, false
	q.subs = slices.DeleteFunc(slices.Clone(q.subs), func(o *subscription) bool { return o == s })
	for d := range s.hands {
		q.giveBack(d.it, true)
	}
	clear(s.hands)
	s.pending = nil
	if s.held != nil {
		s.letGo()
	}
	for !s.closed {
		select {
		case s.lost <- old:
			return
		default:
		}
		select { // full: a later number says the older ones too
		case <-s.lost:
		default:
		}
	}
}

func (s *subscription) hasRoom() bool { return s.consuming && s.inUse < s.prefetch }

func (s *subscription) take(it *item) {
	d := &delivery{s: s, it: it, session: s.session, consumer: s.consumer, msg: it.delivered(), redelivered: it.returns > 0}
	s.inUse++
	s.hands[d] = struct{}{}
	s.pending = append(s.pending, d)
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

func (s *subscription) letGo() chan struct{} {
	h := s.held
	select {
	case <-h.stop:
	default:
		close(h.stop)
	}
	return h.gone
}

// pump moves deliveries into the channel, so that the broker never waits for a
// slow subscriber.
func (s *subscription) pump() {
	defer close(s.gone)
	for {
		s.b.mu.Lock()
		var h *held
		for len(s.pending) > 0 && h == nil {
			d := s.pending[0]
			s.pending[0] = nil
			s.pending = s.pending[1:]
			select {
			case s.out <- d:
			default:
				h = &held{d: d, stop: make(chan struct{}), gone: make(chan struct{})}
				s.held = h
			}
		}
		s.b.mu.Unlock()
		if h == nil {
			select {
			case <-s.wake:
				continue
			case <-s.done:
				return
			}
		}
		sent := false
		select {
		case s.out <- h.d:
			sent = true
		case <-h.stop:
		case <-s.done:
		}
		s.b.mu.Lock()
		s.held = nil
		if !sent {
			s.untake(h.d)
		}
		close(h.gone)
		s.b.mu.Unlock()
	}
}

// untake puts back what never reached the subscriber.
func (s *subscription) untake(d *delivery) {
	if _, mine := s.hands[d]; !mine {
		return
	}
	delete(s.hands, d)
	s.q.giveBack(d.it, false)
	s.q.hand()
}

func (s *subscription) Pause(ctx context.Context) error {
	s.b.mu.Lock()
	s.wanted, s.consuming = false, false
	pending := s.pending
	s.pending = nil
	for _, d := range pending {
		delete(s.hands, d)
		s.q.giveBack(d.it, false)
	}
	if len(pending) > 0 {
		s.q.hand()
	}
	var gone chan struct{}
	if s.held != nil {
		gone = s.letGo()
	}
	closed := s.closed
	s.b.mu.Unlock()
	if closed {
		return broker.ErrClosed
	}
	if gone == nil {
		return nil
	}
	select {
	case <-gone:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("pause queue %q: %w", s.name, ctx.Err())
	}
}

func (s *subscription) Resume(_ context.Context, prefetch int) error {
	if err := broker.CheckPrefetch(prefetch); err != nil {
		return fmt.Errorf("resume queue %q: %w", s.name, err)
	}
	s.b.mu.Lock()
	defer s.b.mu.Unlock()
	if s.closed {
		return broker.ErrClosed
	}
	if s.wanted {
		s.prefetch = prefetch
		if s.q != nil {
			s.q.hand()
		}
		return nil
	}
	s.wanted, s.prefetch = true, prefetch
	s.open()
	return nil
}

func (s *subscription) Sync(_ context.Context, session uint64) error {
	s.b.mu.Lock()
	defer s.b.mu.Unlock()
	if s.session != session || session == 0 {
		return fmt.Errorf("sync queue %q, session %d: %w", s.name, session, broker.ErrStale)
	}
	return nil
}

func (s *subscription) Close(context.Context) error {
	s.once.Do(func() {
		s.b.mu.Lock()
		q := s.q
		s.closed, s.wanted = true, false
		s.lose()
		if q != nil {
			q.hand()
		}
		delete(s.b.subs, s)
		delete(s.t.subs, s)
		close(s.done)
		s.b.mu.Unlock()
		<-s.gone
		close(s.out)
		close(s.lost)
	})
	<-s.gone
	return nil
}
