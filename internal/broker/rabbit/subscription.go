package rabbit

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/traction-go/traction/internal/broker"
)

// subscription is one consumer. Its goroutine (run) consumes, moves deliveries
// into out, and consumes again after a loss; callers say what they want of it.
type subscription struct {
	t    *transport
	name string
	out  chan broker.Delivery
	lost chan uint64
	done chan struct{} // closed when run has ended

	suspect bool // run's own

	mu       sync.Mutex
	wanted   bool // not paused
	closed   bool
	prefetch int
	changed  chan struct{} // closed and replaced whenever anything here changes
	state    state
	sess     *session
	giveUp   context.CancelFunc // ends the attempt to consume that is under way
}

type state int

const (
	starting  state = iota // a consumer is being started
	trying                 // that failed; again after a while
	consuming              // deliveries arrive
	paused                 // none will
)

func (t *transport) Subscribe(ctx context.Context, queue string, prefetch int) (broker.Subscription, error) {
	what := fmt.Sprintf("subscribe to queue %q", queue)
	if err := errors.Join(broker.CheckName("queue", queue), broker.CheckPrefetch(prefetch)); err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	s := &subscription{
		t: t, name: queue,
		out:     make(chan broker.Delivery, max(prefetch, broker.MinBuffer)),
		lost:    make(chan uint64, 16),
		done:    make(chan struct{}),
		changed: make(chan struct{}),
		wanted:  true, prefetch: prefetch,
	}
	if !t.adopt(s) {
		return nil, fmt.Errorf("%s: %w", what, broker.ErrClosed)
	}
	retry := backoff{first: 50 * time.Millisecond, most: 2 * time.Second}
	for {
		c, err := s.consume(ctx)
		if err == nil {
			go s.run(c)
			return s, nil
		}
		err = fmt.Errorf("%s: %w", what, err)
		if !errors.Is(err, broker.ErrUnreachable) || ctx.Err() != nil || t.stop.Err() != nil {
			t.orphan(s)
			close(s.done)
			return nil, err
		}
		select {
		case <-time.After(retry.next()):
		case <-t.stop.Done():
		case <-ctx.Done():
			t.orphan(s)
			close(s.done)
			return nil, err
		}
	}
}

func (s *subscription) Deliveries() <-chan broker.Delivery { return s.out }
func (s *subscription) Lost() <-chan uint64                { return s.lost }

// consume starts a consumer: in the session there is, or in a new one.
func (s *subscription) consume(ctx context.Context) (*consumer, error) {
	// Consuming from a missing queue closes the channel on its other tenants.
	err := s.t.call(ctx, "look for the queue", func(ch *amqp.Channel) error {
		_, err := ch.QueueDeclarePassive(s.name, true, false, false, false, nil)
		return err
	})
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	sess, prefetch := s.sess, s.prefetch
	s.mu.Unlock()
	if sess == nil {
		// A consumer that would not start took its channel along: the next try is
		// on a channel of its own.
		place := s.t.place
		if s.suspect {
			place = s.t.newHost
		}
		h, err := place(ctx)
		if err != nil {
			return nil, err
		}
		sess = newSession(s.t.sessions.Add(1), s.name, h)
		s.mu.Lock()
		s.sess = sess
		s.mu.Unlock()
	}
	c, err := sess.h.consume(ctx, sess, fmt.Sprintf("%s.%d", s.t.cfg.Name, s.t.consumers.Add(1)), prefetch)
	if err != nil {
		s.suspect = true
		s.lose(sess)
		return nil, err
	}
	s.suspect = false
	return c, nil
}

// lose ends a session and says so. A session that handed nothing out is told too:
// numbers only ever grow, and whoever reads them compares.
func (s *subscription) lose(sess *session) {
	sess.end()
	sess.h.leave()
	s.mu.Lock()
	s.sess = nil
	s.mu.Unlock()
	for {
		select {
		case s.lost <- sess.id:
			return
		default:
		}
		select {
		case <-s.lost:
		default:
		}
	}
}

// want changes what is wanted and wakes run.
func (s *subscription) want(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
	if !s.wanted && s.giveUp != nil {
		s.giveUp()
	}
	s.announce()
}

func (s *subscription) announce() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// enter tells a state, and gives what wakes up at the next change.
func (s *subscription) enter(st state) <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state = st
	s.announce()
	return s.changed
}

func (s *subscription) Pause(ctx context.Context) error {
	s.want(func() { s.wanted = false })
	for {
		s.mu.Lock()
		st, changed, closed, wanted := s.state, s.changed, s.closed, s.wanted
		s.mu.Unlock()
		switch {
		case closed:
			return broker.ErrClosed
		case st == paused || wanted: // or resumed by somebody meanwhile
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("pause queue %q: %w", s.name, ctx.Err())
		}
	}
}

func (s *subscription) Resume(ctx context.Context, prefetch int) error {
	if err := broker.CheckPrefetch(prefetch); err != nil {
		return fmt.Errorf("resume queue %q: %w", s.name, err)
	}
	s.mu.Lock()
	again := s.wanted && s.prefetch != prefetch
	s.mu.Unlock()
	if again { // a prefetch is given when a consumer starts
		if err := s.Pause(ctx); err != nil {
			return err
		}
	}
	s.want(func() { s.wanted, s.prefetch = !s.closed, prefetch })
	for {
		s.mu.Lock()
		st, changed, closed := s.state, s.changed, s.closed
		s.mu.Unlock()
		switch {
		case closed:
			return broker.ErrClosed
		case st == consuming || st == trying:
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("resume queue %q: %w", s.name, ctx.Err())
		}
	}
}

func (s *subscription) Sync(ctx context.Context, id uint64) error {
	s.mu.Lock()
	sess := s.sess
	s.mu.Unlock()
	if sess == nil || sess.id != id || sess.isOver() {
		return fmt.Errorf("sync queue %q, session %d: %w", s.name, id, broker.ErrStale)
	}
	sess.settled()
	// Qos is a synchronous call without consequences: each consumer sets its own
	// right before it starts. A look at the queue could close the channel.
	err := sess.h.do(ctx, func(ch *amqp.Channel) error { return ch.Qos(1, 0, false) })
	switch {
	case err == nil:
		return nil
	case sess.h.over():
		return fmt.Errorf("sync queue %q, session %d: %w: %w", s.name, id, broker.ErrStale, err)
	}
	return fmt.Errorf("sync queue %q, session %d: %w", s.name, id, err)
}

func (s *subscription) Close(ctx context.Context) error {
	s.want(func() { s.closed, s.wanted = true, false })
	select {
	case <-s.done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("close the subscription to queue %q: %w", s.name, ctx.Err())
	}
}
