package top

import (
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/traction-go/traction/internal/cli/render"
)

// Update takes one message: a key, a tick, a size, or what came back from a
// reading or a verb. It does no I/O.
func (m Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	cmd := m.update(msg)
	if m.broken != nil {
		return m, tea.Quit
	}
	m.screen().page().list.fit(m.rows())
	return m, cmd
}

func (m *Model) update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = max(1, msg.Width), max(1, msg.Height)
		m.scroll = max(0, min(m.scroll, len(m.overlayLines())-m.pageRows()))
	case tickMsg:
		m.now = time.Time(msg)
		if m.now.Sub(m.note.at) > noteFor {
			m.note = note{}
		}
		if m.looking {
			return m.tick(m.opts) // the last one is still out
		}
		return tea.Batch(m.look(), m.tick(m.opts))
	case lookMsg:
		return m.look()
	case reading:
		m.take(msg)
		if m.again {
			return m.look()
		}
	case done:
		return m.finished(msg.job)
	case tea.KeyMsg:
		return m.key(msg)
	}
	return nil
}

// finished tells what came of a verb and looks again, for its effect.
func (m *Model) finished(j *job) tea.Cmd {
	m.job = nil
	m.quitting = false
	told, err := j.state()
	switch {
	case err != nil && told != "":
		m.say(render.Alarm, told+"; then: "+said(err))
	case err != nil:
		m.say(render.Alarm, j.order.String()+": "+said(err))
	default:
		m.say(render.Good, told)
	}
	for i := range m.screens {
		for _, p := range m.screens[i].pages {
			p.due = time.Time{}
		}
	}
	return m.look()
}

func (m *Model) key(k tea.KeyMsg) tea.Cmd {
	if k.Type == tea.KeyRunes && len(k.Runes) > 1 && !k.Paste && !k.Alt {
		// Keys struck faster than they are read come in one message.
		var cmds []tea.Cmd
		for _, r := range k.Runes {
			cmds = append(cmds, m.key(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{r}}))
		}
		return tea.Batch(cmds...)
	}
	switch {
	case m.dialog != nil:
		return m.dialogKey(k)
	case m.typing:
		return m.filterKey(k)
	}
	w := onList
	switch m.overlay {
	case overlayNone:
	case overlayRecord:
		w = onRecord
	default:
		w = onPage
	}
	if a, ok := find(m.actions, k.String(), w); ok {
		return a.run(m)
	}
	return nil
}

// filterKey takes a keystroke while the filter is typed; rows follow each one.
func (m *Model) filterKey(k tea.KeyMsg) tea.Cmd {
	l := &m.screen().page().list
	switch k.Type {
	case tea.KeyEnter:
		m.typing = false
		return nil
	case tea.KeyEsc, tea.KeyCtrlC:
		m.typing = false
		l.filter = ""
	default:
		in := input{l.filter}
		if !in.key(k) {
			return nil
		}
		l.filter = in.text
	}
	l.arrange()
	return nil
}

func (m *Model) openFilter() tea.Cmd { m.typing = true; return nil }

func (m *Model) sort() tea.Cmd {
	s := m.screen()
	l := &s.page().list
	l.order = (l.order + 1) % len(tables[s.tab].orders)
	l.arrange()
	return nil
}

func (m *Model) lookNow() tea.Cmd {
	m.screen().page().due = time.Time{}
	return m.look()
}

// enter goes into a scope, or shows a record.
func (m *Model) enter() tea.Cmd {
	s := m.screen()
	e, ok := s.page().list.selected()
	if !ok {
		return nil
	}
	if hasOwn(s.tab) {
		return m.openRecord()
	}
	next := newScreen(e.scope)
	m.screens = append(m.screens, next)
	m.fromFleet(m.screen())
	return m.look()
}

// back takes away one thing: the page, the filter, or the level.
func (m *Model) back() tea.Cmd {
	l := &m.screen().page().list
	switch {
	case m.overlay != overlayNone:
		m.overlay = overlayNone
	case l.filter != "":
		l.filter = ""
		l.arrange()
	case len(m.screens) > 1:
		m.screens = m.screens[:len(m.screens)-1]
		return m.look()
	}
	return nil
}

func (m *Model) open(o overlay) tea.Cmd { m.overlay, m.scroll = o, 0; return nil }

func (m *Model) openHelp() tea.Cmd     { return m.open(overlayHelp) }
func (m *Model) openCommands() tea.Cmd { return m.open(overlayCommands) }

func (m *Model) openRecord() tea.Cmd {
	e, ok := m.screen().page().list.selected()
	if !ok {
		return nil
	}
	m.record = e
	return m.open(overlayRecord)
}

func (m *Model) quit() tea.Cmd {
	switch {
	case m.overlay != overlayNone:
		return m.back()
	case m.job != nil && !m.quitting:
		m.quitting = true
		m.say(render.Warn, m.job.order.String()+" still runs: q again cuts it off; it can be run again")
		return nil
	}
	return tea.Quit
}

func (m *Model) quitNow() tea.Cmd { return tea.Quit }
