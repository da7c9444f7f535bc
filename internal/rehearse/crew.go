package rehearse

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/traction-go/traction/pkg/governor"
)

// beat is short, so that a worker that has left is soon known to be gone.
const beat = 500 * time.Millisecond

// crew is one governed process of the rehearsal: its workers, its intakes and a tower.
type crew struct {
	gov  *governor.Governor
	stop context.CancelFunc
	done chan struct{}
	once sync.Once
	err  error // of Run; read after done
}

// startCrew runs the airports. The caller ends it.
func (f *field) startCrew(ctx context.Context, airports []governor.Airport, told *pager, settled func(governor.Settled)) (*crew, error) {
	g, err := f.governor(ctx, governor.Config{Name: "rehearsal", Heartbeat: beat, Grace: closing, Hooks: []governor.Hook{told}, OnSettled: settled})
	if err != nil {
		return nil, err
	}
	// It drains when it is told to, not when ctx ends.
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	c := &crew{gov: g, stop: stop, done: make(chan struct{})}
	go func() {
		defer close(c.done)
		c.err = g.Run(running, airports...)
	}()
	return c, nil
}

// failed is why the crew ended by itself; nil while it works.
func (c *crew) failed() error {
	select {
	case <-c.done:
		return fmt.Errorf("the rehearsal's worker ended: %w", or(c.err, errors.New("for no reason it gave")))
	default:
		return nil
	}
}

// end drains the crew and closes its connections. Twice is fine.
func (c *crew) end(ctx context.Context) error {
	var err error
	c.once.Do(func() {
		c.stop()
		<-c.done
		bound, cancel := context.WithTimeout(context.WithoutCancel(ctx), closing)
		defer cancel()
		err = errors.Join(c.err, c.gov.Close(bound))
	})
	return err
}

// pager is the hook at the end of which a human sits. It counts.
type pager struct {
	mu  sync.Mutex
	all map[string]int // by type and scope
}

// Notify takes every notification.
func (p *pager) Notify(_ context.Context, n governor.Notification) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.all == nil {
		p.all = map[string]int{}
	}
	p.all[n.Type+" "+n.Scope]++
	return nil
}

// told is how often somebody was told so of a scope.
func (p *pager) told(kind, scope string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.all[kind+" "+scope]
}
