package rabbit

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/traction-go/traction/internal/broker"
)

type transport struct {
	cfg  Config
	stop context.Context // over when the transport closes
	end  context.CancelFunc

	pub  *link // publishes
	rest *link // consumes, and everything else

	jobs      chan *job
	tasks     sync.WaitGroup // the pipelines
	exchanges sync.Map       // name: true, or the refusal

	hosts     hosts
	sessions  atomic.Uint64
	consumers atomic.Uint64

	mu      sync.Mutex
	subs    map[*subscription]struct{}
	closing bool
	closed  chan struct{} // when Close has ended
}

// Dial connects. An error is ErrInvalid for the configuration, or ErrUnreachable
// after every endpoint was tried once; from then on the transport reconnects by
// itself, for as long as it takes.
func Dial(ctx context.Context, cfg Config) (broker.Transport, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	t := &transport{
		cfg:    cfg,
		pub:    newLink(cfg, "publish"),
		rest:   newLink(cfg, "consume"),
		jobs:   make(chan *job),
		subs:   map[*subscription]struct{}{},
		closed: make(chan struct{}),
	}
	t.stop, t.end = context.WithCancel(context.Background())
	var errs [2]error
	var wg sync.WaitGroup
	wg.Go(func() { errs[0] = t.rest.start(ctx, t.stop) })
	wg.Go(func() { errs[1] = t.pub.start(ctx, t.stop) })
	wg.Wait()
	if err := errors.Join(errs[:]...); err != nil {
		t.end()
		t.rest.close(ctx)
		t.pub.close(ctx)
		if errs[0] != nil {
			err = errs[0] // both say the same
		}
		return nil, fmt.Errorf("connect to RabbitMQ: %w", err)
	}
	for range cfg.Pipelines {
		t.tasks.Add(1)
		go t.pipeline()
	}
	return t, nil
}

// adopt registers a subscription, unless the transport is closing.
func (t *transport) adopt(s *subscription) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closing {
		return false
	}
	t.subs[s] = struct{}{}
	return true
}

func (t *transport) orphan(s *subscription) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.subs, s)
}

// Close gives back what is in hand, then closes both connections. Should that
// take longer than ctx allows, it only closes them.
func (t *transport) Close(ctx context.Context) error {
	t.mu.Lock()
	if t.closing {
		t.mu.Unlock()
		select {
		case <-t.closed:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	t.closing = true
	subs := make([]*subscription, 0, len(t.subs))
	for s := range t.subs {
		subs = append(subs, s)
	}
	t.mu.Unlock()
	defer close(t.closed)

	bounded, cancel := context.WithTimeout(ctx, t.cfg.CallTimeout)
	defer cancel()
	errs := make([]error, len(subs))
	var wg sync.WaitGroup
	for i, s := range subs {
		wg.Go(func() { errs[i] = s.Close(bounded) })
	}
	wg.Wait()
	t.end()
	t.rest.close(bounded)
	t.pub.close(bounded)
	t.tasks.Wait()
	for _, s := range subs {
		<-s.done
	}
	return errors.Join(errs...)
}

func (t *transport) Ping(ctx context.Context) error {
	return t.call(ctx, "ping", func(ch *amqp.Channel) error { return ch.Qos(1, 0, false) })
}

func (t *transport) Blocked() (string, bool) {
	why, _ := t.pub.block()
	return why, why != ""
}
