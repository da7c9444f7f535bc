package render

import "github.com/traction-go/traction/internal/wire"

// Style is how a piece of text stands out. A state is a word first and a colour
// last: every style can be read without colour.
type Style uint8

// The styles.
const (
	Plain Style = iota
	Dim         // headings, and what is only there for completeness
	Bold
	Alarm // stopped, and what needs a human: orange
	Warn  // waits by itself: yellow
	Good  // open: blue
)

// Palette paints styles, or does not.
type Palette struct{ Color bool }

// Blue and orange rather than green and red: they stay apart for the colour-blind.
var codes = [...]string{Plain: "", Dim: "2", Bold: "1", Alarm: "1;38;5;208", Warn: "38;5;178", Good: "38;5;39"}

// Paint wraps s in the style's escape sequence where colour is on.
func (p Palette) Paint(st Style, s string) string {
	if !p.Color || st == Plain || s == "" {
		return s
	}
	return "\x1b[" + codes[st] + "m" + s + "\x1b[0m"
}

// StateStyle is the style of a state's word.
func StateStyle(s wire.State) Style {
	switch s {
	case wire.Open:
		return Good
	case wire.Throttled, wire.Delayed, wire.Canary:
		return Warn
	}
	return Alarm
}
