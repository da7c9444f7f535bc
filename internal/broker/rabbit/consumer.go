package rabbit

import (
	"context"
	"sync"

	amqp "github.com/rabbitmq/amqp091-go"
)

// consumer is one run of a consumer within a session.
type consumer struct {
	sess      *session
	tag       string
	in        <-chan amqp.Delivery
	cancelled <-chan struct{} // by the broker
}

// consume starts a consumer. When its caller gives up while the call is under
// way, what it would have taken is given back.
func (h *host) consume(ctx context.Context, sess *session, tag string, prefetch int) (*consumer, error) {
	c := &consumer{sess: sess, tag: tag, cancelled: h.expect(tag)}
	var mu sync.Mutex
	var in <-chan amqp.Delivery
	abandoned := false
	err := h.do(ctx, func(ch *amqp.Channel) error {
		if err := ch.Qos(prefetch, 0, false); err != nil { // of the next consumer alone
			return err
		}
		got, err := ch.Consume(sess.queue, tag, false, false, false, false, nil)
		if err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		in = got
		if abandoned {
			go func() {
				for d := range got {
					_ = d.Nack(false, true) // an error: the channel is gone, and so is the delivery
				}
			}()
			return ch.Cancel(tag, false)
		}
		return nil
	})
	mu.Lock()
	defer mu.Unlock()
	if err != nil && in == nil {
		abandoned = true
		h.unexpect(tag)
		return nil, err
	}
	c.in = in
	return c, nil
}

// cancel stops a consumer in the background; in is closed when it is done, or the
// channel dies.
func (c *consumer) cancel() {
	go func() {
		// An error here means that the channel is lost, which its watcher tells.
		_ = c.sess.h.do(context.Background(), func(ch *amqp.Channel) error { return ch.Cancel(c.tag, false) })
		c.sess.h.unexpect(c.tag)
	}()
}

// discard empties a consumer that is lost, for the library waits to hand over.
func (c *consumer) discard() {
	go func() {
		for range c.in {
		}
	}()
}
