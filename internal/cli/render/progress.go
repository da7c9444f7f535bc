package render

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// Progress writes one line over itself on a terminal. It is for one goroutine. The
// zero value writes nothing: what is piped gets no progress.
type Progress struct {
	W     io.Writer // the terminal; nil: nobody looks
	Width int       // its cells; 0: 80
	Now   func() time.Time

	began time.Time
	last  time.Time
	open  bool
}

// barEvery is how often the line is written at most.
const barEvery = 100 * time.Millisecond

// Show says that done of total are done, such as "replayed  [####....]  412 of 900".
func (p *Progress) Show(verb string, done, total int) {
	if p.W == nil {
		return
	}
	now := p.Now()
	if p.began.IsZero() {
		p.began = now
	}
	if p.open && now.Sub(p.last) < barEvery && done < total {
		return
	}
	p.last, p.open = now, true
	fmt.Fprintf(p.W, "\r\x1b[K%s", bar(verb, done, total, now.Sub(p.began), p.Width))
}

// Clear removes the line.
func (p *Progress) Clear() {
	if p.open {
		fmt.Fprint(p.W, "\r\x1b[K")
		p.open = false
	}
}

// bar draws the line; it is pure. The bar itself is left out where the terminal is
// too narrow for it: the counts come first.
func bar(verb string, done, total int, took time.Duration, width int) string {
	if width <= 0 {
		width = 80
	}
	text := fmt.Sprintf("%s of %s", Count(done), Count(max(total, done)))
	if took >= time.Second && done > 0 {
		rate := float64(done) / took.Seconds()
		text += fmt.Sprintf("  %s/s", Count(int(rate)))
		if left := total - done; left > 0 {
			text += "  " + Rough(time.Duration(float64(left)/rate*float64(time.Second))) + " to go"
		}
	}
	line := verb + " " + text
	cells := min(30, width-len(line)-5)
	if cells >= 10 && total > 0 {
		full := min(cells, cells*done/total)
		line = fmt.Sprintf("%s [%s%s] %s", verb, strings.Repeat("#", full), strings.Repeat(".", cells-full), text)
	}
	return line[:min(len(line), width-1)]
}
