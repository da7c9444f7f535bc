package top

import (
	"strings"

	"github.com/traction-go/traction/internal/cli/advice"
	"github.com/traction-go/traction/internal/wire"
)

// commands are what a person would type in a shell instead of what is on the
// screen: for the view itself, and for the selected row.
func (m Model) commands() []field {
	s := m.screen()
	out := []field{{"this view", m.shell(viewCommand(s.place()))}}
	e, ok := s.page().list.selected()
	if !ok {
		return out
	}
	for _, c := range rowCommands(s.tab, e) {
		out = append(out, field{c.name, m.shell(c.value)})
	}
	if m.opts.ReadOnly != "" || e.scope == "" {
		return out
	}
	return append(out,
		field{"reopen", m.shell(advice.Reopen(e.scope))},
		field{"pause", m.shell(pauseCommand(e.scope, "why"))},
		field{"replay", m.shell(replayCommand(e.scope, e.only))},
	)
}

// shell puts the program's own name and context before a command.
func (m Model) shell(command string) string {
	return m.opts.Command + strings.TrimPrefix(command, "tractionctl")
}

func viewCommand(p place) string {
	switch p.tab {
	case tabGates:
		return "tractionctl gate list " + p.scope
	case tabIncidents:
		return strings.TrimRight("tractionctl incident list "+p.scope, " ")
	case tabParked:
		return "tractionctl parked list " + p.scope
	case tabCharters:
		return "tractionctl charter list " + p.scope
	}
	return "tractionctl airport list"
}

func rowCommands(t tab, e entry) []field {
	switch t {
	case tabIncidents:
		return []field{{"the incident", "tractionctl incident show " + quote(e.id)}}
	case tabParked:
		return []field{
			{"the flight", "tractionctl parked show " + e.scope + " " + quote(e.only)},
			{"reasons", advice.Why(e.scope)},
		}
	case tabCharters:
		return []field{{"the charter", "tractionctl charter show " + e.id}}
	}
	return []field{{"show", advice.Show(e.scope)}, {"parked", advice.Why(e.scope)}}
}

func pauseCommand(scope, reason string) string {
	return strings.Replace(advice.Show(scope), " show ", " pause ", 1) + " --reason " + quote(reason)
}

func replayCommand(scope, flight string) string {
	if flight == "" {
		return advice.Replay(scope)
	}
	return advice.Replay(scope) + " --flight " + quote(flight)
}

// quote makes a word that a shell takes as it is.
func quote(s string) string {
	s = wire.Visible(s)
	plain := s != ""
	for _, r := range s {
		if !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.:/@+,=", r) {
			plain = false
		}
	}
	if plain {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
