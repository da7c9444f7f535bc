package top

import (
	"slices"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/traction-go/traction/internal/cli/render"
)

// where is a set of the situations in which a key means something.
type where uint8

const (
	onList   where = 1 << iota // moving through a table
	onPage                     // reading the help or the commands
	onRecord                   // reading a record
)

// Everywhere but in a text that is typed.
const (
	inPages  = onPage | onRecord
	anywhere = onList | inPages
)

// foot is a set of the screens at whose foot a key is named.
type foot uint8

const (
	atRoot   foot = 1 << iota // the airports
	inScope                   // what stands behind one
	inPage                    // a page
	inRecord                  // a record
)

// action is one thing a person can do. The table of actions is the only place
// that knows keys: it drives what they do, the help, the foot of the screen, and
// what a read-only view leaves out.
type action struct {
	keys    []string // as bubbletea names them
	label   string   // as the help names them
	short   string   // as the foot of the screen names it
	foot    foot     // where it does; 0: the help alone
	help    string
	changes bool // taken away by a read-only view
	where   where
	run     func(*Model) tea.Cmd
}

// actions gives the table, in the order of the help.
func actions() []action {
	return []action{
		{keys: []string{"enter"}, label: "enter", short: "open", foot: atRoot, help: "go into an airport or a gate; show a record", where: onList, run: (*Model).enter},
		{keys: []string{"esc", "backspace"}, label: "esc", short: "back", foot: inScope | inPage | inRecord, help: "take the filter away, then go back", where: anywhere, run: (*Model).back},
		{keys: []string{"tab", "right", "l"}, label: "tab", short: "next", foot: inScope, help: "next table: gates, incidents, parked, charters", where: onList, run: turn(1)},
		{keys: []string{"shift+tab", "left", "h"}, label: "shift+tab", help: "previous table", where: onList, run: turn(-1)},
		{keys: []string{"up", "k"}, label: "up, k", help: "move up", where: anywhere, run: move(-1)},
		{keys: []string{"down", "j"}, label: "down, j", short: "more", foot: inPage | inRecord, help: "move down", where: anywhere, run: move(1)},
		{keys: []string{"pgup", "ctrl+b"}, label: "pgup", help: "move a screen up", where: anywhere, run: jump(-1)},
		{keys: []string{"pgdown", "ctrl+f"}, label: "pgdn", help: "move a screen down", where: anywhere, run: jump(1)},
		{keys: []string{"home", "g"}, label: "home, g", help: "go to the first row", where: anywhere, run: move(-farAway)},
		{keys: []string{"end", "G"}, label: "end, G", help: "go to the last row", where: anywhere, run: move(farAway)},
		{keys: []string{"i", " "}, label: "i, space", help: "show the selected row whole, with its evidence", where: onList, run: (*Model).openRecord},
		{keys: []string{"/"}, label: "/", short: "filter", foot: atRoot | inScope, help: "show only the rows with these words; enter keeps it, esc drops it", where: onList, run: (*Model).openFilter},
		{keys: []string{"s"}, label: "s", short: "sort", foot: atRoot, help: "next order of the rows; the selection stays on its row", where: onList, run: (*Model).sort},
		{keys: []string{"u"}, label: "u", help: "look again now", where: anywhere, run: (*Model).lookNow},
		{keys: []string{"r"}, label: "r", short: "reopen", foot: atRoot | inScope | inRecord, help: "reopen the selected scope, or end its pause", changes: true, where: onList | onRecord, run: act(reopen)},
		{keys: []string{"p"}, label: "p", short: "pause", foot: atRoot | inScope | inRecord, help: "pause the selected scope; asks for the reason", changes: true, where: onList | onRecord, run: act(pause)},
		{keys: []string{"R"}, label: "R", short: "replay", foot: atRoot | inScope | inRecord, help: "replay the parked flights of the selected scope, or the selected flight", changes: true, where: onList | onRecord, run: act(replay)},
		{keys: []string{"y"}, label: "y", short: "cmd", foot: atRoot | inScope, help: "show the equivalent shell commands", where: onList, run: (*Model).openCommands},
		{keys: []string{"?"}, label: "?", short: "help", foot: atRoot | inScope | inRecord, help: "this help", where: anywhere, run: (*Model).openHelp},
		{keys: []string{"ctrl+z"}, label: "ctrl+z", help: "suspend", where: anywhere, run: func(*Model) tea.Cmd { return tea.Suspend }},
		{keys: []string{"q"}, label: "q", short: "quit", foot: atRoot | inScope, help: "quit; from a page, go back", where: anywhere, run: (*Model).quit},
		{keys: []string{"ctrl+c"}, label: "ctrl+c", help: "quit at once", where: anywhere, run: (*Model).quitNow},
	}
}

// allowed gives the actions that a view has.
func allowed(readOnly bool) []action {
	return slices.DeleteFunc(actions(), func(a action) bool { return readOnly && a.changes })
}

// find gives the action of a key; false where it has none here.
func find(table []action, key string, w where) (action, bool) {
	for _, a := range table {
		if a.where&w != 0 && slices.Contains(a.keys, key) {
			return a, true
		}
	}
	return action{}, false
}

// foot writes the keys of the foot of the screen, as many as fit.
func (m Model) foot(at foot) string {
	line := ""
	for _, a := range m.actions {
		if a.foot&at == 0 {
			continue
		}
		part := a.label + " " + a.short
		if line != "" {
			part = "  " + part
		}
		if cells.StringWidth(line+part) > m.width {
			break
		}
		line += part
	}
	return m.paint.text(render.Dim, line)
}

const farAway = 1 << 30

func turn(n int) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		m.screen().turn(n)
		return m.look()
	}
}

func move(n int) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		if m.overlay != overlayNone {
			m.scroll = max(0, min(m.scroll+n, len(m.overlayLines())-m.pageRows()))
			return nil
		}
		l := &m.screen().page().list
		l.to(l.at + n)
		return nil
	}
}

func jump(n int) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		rows := m.rows()
		if m.overlay != overlayNone {
			rows = m.pageRows()
		}
		return move(n * max(1, rows-1))(m)
	}
}

func act(v verb) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd { return m.ask(v) }
}
