package top

import (
	"strings"
	"unicode"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/traction-go/traction/internal/wire"
)

// maxInput bounds what can be typed or pasted.
const maxInput = 200

// input is one line that is typed at its end.
type input struct{ text string }

// key takes a keystroke; false: it is not one that types.
func (in *input) key(k tea.KeyMsg) bool {
	runes := []rune(in.text)
	switch k.Type {
	case tea.KeyRunes, tea.KeySpace:
		if k.Alt {
			return false
		}
		for _, r := range k.Runes {
			// A pasted line end does not confirm anything.
			if unicode.IsPrint(r) && len(runes) < maxInput {
				runes = append(runes, r)
			}
		}
	case tea.KeyBackspace:
		runes = runes[:max(0, len(runes)-1)]
	case tea.KeyCtrlU:
		runes = nil
	case tea.KeyCtrlW:
		s := strings.TrimRight(string(runes), " ")
		runes = []rune(s[:strings.LastIndexByte(s, ' ')+1])
	default:
		return false
	}
	in.text = string(runes)
	return true
}

// shown is the text with a cursor behind it.
func (in input) shown() string { return wire.Visible(in.text) + "_" }
