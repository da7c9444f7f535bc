package demo

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/traction-go/traction/pkg/governor"
)

// The fleet of the governed scenarios: together they have as many calls in the air
// as the plain consumer.
const (
	processes = 3
	workers   = 4 // each

	// beat is short, so that a demo starts at once.
	beat = 500 * time.Millisecond
)

// fleet is several governed processes in one: each with connections, beats and a
// tower of its own.
type fleet struct {
	govs []*governor.Governor
	stop context.CancelFunc
	wg   sync.WaitGroup
	once sync.Once

	mu  sync.Mutex
	err error
}

// startFleet runs the airport in every process. The caller ends it.
func startFleet(ctx context.Context, st *stage, a governor.Airport, hook governor.Hook) (*fleet, error) {
	// The fleet drains by itself when it is told to, not when ctx ends.
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	f := &fleet{stop: stop}
	for i := range processes {
		g, err := st.field.governor(ctx, governor.Config{
			Name: fmt.Sprintf("worker-%d", i+1), Heartbeat: beat, Hooks: []governor.Hook{hook}, Logger: st.log(),
		})
		if err != nil {
			return nil, errors.Join(err, f.end(ctx))
		}
		f.govs = append(f.govs, g)
		f.wg.Go(func() { f.fail(g.Run(running, a)) })
	}
	return f, nil
}

func (f *fleet) fail(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.err = errors.Join(f.err, err)
}

// end drains every process and closes its connections. Twice is fine.
func (f *fleet) end(ctx context.Context) error {
	f.once.Do(func() {
		f.stop()
		f.wg.Wait()
		bound, cancel := context.WithTimeout(context.WithoutCancel(ctx), closing)
		defer cancel()
		for _, g := range f.govs {
			f.fail(g.Close(bound))
		}
	})
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.err
}

// log is where the governed workers log.
func (st *stage) log() *slog.Logger {
	var handlers []slog.Handler
	if st.Verbose {
		handlers = append(handlers, slog.NewTextHandler(st.Narrator, nil))
	}
	if st.errors != nil {
		handlers = append(handlers, slog.NewTextHandler(st.errors, &slog.HandlerOptions{Level: slog.LevelError}))
	}
	return slog.New(slog.NewMultiHandler(handlers...))
}

// pager is the hook at the end of which a human sits. It counts.
type pager struct {
	narrator *Narrator

	mu  sync.Mutex
	all []governor.Notification
}

// Notify takes every notification, and shows its line.
func (p *pager) Notify(_ context.Context, n governor.Notification) error {
	p.mu.Lock()
	p.all = append(p.all, n)
	p.mu.Unlock()
	p.narrator.Say("  traction.notify type=%s scope=%s reason=%s incident=%s evidence=%q", n.Type, n.Scope, n.Reason, n.Incident, n.Evidence)
	return nil
}

func (p *pager) taken() []governor.Notification {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]governor.Notification(nil), p.all...)
}
