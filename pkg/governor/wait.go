package governor

import (
	"context"
	"math/rand/v2"
	"time"
)

// sleep waits for d, or returns false when ctx ends first.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}

// contextWithin is a context of its own that ends after d.
func contextWithin(d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), d)
}

// answerTime is how long what is on its way to the broker is waited for, once whoever
// sent it has been told to stop: its numbers are then exact.
const answerTime = 10 * time.Second

// outlive is a context that ends d after ctx does: for what was begun and must be seen
// through, since giving up on it would leave it unknown.
func outlive(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	out, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		if sleep(out, d) {
			cancel()
		}
	})
	return out, func() { stop(); cancel() }
}

// backoff doubles from least to most, with jitter, so that a fleet does not knock
// all at once.
type backoff struct{ least, most, next time.Duration }

func newBackoff(least, most time.Duration) *backoff { return &backoff{least, most, least} }

func (b *backoff) reset() { b.next = b.least }

// delay gives the next delay.
func (b *backoff) delay() time.Duration {
	d := b.next/2 + rand.N(b.next/2+1)
	b.next = min(2*b.next, b.most)
	return d
}

// wait sleeps for the next delay; false when ctx ended.
func (b *backoff) wait(ctx context.Context) bool { return sleep(ctx, b.delay()) }

// quiet reports whether a line of this kind may be logged again: at most once an
// interval.
func (g *Governor) quiet(kind string, every time.Duration) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.logged == nil {
		g.logged = map[string]time.Time{}
	}
	if last, ok := g.logged[kind]; ok && time.Since(last) < every {
		return false
	}
	g.logged[kind] = time.Now()
	return true
}
