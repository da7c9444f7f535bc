// Package render writes what commands show: tables, JSON and JSON Lines, times,
// counts and colours. Text from outside goes through wire.Text before it gets
// here, or through Visible here; nothing is printed raw.
package render

import (
	"io"
	"slices"
	"strings"

	"github.com/mattn/go-runewidth"

	"github.com/traction-go/traction/internal/wire"
)

// Column is one column of a table.
type Column struct {
	Name  string
	Right bool // numbers
	Flex  bool // may be cut to fit a terminal
	Spare bool // may be left out on a terminal that is too narrow; the last goes first
}

// Table is a list of records. Every record is one line, whatever is in it.
type Table struct {
	Columns []Column
	Rows    [][]string
	Style   func(row, column int) Style // nil: plain
}

// minFlex is the least a cut column keeps, in cells.
const minFlex = 12

// Write prints the table with aligned columns and two spaces between them. width
// is the terminal's; 0, for a pipe, cuts nothing. An empty cell is "-", so that
// a script can count columns; put the column with spaces in it last.
func (t Table) Write(w io.Writer, width int, p Palette) error {
	cells := make([][]string, len(t.Rows))
	widths := make([]int, len(t.Columns))
	for i, c := range t.Columns {
		widths[i] = len(c.Name)
	}
	for r, row := range t.Rows {
		cells[r] = make([]string, len(t.Columns))
		for c := range t.Columns {
			v := wire.Visible(row[c])
			if v == "" {
				v = "-"
			}
			cells[r][c] = v
			widths[c] = max(widths[c], runewidth.StringWidth(v))
		}
	}
	if c := t.tooMuch(widths, width); c >= 0 {
		return t.without(c).Write(w, width, p)
	}
	t.fit(widths, width)
	var b strings.Builder
	line := func(get func(c int) string, style func(c int) Style) {
		for c, col := range t.Columns {
			v := get(c)
			if runewidth.StringWidth(v) > widths[c] {
				v = runewidth.Truncate(v, widths[c], "…")
			}
			pad := strings.Repeat(" ", max(0, widths[c]-runewidth.StringWidth(v)))
			v = p.Paint(style(c), v)
			switch {
			case col.Right:
				b.WriteString(pad + v)
			case c == len(t.Columns)-1:
				b.WriteString(v)
			default:
				b.WriteString(v + pad)
			}
			if c < len(t.Columns)-1 {
				b.WriteString("  ")
			}
		}
		b.WriteByte('\n')
	}
	line(func(c int) string { return t.Columns[c].Name }, func(int) Style { return Dim })
	for r := range cells {
		line(func(c int) string { return cells[r][c] }, func(c int) Style {
			if t.Style == nil {
				return Plain
			}
			return t.Style(r, c)
		})
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// tooMuch gives the spare column to leave out: the last, where the line would not
// fit with every flexible column at its least. -1: none.
func (t Table) tooMuch(widths []int, width int) int {
	if width <= 0 {
		return -1
	}
	least, spare := 2*(len(widths)-1), -1
	for c, w := range widths {
		if t.Columns[c].Flex {
			w = min(w, minFlex)
		}
		least += w
		if t.Columns[c].Spare {
			spare = c
		}
	}
	if least <= width {
		return -1
	}
	return spare
}

func (t Table) without(column int) Table {
	cut := Table{Columns: slices.Delete(slices.Clone(t.Columns), column, column+1)}
	for _, row := range t.Rows {
		cut.Rows = append(cut.Rows, slices.Delete(slices.Clone(row), column, column+1))
	}
	if t.Style != nil {
		cut.Style = func(r, c int) Style {
			if c >= column {
				c++
			}
			return t.Style(r, c)
		}
	}
	return cut
}

// fit shrinks the flexible columns, the widest first, until the line fits.
func (t Table) fit(widths []int, width int) {
	if width <= 0 {
		return
	}
	for {
		total := 2 * (len(widths) - 1)
		widest := -1
		for c, w := range widths {
			total += w
			if t.Columns[c].Flex && w > minFlex && (widest < 0 || w > widths[widest]) {
				widest = c
			}
		}
		if total <= width || widest < 0 {
			return
		}
		widths[widest] = max(minFlex, min(widths[widest]-1, widths[widest]-(total-width)))
	}
}
