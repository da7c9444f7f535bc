package top

import (
	"strings"

	"github.com/mattn/go-runewidth"

	"github.com/traction-go/traction/internal/cli/render"
)

// column is one column of a table. Its width is width cells, or, where flex says
// so, what its texts want and the terminal leaves.
type column struct {
	name  string
	width int  // the least, for a flexible one
	flex  bool // grows up to what its longest text wants
	most  int  // of a flexible one, before others are dropped for it
	right bool // numbers
	drop  int  // what goes first on a narrow terminal, the highest; 0: stays
}

// cell is one text of a row. It is visible already.
type cell struct {
	text  string
	style render.Style
}

// Widths are counted the same way wherever the terminal stands: the signs used
// here take one cell everywhere that matters.
var cells = func() *runewidth.Condition {
	c := runewidth.NewCondition()
	c.EastAsianWidth = false
	return c
}()

// layout is which columns are shown, and how wide.
type layout struct {
	columns []column
	index   []int // of the cell that each column shows
	gap     int   // cells between columns
}

// lay fits columns into width cells; 0 fits nothing and gives each what it wants.
// wants has the longest text of each flexible column.
func lay(columns []column, wants []int, width int) layout {
	l := layout{columns: append([]column(nil), columns...), index: make([]int, len(columns)), gap: 2}
	for i := range columns {
		l.index[i] = i
		if width == 0 && columns[i].flex {
			l.columns[i].width = max(columns[i].width, wants[i], len(columns[i].name))
		}
	}
	if width == 0 {
		return l
	}
	for i := range l.columns {
		if c := &l.columns[i]; c.most > 0 {
			c.width = max(c.width, min(wants[i], c.most))
		}
	}
	if l.total() > width {
		l.gap = 1
	}
	for l.total() > width {
		worst := -1
		for i, c := range l.columns {
			if c.drop > 0 && (worst < 0 || c.drop > l.columns[worst].drop) {
				worst = i
			}
		}
		if worst < 0 {
			break
		}
		l.columns = append(l.columns[:worst], l.columns[worst+1:]...)
		l.index = append(l.index[:worst], l.index[worst+1:]...)
	}
	// Narrower than the least: the right edge goes.
	for last := len(l.columns) - 1; l.total() > width && last >= 0; last-- {
		c := &l.columns[last]
		if c.width = max(0, c.width-(l.total()-width)); c.width == 0 && last > 0 {
			l.columns, l.index = l.columns[:last], l.index[:last]
		}
	}
	spare := width - l.total()
	for i := range l.columns {
		c := &l.columns[i]
		if !c.flex || spare <= 0 {
			continue
		}
		grow := min(spare, max(0, wants[l.index[i]]-c.width))
		c.width += grow
		spare -= grow
	}
	return l
}

func (l layout) total() int {
	n := l.gap * (len(l.columns) - 1)
	for _, c := range l.columns {
		n += c.width
	}
	return n
}

// heading writes the names of the columns.
func (l layout) heading(g glyphs) string {
	names := layout{columns: l.columns, gap: l.gap, index: make([]int, len(l.columns))}
	row := make([]cell, len(l.columns))
	for i, c := range l.columns {
		names.index[i] = i
		row[i] = cell{text: c.name}
	}
	return names.line(row, paint{}, g)
}

// line writes one row.
func (l layout) line(row []cell, p paint, g glyphs) string {
	var b strings.Builder
	for i, c := range l.columns {
		v := row[l.index[i]]
		text := clip(v.text, c.width, g)
		pad := strings.Repeat(" ", max(0, c.width-cells.StringWidth(text)))
		switch {
		case c.right:
			b.WriteString(pad + p.text(v.style, text))
		case i == len(l.columns)-1:
			b.WriteString(p.text(v.style, text))
		default:
			b.WriteString(p.text(v.style, text) + pad)
		}
		if i < len(l.columns)-1 {
			b.WriteString(strings.Repeat(" ", l.gap))
		}
	}
	return b.String()
}

// clip cuts text to width cells, and shows that it was cut.
func clip(s string, width int, g glyphs) string {
	if width <= 0 {
		return ""
	}
	if cells.StringWidth(s) <= width {
		return s
	}
	return cells.Truncate(s, width, g.cut)
}

// fill cuts text to width cells, or pads it with spaces.
func fill(s string, width int, g glyphs) string {
	s = clip(s, width, g)
	return s + strings.Repeat(" ", max(0, width-cells.StringWidth(s)))
}

// tail keeps the end of a text that is being typed.
func tail(s string, width int) string {
	r := []rune(s)
	for len(r) > 1 && cells.StringWidth(string(r)) > width {
		r = r[1:]
	}
	return string(r)
}
