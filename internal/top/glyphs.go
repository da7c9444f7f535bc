package top

import (
	"io"
	"strings"

	"github.com/charmbracelet/lipgloss"
	"github.com/muesli/termenv"

	"github.com/traction-go/traction/internal/cli/render"
	"github.com/traction-go/traction/internal/wire"
)

// glyphs are the signs that stand beside the words. Every one takes one cell.
type glyphs struct {
	steps  []string // of a sparkline, lowest first
	cursor string
	rule   string
	cut    string
	dot    string // between parts of a line
	states map[wire.State]string
}

var unicodeGlyphs = glyphs{
	steps: []string{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"}, cursor: "›", rule: "─", cut: "…", dot: "·",
	states: map[wire.State]string{
		wire.Stopped: "■", wire.Paused: "‖", wire.Canary: "◔", wire.Throttled: "▼", wire.Delayed: "◷", wire.Open: " ", wire.Unknown: "?",
	},
}

var asciiGlyphs = glyphs{
	steps: []string{"_", ".", ":", "-", "=", "+", "*", "#"}, cursor: ">", rule: "-", cut: "~", dot: "-",
	states: map[wire.State]string{
		wire.Stopped: "#", wire.Paused: "=", wire.Canary: "o", wire.Throttled: "v", wire.Delayed: "~", wire.Open: " ", wire.Unknown: "?",
	},
}

// ASCIIOnly reports whether the environment speaks of a terminal that is not
// known to show more than ASCII.
func ASCIIOnly(getenv func(string) string) bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := strings.ToLower(getenv(name)); v != "" {
			return !strings.Contains(v, "utf-8") && !strings.Contains(v, "utf8")
		}
	}
	return true
}

// paint colours text, or does not.
type paint struct {
	styles map[render.Style]lipgloss.Style
}

// Blue and orange, as in render.Palette: they stay apart for the colour-blind.
// lipgloss turns them into what the terminal has.
func newPaint(color bool) paint {
	r := lipgloss.NewRenderer(io.Discard)
	r.SetColorProfile(termenv.Ascii)
	if color {
		r.SetColorProfile(termenv.EnvColorProfile())
	}
	return paintOf(r)
}

func paintOf(r *lipgloss.Renderer) paint {
	line := r.NewStyle().Inline(true)
	return paint{map[render.Style]lipgloss.Style{
		render.Dim:   line.Faint(true),
		render.Bold:  line.Bold(true),
		render.Alarm: line.Bold(true).Foreground(lipgloss.Color("208")),
		render.Warn:  line.Foreground(lipgloss.Color("178")),
		render.Good:  line.Foreground(lipgloss.Color("39")),
		chosen:       line.Reverse(true),
	}}
}

// chosen is the style of the selected row.
const chosen render.Style = 100

func (p paint) text(st render.Style, s string) string {
	style, ok := p.styles[st]
	if !ok || s == "" {
		return s
	}
	return style.Render(s)
}
