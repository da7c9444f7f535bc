package memory

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/traction-go/traction/internal/broker"
	"github.com/traction-go/traction/internal/wire"
)

type transport struct {
	b    *Broker
	done chan struct{}
	once sync.Once
	subs map[*subscription]struct{} // under b.mu
	cut  bool                       // under b.mu: by Sever
}

// Severed is a transport that can lose its connection by itself.
type Severed interface {
	// Sever ends the transport's sessions and keeps it away from the broker until
	// Rejoin, as a cable that is pulled, or the end of its process, does.
	Sever()
	// Rejoin lets it reach the broker again; its subscriptions resume.
	Rejoin()
}

// Sever implements Severed.
func (t *transport) Sever() {
	t.b.mu.Lock()
	defer t.b.mu.Unlock()
	t.cut = true
	for s := range t.subs {
		q := s.q
		s.lose()
		if q != nil {
			q.hand() // to the others
		}
	}
}

// Rejoin implements Severed.
func (t *transport) Rejoin() {
	t.b.mu.Lock()
	defer t.b.mu.Unlock()
	t.cut = false
	for s := range t.subs {
		s.open()
	}
}

var errCut = errors.New("this connection was cut")

// open says whether calls can be made at all.
func (t *transport) open(ctx context.Context) error {
	select {
	case <-t.done:
		return broker.ErrClosed
	default:
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%w: %w", broker.ErrUnreachable, err)
	}
	t.b.mu.Lock()
	defer t.b.mu.Unlock()
	if t.cut {
		return fmt.Errorf("%w: %w", broker.ErrUnreachable, errCut)
	}
	return t.b.reachable()
}

func (t *transport) Close(ctx context.Context) error {
	t.once.Do(func() { close(t.done) })
	t.b.mu.Lock()
	var subs []*subscription
	for s := range t.subs {
		subs = append(subs, s)
	}
	t.b.mu.Unlock()
	var errs []error
	for _, s := range subs {
		errs = append(errs, s.Close(ctx))
	}
	return errors.Join(errs...)
}

func (t *transport) Ping(ctx context.Context) error { return t.open(ctx) }

func (t *transport) Blocked() (string, bool) {
	t.b.mu.Lock()
	defer t.b.mu.Unlock()
	return t.b.blocked, t.b.unblocked != nil
}

func (t *transport) Browse(ctx context.Context, name string, limit int, see func(wire.Message) bool) error {
	if err := t.open(ctx); err != nil {
		return err
	}
	t.b.mu.Lock()
	q := t.b.queues[name]
	if q == nil {
		t.b.mu.Unlock()
		return fmt.Errorf("browse queue %q: %w", name, broker.ErrNoQueue)
	}
	q.looks++
	var taken []*item
	for len(taken) < limit && len(q.ready) > 0 {
		taken = append(taken, q.pop())
	}
	q.arm()
	seen := make([]wire.Message, len(taken))
	for i, it := range taken {
		seen[i] = it.delivered()
	}
	t.b.mu.Unlock()
	defer func() {
		t.b.mu.Lock()
		defer t.b.mu.Unlock()
		for _, it := range taken {
			q.giveBack(it, true)
		}
		q.looks--
		q.hand()
	}()
	for _, m := range seen {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("browse queue %q: %w", name, err)
		}
		if !see(m) {
			break
		}
	}
	return nil
}
