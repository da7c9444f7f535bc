package rabbit

import (
	"math/rand/v2"
	"time"
)

// backoff doubles from first to most, each wait shortened by up to half so that
// a fleet does not come back at once.
type backoff struct {
	first, most time.Duration
	n           int
}

func (b *backoff) next() time.Duration {
	d := b.first << min(b.n, 16)
	if d > b.most {
		d = b.most
	}
	b.n++
	return d - rand.N(d/2+1)
}

func (b *backoff) reset() { b.n = 0 }
