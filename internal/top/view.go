package top

import (
	"fmt"
	"strings"

	"github.com/traction-go/traction/internal/cli/render"
	"github.com/traction-go/traction/internal/wire"
)

// What a screen spends beside its rows: on top the title, the summary, the tabs
// and the heading; below the note and the keys. The gist needs a terminal that is
// not too low.
const (
	linesAround  = 6
	linesGist    = 3
	linesForGist = 14
)

// below gives what stands between the rows and the note.
func (m Model) below() []string {
	if m.dialog != nil {
		return m.dialogLines(m.width)
	}
	if m.height < linesForGist {
		return nil
	}
	lines := []string{m.rule(m.width), "", ""}
	if e, ok := m.screen().page().list.selected(); ok {
		for i, l := range e.gist(m.eye()) {
			lines[1+i] = clip(l, m.width, m.g)
		}
	}
	return lines
}

// rows is how many lines the table has.
func (m Model) rows() int {
	below := 0
	switch {
	case m.dialog != nil:
		below = len(m.dialogLines(m.width))
	case m.height >= linesForGist:
		below = linesGist
	}
	return max(1, m.height-linesAround-below)
}

// pageRows is how many lines a page has: all but the title, its name, the note
// and the keys.
func (m Model) pageRows() int { return max(1, m.height-4) }

func (m Model) eye() eye { return eye{m.now, m.g} }

func (m Model) rule(width int) string {
	return m.paint.text(render.Dim, strings.Repeat(m.g.rule, max(1, width)))
}

// View writes the screen: as many lines as the terminal has, none wider.
func (m Model) View() string {
	if m.broken != nil {
		return ""
	}
	lines := make([]string, 0, m.height)
	lines = append(lines, m.title())
	if m.overlay != overlayNone && m.dialog == nil {
		lines = append(lines, m.page()...)
	} else {
		lines = append(lines, m.summary(m.width), m.tabsLine())
		lines = append(lines, m.tableLines(m.width, m.rows())...)
		lines = append(lines, m.below()...)
	}
	// On a terminal that is too low, the last lines go, but not the two that say
	// what happens and what can be done.
	for len(lines) < m.height-2 {
		lines = append(lines, "")
	}
	lines = append(lines[:max(0, min(len(lines), m.height-2))], m.noteLine(), m.keysLine())
	return strings.Join(lines[max(0, len(lines)-m.height):], "\n")
}

// sides puts one text on the left and one on the right; the left one is cut.
func (m Model) sides(left string, ls render.Style, right string, rs render.Style) string {
	right = clip(right, m.width*2/3, m.g)
	space := m.width - cells.StringWidth(right)
	if right != "" {
		space -= 2
	}
	left = fill(left, space, m.g)
	if right == "" {
		return m.paint.text(ls, strings.TrimRight(left, " "))
	}
	return m.paint.text(ls, left) + "  " + m.paint.text(rs, right)
}

func (m Model) title() string {
	left := "tractionctl top"
	if m.opts.Namespace != "" {
		left += "  namespace " + wire.Visible(m.opts.Namespace)
	}
	right := m.now.UTC().Format("15:04:05Z")
	if m.opts.ReadOnly != "" {
		right = "READ-ONLY  " + right
	}
	return m.sides(left, render.Bold, right, render.Plain)
}

// summary is the whole fleet in one line, with the age of what is known of it.
func (m Model) summary(width int) string {
	age := m.fleet.age(m.now, m.patience())
	style := render.Dim
	if age.stale {
		style = render.Alarm
	}
	text, alarm := overview(m.fleet.data, m.g)
	left := render.Plain
	switch {
	case m.fleet.at.IsZero():
		text = ""
	case age.stale:
		left = render.Dim
	case alarm:
		left = render.Alarm
	}
	m.width = width
	return m.sides(text, left, age.text, style)
}

// tabsLine names the tables and says what is done to the rows.
func (m Model) tabsLine() string {
	s := m.screen()
	p := s.page()
	var parts []string
	if s.scope != "" {
		parts = append(parts, wire.Visible(s.scope))
	}
	for _, t := range s.tabs {
		name := tables[t].name
		if t == s.tab {
			name = "[" + name + "]"
		}
		parts = append(parts, name)
	}
	left := strings.Join(parts, " ") + fmt.Sprintf("  %s  by %s", render.Count(len(p.list.shown)), tables[s.tab].orders[p.list.order])
	if p.list.filter != "" {
		left += fmt.Sprintf("  of %s with %q", render.Count(len(p.list.all)), wire.Visible(p.list.filter))
	}
	if !hasOwn(s.tab) {
		return m.sides(left, render.Bold, "", render.Plain)
	}
	age := p.own.age(m.now, m.patienceOf(s.tab))
	style := render.Dim
	if age.stale {
		style = render.Alarm
	}
	return m.sides(left, render.Bold, age.text, style)
}

// noteLine is what just happened, what runs, or what is being typed.
func (m Model) noteLine() string {
	switch {
	case m.typing:
		return clip("filter: "+tail(input{m.screen().page().list.filter}.shown(), m.width-8), m.width, m.g)
	case m.note.text != "" && (m.job == nil || m.quitting || m.now.Sub(m.note.at) < noteOverJob):
		return m.paint.text(m.note.style, clip(m.note.text, m.width, m.g))
	case m.job != nil:
		told, _ := m.job.state()
		return m.paint.text(render.Warn, clip(told, m.width, m.g))
	}
	return ""
}

func (m Model) keysLine() string {
	switch {
	case m.dialog != nil:
		return m.paint.text(render.Dim, clip("enter go on  esc leave it as it is", m.width, m.g))
	case m.typing:
		return m.paint.text(render.Dim, clip("enter keep the filter  esc drop it", m.width, m.g))
	case m.overlay == overlayRecord:
		return m.foot(inRecord)
	case m.overlay != overlayNone:
		return m.foot(inPage)
	case len(m.screens) > 1:
		return m.foot(inScope)
	}
	return m.foot(atRoot)
}
