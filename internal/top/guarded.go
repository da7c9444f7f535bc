package top

import (
	"fmt"
	"runtime/debug"

	tea "github.com/charmbracelet/bubbletea"
)

// guarded is the view with its panics caught: broke is told, and ends the program
// as a person who quits does. Bubble Tea's own way out of a panic closes the
// terminal under the reader of its keys.
type guarded struct {
	Model
	broke func(error)
}

func (g guarded) Update(msg tea.Msg) (next tea.Model, cmd tea.Cmd) {
	defer g.caught()
	next = g
	m, cmd := g.Model.Update(msg)
	g.Model = m.(Model)
	return g, cmd
}

func (g guarded) View() (screen string) {
	defer g.caught()
	return g.Model.View()
}

func (g guarded) caught() {
	if v := recover(); v != nil {
		g.broke(fmt.Errorf("top: the view panicked: %v\n%s", v, debug.Stack()))
	}
}
