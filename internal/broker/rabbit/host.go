package rabbit

import (
	"context"
	"fmt"
	"sync"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/traction-go/traction/internal/broker"
)

// host is a channel that subscriptions may share. One goroutine makes its
// synchronous calls: two at once would get each other's answers.
type host struct {
	t    *transport
	c    *live
	ch   *amqp.Channel
	jobs chan func()
	dead chan struct{} // closed by watch

	alone bool // not shared

	mu      sync.Mutex
	tenants int
	cancels map[string]chan struct{} // by consumer tag: closed when the broker cancels it
}

// hosts places subscriptions on channels.
type hosts struct {
	mu   sync.Mutex
	list []*host
}

// place opens a channel, or, once there are many, finds the one with the fewest
// subscriptions. The broker looks for each acknowledged message among all that a channel
// has in hand, from the oldest on: an ack costs it the more, the more runways share one.
func (t *transport) place(ctx context.Context) (*host, error) {
	ctx, cancel := context.WithTimeout(ctx, t.cfg.CallTimeout)
	defer cancel()
	c, err := t.rest.get(ctx)
	if err != nil {
		return nil, err
	}
	// Under the lock: whoever comes next finds the channel that is being opened.
	t.hosts.mu.Lock()
	defer t.hosts.mu.Unlock()
	alive := t.hosts.list[:0]
	var open []*host
	var loads []int
	for _, h := range t.hosts.list {
		if h.over() {
			continue
		}
		alive = append(alive, h)
		if h.c == c {
			open, loads = append(open, h), append(loads, h.load())
		}
	}
	clear(t.hosts.list[len(alive):])
	t.hosts.list = alive
	// A broker may allow few channels, and calls need some too.
	if i := roomiest(loads, min(t.cfg.Channels, int(c.conn.Config.ChannelMax)/4), t.cfg.PerChannel); i >= 0 {
		open[i].enter()
		return open[i], nil
	}
	h, err := t.openHost(ctx, c)
	if err == nil {
		t.hosts.list = append(t.hosts.list, h)
	}
	return h, err
}

// roomiest picks one of the channels, given how many subscriptions each has, or -1: one
// is to be opened.
func roomiest(loads []int, channels, perChannel int) int {
	least := -1
	for i, n := range loads {
		if least < 0 || n < loads[least] {
			least = i
		}
	}
	if least >= 0 && (loads[least] == 0 || len(loads) >= channels && loads[least] < perChannel) {
		return least
	}
	return -1
}

// newHost opens a channel that is not shared.
func (t *transport) newHost(ctx context.Context) (*host, error) {
	ctx, cancel := context.WithTimeout(ctx, t.cfg.CallTimeout)
	defer cancel()
	c, err := t.rest.get(ctx)
	if err != nil {
		return nil, err
	}
	h, err := t.openHost(ctx, c)
	if err == nil {
		h.alone = true
	}
	return h, err
}

func (t *transport) openHost(ctx context.Context, c *live) (*host, error) {
	type opened struct {
		ch  *amqp.Channel
		err error
	}
	answer := make(chan opened, 1)
	go func() {
		ch, err := c.conn.Channel()
		answer <- opened{ch, err}
	}()
	var ch *amqp.Channel
	select {
	case o := <-answer:
		if o.err != nil {
			return nil, classify(o.err)
		}
		ch = o.ch
	case <-ctx.Done():
		return nil, fmt.Errorf("open a channel: %w: no answer: %w", broker.ErrUnreachable, ctx.Err())
	}
	h := &host{t: t, c: c, ch: ch, jobs: make(chan func()), dead: make(chan struct{}), tenants: 1, cancels: map[string]chan struct{}{}}
	go h.watch(ch.NotifyClose(make(chan *amqp.Error, 1)), ch.NotifyCancel(make(chan string, t.cfg.PerChannel)))
	go h.own()
	return h, nil
}

func (h *host) over() bool {
	select {
	case <-h.dead:
		return true
	default:
		return h.ch.IsClosed()
	}
}

// load is how many subscriptions the channel has.
func (h *host) load() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.tenants
}

// enter begins a stay. place alone calls it, so that no other comes in between.
func (h *host) enter() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.tenants++
}

// leave ends a stay. A channel that is not shared goes with its tenant.
func (h *host) leave() {
	h.mu.Lock()
	h.tenants--
	last := h.tenants == 0 && h.alone
	h.mu.Unlock()
	if last && !h.over() {
		h.giveUp()
	}
}

func (h *host) own() {
	for {
		select {
		case f := <-h.jobs:
			f()
		case <-h.dead:
			return
		}
	}
}

func (h *host) watch(closes <-chan *amqp.Error, cancels <-chan string) {
	defer close(h.dead)
	for {
		select {
		case e := <-closes:
			if e != nil {
				h.t.cfg.Logger.Warn("channel lost", "error", classify(e))
			}
			return
		case tag, ok := <-cancels:
			if !ok {
				cancels = nil
				continue
			}
			h.mu.Lock()
			if c := h.cancels[tag]; c != nil {
				close(c)
				delete(h.cancels, tag)
			}
			h.mu.Unlock()
		}
	}
}

// do makes a synchronous call on the channel, bounded. A channel that does not
// answer is closed: its consumers would go on taking messages.
func (h *host) do(ctx context.Context, f func(*amqp.Channel) error) error {
	timer := time.NewTimer(h.t.cfg.CallTimeout)
	defer timer.Stop()
	answer := make(chan error, 1)
	select {
	case h.jobs <- func() { answer <- f(h.ch) }:
	case <-h.dead:
		return fmt.Errorf("%w: the channel was lost", broker.ErrUnreachable)
	case <-ctx.Done():
		return fmt.Errorf("%w: %w", broker.ErrUnreachable, ctx.Err())
	case <-timer.C: // whoever is in the call gives the channel up
		return fmt.Errorf("%w: the channel did not answer in %s", broker.ErrUnreachable, h.t.cfg.CallTimeout)
	}
	select {
	case err := <-answer:
		return classify(err)
	case <-ctx.Done():
		return fmt.Errorf("%w: %w", broker.ErrUnreachable, ctx.Err())
	case <-timer.C:
		h.giveUp()
		return fmt.Errorf("%w: the channel did not answer in %s", broker.ErrUnreachable, h.t.cfg.CallTimeout)
	}
}

func (h *host) giveUp() {
	timer := time.AfterFunc(h.t.cfg.CallTimeout, func() { h.c.raw.Close() })
	go func() {
		defer timer.Stop()
		_ = h.ch.Close() // an error: it was closed
	}()
}

// expect registers a consumer, before it starts, for the broker's cancels.
func (h *host) expect(tag string) <-chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	c := make(chan struct{})
	h.cancels[tag] = c
	return c
}

func (h *host) unexpect(tag string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.cancels, tag)
}
