package top

import (
	"fmt"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/traction-go/traction/internal/cli/advice"
	"github.com/traction-go/traction/internal/cli/form"
	"github.com/traction-go/traction/internal/cli/render"
	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/governor"
)

// dialog is an order that waits for its confirmation. The order is fixed when it
// opens: rows may move under it.
type dialog struct {
	order  order
	asking bool // for the reason of a pause
	reason input
	typed  input
	hint   string
}

// ask opens the dialog for what is selected.
func (m *Model) ask(v verb) tea.Cmd {
	e, ok := m.screen().page().list.selected()
	if m.overlay == overlayRecord {
		e, ok = m.record, true
	}
	switch {
	case !ok || e.scope == "":
		m.say(render.Warn, "nothing is selected to "+string(v))
		return nil
	case m.job != nil:
		m.say(render.Warn, "one at a time: "+m.job.order.String()+" still runs")
		return nil
	}
	o := order{verb: v, scope: e.scope}
	if v == replay {
		o.only = e.only
	}
	m.overlay = overlayNone
	m.dialog = &dialog{order: o, asking: v == pause}
	return nil
}

// dialogKey takes a keystroke while the dialog is open.
func (m *Model) dialogKey(k tea.KeyMsg) tea.Cmd {
	d := *m.dialog
	m.dialog = &d
	d.hint = ""
	in := &d.typed
	if d.asking {
		in = &d.reason
	}
	switch {
	case k.Type == tea.KeyEsc || k.Type == tea.KeyCtrlC:
		m.dialog = nil
		m.say(render.Plain, d.order.String()+": left as it is")
	case k.Type != tea.KeyEnter:
		in.key(k)
	case d.asking:
		d.order.reason = strings.TrimSpace(d.reason.text)
		if d.asking = d.order.reason == ""; d.asking {
			d.hint = "a pause needs a reason: it is shown to everyone who asks why nothing flies"
		}
	case confirmed(d.typed.text):
		m.dialog = nil
		return m.start(d.order)
	default:
		d.hint = "only y goes on; esc leaves it as it is"
		d.typed = input{}
	}
	return nil
}

func confirmed(s string) bool {
	s = strings.ToLower(strings.TrimSpace(s))
	return s == "y" || s == "yes"
}

// lines writes the dialog: what would happen, to what, how a shell says it, and
// what to type.
func (m Model) dialogLines(width int) []string {
	d := m.dialog
	f := m.fleet.data.facts(d.order.scope)
	scope := wire.Visible(d.order.scope)
	lines := []string{m.rule(width)}
	add := func(st render.Style, s string) { lines = append(lines, m.paint.text(st, clip(s, width, m.g))) }
	command := ""
	switch d.order.verb {
	case reopen:
		command = advice.Reopen(d.order.scope)
		add(render.Bold, "Reopen "+scope+"?")
		add(render.Plain, m.stands(f))
		add(render.Plain, wouldFly(f))
	case pause:
		command = pauseCommand(d.order.scope, d.reason.text)
		add(render.Bold, "Pause "+scope+"?")
		add(render.Plain, m.stands(f))
		add(render.Plain, "Calls in the air finish; nothing new takes off until it is reopened.")
	case replay:
		command = replayCommand(d.order.scope, d.order.only)
		if d.order.only != "" {
			add(render.Bold, "Replay flight "+wire.Visible(d.order.only)+" parked at "+scope+"?")
		} else {
			add(render.Bold, "Replay "+plural(f.parked, "parked flight")+" of "+scope+"?")
		}
		add(render.Plain, m.stands(f))
		if f.state == governor.Stopped || f.state == governor.Paused {
			add(render.Alarm, "Reopen it first: a flight that comes to a stopped gate may be parked again.")
		} else {
			add(render.Plain, "They fly again from their runways, with fresh hold budgets.")
		}
	}
	add(render.Dim, "shell: "+m.shell(command))
	what, in := fmt.Sprintf("Type y, then enter, to %s %s; esc leaves it as it is.", d.order.verb, scope), d.typed
	if d.asking {
		what, in = "Why? The reason is shown to everyone; then enter. Esc leaves it as it is.", d.reason
	}
	if d.hint != "" {
		add(render.Warn, d.hint)
	} else {
		add(render.Plain, what)
	}
	add(render.Bold, "> "+tail(in.shown(), width-2))
	return lines
}

// wouldFly says what a reopen sets free, and what not.
func wouldFly(f facts) string {
	s := plural(f.waiting, "waiting flight") + " would fly"
	if f.waiting < 0 {
		s = "What waits would fly; how much that is could not be read"
	}
	if f.parked > 0 {
		s += "; " + render.Count(f.parked).String() + " parked stay until they are replayed"
	}
	return s + "."
}

// stands says how a scope stands.
func (m Model) stands(f facts) string {
	if !f.known {
		return "It is not in the last reading."
	}
	s := "It is " + string(f.state)
	if ago := render.Ago(m.now, f.since); ago != "" {
		s += " for " + ago
	}
	if why := form.Why(f.reason, f.evidence); why != "" {
		s += ": " + why
	}
	return s
}
