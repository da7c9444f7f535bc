package rabbit

import (
	"context"
	"fmt"
	"slices"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/traction-go/traction/internal/broker"
	"github.com/traction-go/traction/internal/wire"
)

// browseQuiet ends a look at messages that somebody else took meanwhile. Where
// nobody else consumes, the broker is only slow, and is given more time.
const (
	browseQuiet = time.Second
	browseSlow  = 15 // times as long
)

// backWait bounds the wait for what was given back to be counted again: a lot of it,
// which keeps the order, and all. Where a consumer takes it, it never is. A busy broker
// needs longer for a lot than a worker would wait; a look has the time.
const backWait = time.Second

// Browse consumes without acknowledging, on a channel of its own, and returns
// everything by nack: a nack keeps the place, and later brokers do not count it.
func (t *transport) Browse(ctx context.Context, queue string, limit int, see func(wire.Message) bool) error {
	what := fmt.Sprintf("browse queue %q", queue)
	if err := broker.CheckName("queue", queue); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	ready, exists, err := t.Depth(ctx, queue)
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", what, err)
	case !exists:
		return fmt.Errorf("%s: %w", what, broker.ErrNoQueue)
	}
	if limit = min(limit, ready); limit <= 0 {
		return nil
	}
	h, err := t.newHost(ctx)
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	defer h.leave()
	l := &look{h: h, sess: newSession(0, queue, h), see: see}
	for limit > 0 && err == nil && !l.stopped {
		n := min(limit, broker.MaxPrefetch) // a consumer can hold no more
		limit -= n
		err = l.take(ctx, n)
	}
	back := l.giveBack()
	if err == nil {
		err = back
	}
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

// look is one Browse under way.
type look struct {
	h       *host
	sess    *session
	see     func(wire.Message) bool
	stopped bool // see had enough, or the queue is empty
	tags    []uint64
	runs    int
}

func (l *look) take(ctx context.Context, n int) error {
	c, err := l.h.consume(ctx, l.sess, fmt.Sprintf("look.%d", l.runs), n)
	if err != nil {
		return err
	}
	l.runs++
	quiet, silent := time.NewTimer(browseQuiet), 0
	defer quiet.Stop()
	for n > 0 && !l.stopped && err == nil {
		select {
		case d, ok := <-c.in:
			if !ok {
				err = fmt.Errorf("%w: the channel was lost", broker.ErrUnreachable)
				break
			}
			n--
			l.tags = append(l.tags, d.DeliveryTag)
			if !l.see(fromAMQP(&d)) {
				l.stopped = true
			}
			silent = 0
			quiet.Reset(browseQuiet)
		case <-quiet.C:
			silent++
			if l.stopped = silent == browseSlow || l.shared(ctx); !l.stopped {
				quiet.Reset(browseQuiet)
			}
		case <-c.cancelled:
			err = broker.ErrNoQueue
		case <-ctx.Done():
			err = ctx.Err()
		}
	}
	c.cancel()
	for d := range c.in { // until the cancel is answered or the channel dies
		l.tags = append(l.tags, d.DeliveryTag)
	}
	return err
}

// shared reports whether others consume the queue too, or that cannot be told. A
// cancelled consumer of this look counts as long as it has something in hand.
func (l *look) shared(ctx context.Context) bool {
	n, err := l.h.t.Consumers(ctx, l.sess.queue)
	return err != nil || n > l.runs
}

// giveBack returns everything and waits until the broker has done it. It is not
// under the caller's context: that may be over, and this must still happen.
func (l *look) giveBack() error {
	if len(l.tags) == 0 {
		return nil
	}
	var nacks []nack
	for some := range slices.Chunk(l.tags, perNack) {
		nacks = append(nacks, nack{some[len(some)-1], len(some)})
	}
	base, _, depthErr := l.h.t.Depth(context.Background(), l.sess.queue)
	if err := l.h.giveBack(l.sess.queue, nacks, backWait); err != nil {
		return classify(err)
	}
	err := l.h.do(context.Background(), func(ch *amqp.Channel) error { return ch.Qos(1, 0, false) })
	if err == nil && depthErr == nil {
		// The channel has passed them on; a quorum queue counts them a little later,
		// and whoever looks right now would find it shorter than it is.
		l.h.arrived(l.sess.queue, base+len(l.tags), backWait)
	}
	return err
}
