package render

import (
	"io"
	"strings"

	"github.com/mattn/go-runewidth"

	"github.com/traction-go/traction/internal/wire"
)

// Field is one line of a record that is shown by itself.
type Field struct {
	Name  string
	Value string // made visible here; "" leaves the line out
	Style Style
}

// Fields writes name and value, one a line, the values aligned. On a terminal of
// width cells a long value goes on below itself; for a pipe (0) it stays one line.
func Fields(w io.Writer, fields []Field, width int, p Palette) error {
	indent := 0
	for _, f := range fields {
		if f.Value != "" {
			indent = max(indent, len(f.Name))
		}
	}
	indent += 2
	var b strings.Builder
	for _, f := range fields {
		if f.Value == "" {
			continue
		}
		b.WriteString(p.Paint(Dim, f.Name))
		b.WriteString(strings.Repeat(" ", indent-len(f.Name)))
		for i, line := range Wrap(wire.Visible(f.Value), width-indent) {
			if i > 0 {
				b.WriteString(strings.Repeat(" ", indent))
			}
			b.WriteString(p.Paint(f.Style, line))
			b.WriteByte('\n')
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Wrap breaks s at spaces into lines of at most width cells; a width under 20
// breaks nothing. A word that is longer by itself stays whole, so that it can be
// copied.
func Wrap(s string, width int) []string {
	if width < 20 || runewidth.StringWidth(s) <= width {
		return []string{s}
	}
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(s) {
		switch {
		case line == "":
			line = word
		case runewidth.StringWidth(line)+1+runewidth.StringWidth(word) <= width:
			line += " " + word
		default:
			lines = append(lines, line)
			line = word
		}
	}
	return append(lines, line)
}
