package top

import (
	"context"
	"sync"
)

// life bounds what runs beside the program: when the view ends, readings and
// verbs are cut off, and nothing is left behind.
type life struct {
	ctx    context.Context
	cancel context.CancelFunc

	mu    sync.Mutex
	ended bool
	wg    sync.WaitGroup
}

func newLife(ctx context.Context) *life {
	l := &life{}
	l.ctx, l.cancel = context.WithCancel(ctx)
	return l
}

// enter reports whether something may begin; leave must follow.
func (l *life) enter() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		return false
	}
	l.wg.Add(1)
	return true
}

func (l *life) leave() { l.wg.Done() }

// end cuts off what runs and returns when it has ended. Twice is fine.
func (l *life) end() {
	l.mu.Lock()
	l.ended = true
	l.mu.Unlock()
	l.cancel()
	l.wg.Wait()
}
