package top

import (
	"testing"
	"time"

	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/governor"
)

// Bursts look like nothing, or like twice as much, in a short history: what the store
// counted decides where it is known.
func TestBurstsInTheView(t *testing.T) {
	at := time.Unix(1000, 0)
	quiet := history{}.add(sample{at, 100, 500}).add(sample{at.Add(20 * time.Second), 100, 500})
	burst := history{}.add(sample{at, 100, 500}).add(sample{at.Add(20 * time.Second), 125, 475})
	flood := history{}.add(sample{at, 100, 500}).add(sample{at.Add(time.Minute), 150, 5000})
	known := governor.Pace{PerSecond: 25.0 / 30, Over: 10 * time.Minute}
	none := governor.Pace{}
	for _, c := range []struct {
		name        string
		h           history
		pace        governor.Pace
		state       wire.State
		drain       time.Duration
		cell, shown string
		rate        string
	}{
		{"between two bursts", quiet, known, wire.Open, 10 * time.Minute, "10m", "10m (0.83/s over the last 10m)", "0.8"},
		{"at a burst", burst, known, wire.Open, 10 * time.Minute, "10m", "10m (0.83/s over the last 10m)", "0.8"},
		{"no pace yet", quiet, none, wire.Open, governor.Unknown, "stuck", "stuck", "0"},
		{"first look", history{}.add(sample{at, 100, 500}), known, wire.Open, 10 * time.Minute, "10m", "10m (0.83/s over the last 10m)", "0.8"},
		{"stopped", quiet, known, wire.Stopped, 0, "held", "held", "0.8"},
		{"more comes than goes", flood, known, wire.Open, 10 * time.Minute, "grows", "grows (0.83/s over the last 10m)", "0.8"},
	} {
		if got := drains(c.h, c.state, c.drain, c.pace); got != c.cell {
			t.Errorf("%s: drain %q, want %q", c.name, got, c.cell)
		}
		if got := drainShown(c.h, c.state, c.drain, c.pace); got != c.shown {
			t.Errorf("%s: shown %q, want %q", c.name, got, c.shown)
		}
		if got := paced(c.h, c.pace); got != c.rate {
			t.Errorf("%s: rate %q, want %q", c.name, got, c.rate)
		}
	}
}
