package top

import (
	"fmt"
	"strings"
	"time"

	"github.com/traction-go/traction/internal/cli/render"
	"github.com/traction-go/traction/internal/wire"
)

// marker is what the rows' first cells are spent on: which one is selected.
const marker = 2

// patienceOf is how old a table's own data may be without a word.
func (m Model) patienceOf(t tab) time.Duration {
	if t == tabParked {
		return m.patience() + parkedEvery
	}
	return m.patience()
}

// stale reports whether what the shown table is made of is stale.
func (m Model) stale() bool {
	s := m.screen()
	if hasOwn(s.tab) {
		return s.page().own.age(m.now, m.patienceOf(s.tab)).stale
	}
	return m.fleet.age(m.now, m.patience()).stale
}

// tableLines writes the heading and rows lines of the shown table.
func (m Model) tableLines(width, rows int) []string {
	s := m.screen()
	l := &s.page().list
	shown := l.visible(rows)
	drawn := make([][]cell, len(shown))
	for i, e := range shown {
		drawn[i] = e.cells(m.eye())
	}
	fitted := m.layout(s.tab, drawn, width)
	lines := []string{m.paint.text(render.Dim, clip(strings.Repeat(" ", marker)+fitted.heading(m.g), max(width, m.width), m.g))}
	if len(shown) == 0 {
		lines = append(lines, clip("  "+m.nothing(s, l), max(width, m.width), m.g))
	}
	stale := m.stale()
	for i := range shown {
		selected := l.top+i == l.at
		p := m.paint
		if selected || stale {
			p = paint{} // one style for the whole row
		}
		line := fitted.line(drawn[i], p, m.g)
		switch {
		case selected:
			line = m.paint.text(chosen, fill(m.g.cursor+" "+line, m.width, m.g))
		case stale:
			line = "  " + m.paint.text(render.Dim, line)
		default:
			line = "  " + line
		}
		lines = append(lines, line)
	}
	for len(lines) < rows+1 {
		lines = append(lines, "")
	}
	return lines
}

// layout fits the columns to the rows that are drawn.
func (m Model) layout(t tab, drawn [][]cell, width int) layout {
	columns := tables[t].columns
	wants := make([]int, len(columns))
	for _, row := range drawn {
		for i, c := range columns {
			if c.flex || width == 0 {
				wants[i] = max(wants[i], cells.StringWidth(row[i].text))
			}
		}
	}
	if width > 0 {
		width = max(1, width-marker)
	}
	return lay(columns, wants, width)
}

// nothing says why there is no row.
func (m Model) nothing(s *screen, l *list) string {
	read := m.fleet.at
	if hasOwn(s.tab) {
		read = s.page().own.at
	}
	switch {
	case read.IsZero():
		return "nothing has been read yet"
	case len(l.all) > 0:
		return fmt.Sprintf("none of %d has %q; esc shows all", len(l.all), wire.Visible(l.filter))
	}
	return tables[s.tab].empty
}

// overview writes the fleet in one line; alarm says that something in it needs a
// human.
func overview(f fleet, g glyphs) (text string, alarm bool) {
	var waiting, air, parked total
	unsent := 0
	states := map[wire.State]int{}
	gates := map[wire.State]int{}
	for _, a := range f.airports {
		states[a.State]++
		waiting.add(a.Runway, a.Holding, a.Adopted)
		air.add(a.InAir)
		parked.add(a.Parked)
		unsent += max(0, a.Unsent)
		for _, x := range a.Gates {
			gates[x.State]++
		}
	}
	workers, towers := 0, 0
	for _, p := range f.processes {
		if p.Tower {
			towers++
		} else {
			workers++
		}
	}
	var parts []string
	if workers == 0 {
		parts = append(parts, "NO WORKER IS ALIVE")
	}
	if towers == 0 {
		parts = append(parts, "NO TOWER IS ALIVE")
	}
	if unsent > 0 {
		parts = append(parts, "NOT NOTIFIED "+render.Count(unsent).String())
	}
	for _, st := range []wire.State{wire.Stopped, wire.Unknown, wire.Paused} {
		if n := states[st]; n > 0 {
			parts = append(parts, render.Count(n).String()+" "+string(st))
		}
		if n := gates[st]; n > 0 {
			parts = append(parts, plural(n, "gate")+" "+string(st))
		}
	}
	alarm = len(parts) > 0
	parts = append(parts, waiting.String()+" wait", air.String()+" in the air", parked.String()+" parked")
	if workers > 0 {
		parts = append(parts, plural(workers, "worker"))
	}
	return strings.Join(parts, " "+g.dot+" "), alarm
}

// total adds counts, and remembers that one of them could not be read.
type total struct {
	n    int
	hole bool
}

func (t *total) add(counts ...int) {
	for _, n := range counts {
		t.n += max(0, n)
		t.hole = t.hole || n < 0
	}
}

// String writes 1,013, or 1,013+ where not all could be read.
func (t total) String() string {
	s := render.Count(t.n).String()
	if t.hole {
		s += "+"
	}
	return s
}
