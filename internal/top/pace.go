package top

import (
	"time"

	"github.com/traction-go/traction/internal/cli/form"
	"github.com/traction-go/traction/internal/cli/render"
	"github.com/traction-go/traction/pkg/governor"
)

// The view's own history is a minute long, which is too short for work that comes in
// bursts. Where the store's totals tell a pace, that is what stands; until they do, the
// history does.

// paced is the rate in at most five cells.
func paced(h history, p governor.Pace) string {
	if !p.Known() {
		return perSecond(h)
	}
	return shortRate(p.PerSecond)
}

// drains says when what waits will be done, in a cell.
func drains(h history, state governor.State, d time.Duration, p governor.Pace) string {
	if d <= 0 || h.grows(p.PerSecond) {
		return h.drain(state)
	}
	return render.Rough(d)
}

// grows reports whether more comes than goes at that rate, by more than a burst is
// likely to make of it.
func (h history) grows(rate float64) bool {
	if len(h) < 2 {
		return false
	}
	first, last := h[0], h[len(h)-1]
	took := last.at.Sub(first.at)
	return first.waiting >= 0 && last.waiting >= 0 && took >= historyWindow/2 &&
		float64(last.waiting-first.waiting) > rate*took.Seconds()
}

// drainShown is the same for the record, where there is room for how it was measured.
func drainShown(h history, state governor.State, d time.Duration, p governor.Pace) string {
	word := drains(h, state, d, p)
	if d > 0 {
		word += " (" + form.Pace(p) + ")"
	}
	return word
}
