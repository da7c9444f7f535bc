package governor

import (
	"context"
	"time"
)

// lookEvery is how often the broker is looked at, for readiness and metrics;
// nothing is decided by it.
const lookEvery = 5 * time.Second

// look keeps whether the broker answers. It was reached when the governor opened.
func (g *Governor) look(ctx context.Context) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		bounded, cancel := context.WithTimeout(ctx, lookEvery)
		err := g.bk.Ping(bounded)
		cancel()
		if ctx.Err() == nil {
			g.stats.answered(err == nil)
		}
	}
}
