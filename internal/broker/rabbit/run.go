package rabbit

import (
	"context"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

// run is the subscription's goroutine, from the first consumer to Close.
func (s *subscription) run(c *consumer) {
	defer s.finish()
	retry := backoff{first: 50 * time.Millisecond, most: 10 * time.Second}
	for {
		if c != nil {
			s.enter(consuming)
			began := time.Now()
			if s.pump(c) {
				c.discard()
				s.lose(c.sess)
				s.waitOut(c)
			}
			if time.Since(began) > 10*time.Second {
				retry.reset()
			}
			c = nil
		}
		s.mu.Lock()
		wanted, closed := s.wanted, s.closed
		s.mu.Unlock()
		switch {
		case closed || s.t.stop.Err() != nil:
			return
		case !wanted:
			s.rest()
			continue
		}
		s.enter(starting)
		var err error
		if c, err = s.attempt(); err == nil {
			continue
		}
		changed := s.enter(trying)
		s.mu.Lock()
		wanted = s.wanted
		s.mu.Unlock()
		if !wanted {
			continue
		}
		if s.t.stop.Err() == nil {
			s.t.cfg.Logger.Warn("consumer not restored, trying again", "queue", s.name, "error", err)
		}
		select {
		case <-time.After(retry.next()):
		case <-changed:
		case <-s.t.stop.Done():
		}
	}
}

// afterCancel is how long a queue that cancelled its consumers is left alone.
// While it is being deleted RabbitMQ 4 still finds it, and answers a consumer with
// an error that closes the channel, or the connection, on everybody else.
const afterCancel = 2 * time.Second

// waitOut lets a queue go that the broker has taken its consumer from; the next
// try is on a channel of its own.
func (s *subscription) waitOut(c *consumer) {
	select {
	case <-c.cancelled:
	default:
		return
	}
	s.suspect = true
	changed := s.enter(trying)
	s.mu.Lock()
	wanted := s.wanted
	s.mu.Unlock()
	if !wanted {
		return
	}
	wait := backoff{first: afterCancel, most: afterCancel}
	select {
	case <-time.After(wait.next()):
	case <-changed:
	case <-s.t.stop.Done():
	}
}

// attempt tries to consume until that is no longer wanted.
func (s *subscription) attempt() (*consumer, error) {
	ctx, cancel := context.WithTimeout(s.t.stop, 2*s.t.cfg.CallTimeout)
	defer cancel()
	s.mu.Lock()
	s.giveUp = cancel
	if !s.wanted {
		cancel()
	}
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		s.giveUp = nil
		s.mu.Unlock()
	}()
	return s.consume(ctx)
}

// rest waits while paused. What is in hand can be settled, so its session's end
// is still to be told.
func (s *subscription) rest() {
	changed := s.enter(paused)
	var dead chan struct{}
	s.mu.Lock()
	sess, again := s.sess, s.wanted || s.closed // changed before enter
	s.mu.Unlock()
	if again {
		return
	}
	if sess != nil {
		dead = sess.h.dead
	}
	select {
	case <-changed:
	case <-dead:
		s.lose(sess)
	case <-s.t.stop.Done():
	}
}

// pump moves deliveries into the buffer until the consumer ends. It says whether
// the session is lost; if not, the consumer was cancelled as wanted.
func (s *subscription) pump(c *consumer) (lost bool) {
	var over []*delivery // arrived for a full buffer, while cancelling
	cancelling := false
	dead := c.sess.h.dead
	refresh := func() <-chan struct{} {
		s.mu.Lock()
		defer s.mu.Unlock()
		if !s.wanted && !cancelling {
			cancelling = true
			c.cancel()
		}
		return s.changed
	}
	changed := refresh()
	for {
		select {
		case d, ok := <-c.in:
			if !ok {
				if !cancelling || c.sess.h.over() {
					return s.ended(c)
				}
				for _, d := range over {
					_ = d.Nack() // an error: it went back by itself
				}
				c.sess.settled()
				return false
			}
			changed = s.forward(c, &d, &over, &cancelling, changed, refresh)
		case <-changed:
			changed = refresh()
		case <-c.cancelled:
			return true
		case <-dead:
			return true
		}
	}
}

// ended waits for the reason why a consumer's channel was closed.
func (s *subscription) ended(c *consumer) bool {
	select {
	case <-c.cancelled:
	case <-c.sess.h.dead:
	}
	return true
}

func (s *subscription) forward(c *consumer, in *amqp.Delivery, over *[]*delivery, cancelling *bool, changed <-chan struct{}, refresh func() <-chan struct{}) <-chan struct{} {
	d := c.sess.take(in)
	select {
	case s.out <- d:
		return changed
	default:
	}
	// Full: a larger prefetch than the buffer began with, or deliveries of an
	// older session still in it. The library queues the rest, so nobody else waits.
	for !*cancelling {
		select {
		case s.out <- d:
			return changed
		case <-c.cancelled:
			return changed
		case <-c.sess.h.dead:
			return changed
		case <-changed:
			changed = refresh()
		}
	}
	*over = append(*over, d)
	return changed
}

// finish gives back what was not settled, and ends.
func (s *subscription) finish() {
	s.mu.Lock()
	sess := s.sess
	s.sess, s.closed = nil, true
	s.announce()
	s.mu.Unlock()
	if sess != nil {
		sess.settled()
		if tags := sess.end(); len(tags) > 0 && !sess.h.over() {
			// An error: the channel is gone, and they go back by themselves.
			_ = sess.h.giveBack(s.name, singly(tags), lotWait)
			// Once this is answered the broker has handled them.
			_ = sess.h.do(context.Background(), func(ch *amqp.Channel) error { return ch.Qos(1, 0, false) })
		}
		sess.h.leave()
	}
	close(s.out)
	close(s.lost)
	s.t.orphan(s)
	close(s.done)
}
