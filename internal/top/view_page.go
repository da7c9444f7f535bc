package top

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/traction-go/traction/internal/cli/render"
)

// page writes the name of the page over the table, and as much of it as fits.
func (m Model) page() []string {
	all := m.overlayLines()
	rows := m.pageRows()
	from := max(0, min(m.scroll, len(all)-rows))
	shown := all[from:min(len(all), from+rows)]
	name := map[overlay]string{overlayHelp: "Help", overlayRecord: "Record", overlayCommands: "The same from a shell"}[m.overlay]
	place := ""
	if len(all) > rows {
		place = fmt.Sprintf("%d-%d of %d lines", from+1, from+len(shown), len(all))
	}
	return append([]string{m.sides(name, render.Bold, place, render.Dim)}, shown...)
}

// overlayLines writes the whole page, in the width of the terminal.
func (m Model) overlayLines() []string {
	switch m.overlay {
	case overlayHelp:
		return m.helpLines()
	case overlayRecord:
		return m.fieldLines(m.record.shown(m.eye()))
	case overlayCommands:
		return m.fieldLines(m.commands())
	}
	return nil
}

// helpLines lists the actions that this view has.
func (m Model) helpLines() []string {
	fields := make([]field, 0, len(m.actions)+2)
	for _, a := range m.actions {
		fields = append(fields, field{a.label, a.help})
	}
	if m.opts.ReadOnly != "" {
		fields = append(fields, field{"", ""}, field{"read-only", m.opts.ReadOnly + ": nothing can be changed from here"})
	}
	return append(m.fieldLines(fields), "", "Discarding is the shell's alone: tractionctl parked discard")
}

// fieldLines writes names and values, the values aligned and folded.
func (m Model) fieldLines(fields []field) []string {
	indent := 0
	for _, f := range fields {
		indent = max(indent, cells.StringWidth(f.name))
	}
	indent = max(0, min(indent+2, m.width-8))
	var lines []string
	for _, f := range fields {
		if f.value == "" {
			continue
		}
		for i, part := range fold(f.value, m.width-indent) {
			name := ""
			if i == 0 {
				name = f.name
			}
			lines = append(lines, m.paint.text(render.Dim, fill(name, indent, m.g))+part)
		}
	}
	return lines
}

// fold breaks text at spaces, and a word that is too long anywhere.
func fold(s string, width int) []string {
	return strings.Split(ansi.Wrap(s, max(1, width), ""), "\n")
}
