package governortest

import (
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// patience is how long, in real time, a call waits for the bubble. Whatever takes
// longer waits for something outside of it.
const patience = 2 * time.Minute

// bubble is where the field lives. Its root goroutine takes one function after the
// other from a channel made outside: waiting there does not count as waiting in
// the bubble, so its clock stands still between two calls.
type bubble struct {
	t      *testing.T
	inside bool // the test runs in the bubble itself
	work   chan func()
	ended  chan struct{}
	once   sync.Once
}

func newBubble(t *testing.T) *bubble {
	b := &bubble{t: t, inside: inBubble()}
	if b.inside {
		return b
	}
	b.work, b.ended = make(chan func()), make(chan struct{})
	go func() {
		defer close(b.ended)
		synctest.Test(t, func(*testing.T) {
			for f := range b.work {
				f()
			}
		})
	}()
	return b
}

// inBubble reports whether this goroutine runs in a bubble already: the library
// has no question for it, and its Wait panics outside of one.
func inBubble() (in bool) {
	defer func() {
		if recover() != nil {
			in = false
		}
	}()
	synctest.Wait()
	return true
}

// do runs f in the bubble, with the world at rest when it begins and when it
// returns. It reports false, and has failed the test, where that took too long.
func (b *bubble) do(what string, f func()) bool {
	b.t.Helper()
	if b.inside {
		synctest.Wait()
		f()
		synctest.Wait()
		return true
	}
	done := make(chan struct{})
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case b.work <- func() { synctest.Wait(); f(); synctest.Wait(); close(done) }:
	case <-b.ended:
		b.t.Errorf("governortest: %s: the field has ended", what)
		return false
	}
	select {
	case <-done:
		return true
	case <-b.ended:
		b.t.Errorf("governortest: %s: the field ended meanwhile", what)
	case <-timer.C:
		buf := make([]byte, 1<<16)
		b.t.Errorf("governortest: %s did not end within %s of real time: does a pilot, reporter or hook wait for the test or for the network?\n%s",
			what, patience, buf[:runtime.Stack(buf, true)])
	}
	return false
}

// end lets the root goroutine go and, unless the bubble is stuck already, waits for
// all others.
func (b *bubble) end(wait bool) {
	if b.inside {
		return // the test's own bubble waits for them
	}
	b.once.Do(func() { close(b.work) })
	if !wait {
		return
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-b.ended:
	case <-timer.C:
		b.t.Errorf("governortest: the field did not end within %s of real time: does a pilot, reporter or hook ignore its ended context?", patience)
	}
}
