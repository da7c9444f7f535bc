package top

import (
	"strconv"
	"strings"
	"time"

	"github.com/traction-go/traction/internal/cli/render"
	"github.com/traction-go/traction/pkg/governor"
)

// historyWindow is how far back rates and drain times look: long enough to smooth
// a slow vendor, short enough to follow a reopen.
const historyWindow = time.Minute

// stuckAfter is how long nothing must have landed for a scope to count as stuck.
const stuckAfter = 10 * time.Second

// sample is what one reading said of a scope.
type sample struct {
	at      time.Time
	landed  int64 // ever
	waiting int   // on the runway, on hold and in adopted queues; Unread where it could not be read
}

// history is what was seen of a scope's totals, oldest first. It is made of
// totals, so that a reading that was missed makes a longer step and no gap.
type history []sample

// add notes a reading, and forgets what is older than the window. A total that
// went back (the store lost it), or a clock that did, starts again.
func (h history) add(s sample) history {
	if n := len(h); n > 0 {
		switch last := h[n-1]; {
		case s.landed < last.landed || s.at.Before(last.at):
			h = nil
		case s.at.Equal(last.at):
			h = h[:n-1]
		}
	}
	from := 0
	// One sample beyond the window stays, so that the window is covered.
	for from+1 < len(h) && s.at.Sub(h[from+1].at) >= historyWindow {
		from++
	}
	return append(h[from:], s)
}

// rate gives what landed per second over the window; false where there was only
// one reading.
func (h history) rate() (float64, bool) {
	if len(h) < 2 {
		return 0, false
	}
	first, last := h[0], h[len(h)-1]
	return float64(last.landed-first.landed) / last.at.Sub(first.at).Seconds(), true
}

// steps gives the rate of each of the last n steps, oldest first; fewer where
// fewer were seen.
func (h history) steps(n int) []float64 {
	var out []float64
	for i := max(1, len(h)-n); i < len(h); i++ {
		out = append(out, float64(h[i].landed-h[i-1].landed)/h[i].at.Sub(h[i-1].at).Seconds())
	}
	return out
}

// drain says when what waits will have landed, at the pace of the window. It is a
// word where there is no such time.
func (h history) drain(state governor.State) string {
	if len(h) == 0 {
		return "-"
	}
	first, last := h[0], h[len(h)-1]
	switch {
	case last.waiting < 0:
		return "?"
	case last.waiting == 0:
		return "-"
	case state == governor.Stopped || state == governor.Paused:
		return "held"
	}
	rate, ok := h.rate()
	switch {
	case !ok:
		return "?"
	case rate == 0 && (state == governor.Throttled || state == governor.Delayed):
		return "waits" // it goes on by itself
	case rate == 0 && last.at.Sub(first.at) < stuckAfter:
		return "?"
	case rate == 0:
		return "stuck"
	case first.waiting >= 0 && float64(last.waiting-first.waiting) > rate*last.at.Sub(first.at).Seconds()/10:
		// More comes than goes, by more than a tenth of what goes.
		return "grows"
	}
	d := time.Duration(float64(last.waiting) / rate * float64(time.Second))
	if d > 1000*time.Hour {
		return "stuck"
	}
	return render.Rough(max(d, time.Second))
}

// spark draws rates in width cells, the newest on the right, scaled to the
// largest. Nothing at all is drawn as the lowest line, so that an idle scope does
// not look like one that was not read.
func spark(rates []float64, width int, g glyphs) string {
	peak := 0.0
	for _, r := range rates {
		peak = max(peak, r)
	}
	var b strings.Builder
	b.WriteString(strings.Repeat(" ", max(0, width-len(rates))))
	for _, r := range rates[max(0, len(rates)-width):] {
		i := 0
		if peak > 0 && r > 0 {
			// The lowest step is for nothing; whatever landed shows.
			i = 1 + int(r/peak*float64(len(g.steps)-2)+0.5)
			i = min(i, len(g.steps)-1)
		}
		b.WriteString(g.steps[i])
	}
	return b.String()
}

// perSecond writes a rate in at most five cells.
func perSecond(h history) string {
	r, ok := h.rate()
	if !ok {
		return "-"
	}
	return shortRate(r)
}

func shortRate(r float64) string {
	switch {
	case r == 0:
		return "0"
	case r < 0.1:
		return "<0.1"
	case r < 100:
		return strconv.FormatFloat(r, 'f', 1, 64)
	}
	return render.Count(r).String()
}
