package wire

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxEvidence is the most of a vendor's words that ever leaves a worker, in bytes.
const MaxEvidence = 1024

// Text is text from outside: an id, a vendor's answer, a payload. It prints and
// marshals with every character that could move a cursor, hide text or turn its
// direction made visible, so showing it safely cannot be forgotten. The zero
// value is the empty text.
type Text string

// String gives the visible form.
func (t Text) String() string { return Visible(string(t)) }

// MarshalJSON writes the visible form.
func (t Text) MarshalJSON() ([]byte, error) { return json.Marshal(Visible(string(t))) }

// Visible replaces C0 and C1 controls, DEL, the bidirectional and invisible
// format characters, line separators and invalid UTF-8 by escapes such as \x1b,
// \n and \u202e. Everything else is left alone.
func Visible(s string) string {
	clean := true
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if hidden(r, n) {
			clean = false
			break
		}
		i += n
	}
	if clean {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case !hidden(r, n):
			b.WriteRune(r)
		case r == utf8.RuneError && n <= 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case r < 0xa0:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r > 0xffff:
			fmt.Fprintf(&b, `\U%08x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
		i += max(n, 1)
	}
	return b.String()
}

// hidden reports whether a rune of n bytes must not reach a terminal as it is.
func hidden(r rune, n int) bool {
	switch {
	case r == utf8.RuneError && n <= 1: // invalid UTF-8
		return true
	case r < 0x20, r >= 0x7f && r < 0xa0: // C0, DEL, C1
		return true
	case r < 0xa0:
		return false
	}
	return unicode.Is(invisible, r)
}

// invisible holds what takes no room, turns the direction of text, or ends a
// line: two ids that look the same must not differ by one of these.
var invisible = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x00ad, Hi: 0x00ad, Stride: 1}, // soft hyphen
		{Lo: 0x034f, Hi: 0x034f, Stride: 1}, // grapheme joiner
		{Lo: 0x061c, Hi: 0x061c, Stride: 1}, // Arabic letter mark
		{Lo: 0x115f, Hi: 0x1160, Stride: 1}, // Hangul fillers
		{Lo: 0x17b4, Hi: 0x17b5, Stride: 1}, // Khmer inherent vowels
		{Lo: 0x180b, Hi: 0x180f, Stride: 1}, // Mongolian selectors and separator
		{Lo: 0x200b, Hi: 0x200f, Stride: 1}, // zero width, direction marks
		{Lo: 0x2028, Hi: 0x202e, Stride: 1}, // separators, embeddings
		{Lo: 0x2060, Hi: 0x206f, Stride: 1}, // joiners, isolates
		{Lo: 0x3164, Hi: 0x3164, Stride: 1}, // Hangul filler
		{Lo: 0xfe00, Hi: 0xfe0f, Stride: 1}, // variation selectors
		{Lo: 0xfeff, Hi: 0xfeff, Stride: 1}, // byte order mark
		{Lo: 0xffa0, Hi: 0xffa0, Stride: 1}, // half-width Hangul filler
		{Lo: 0xfff0, Hi: 0xfffb, Stride: 1}, // annotation marks
	},
	R32: []unicode.Range32{
		{Lo: 0x1bca0, Hi: 0x1bca3, Stride: 1}, // shorthand format controls
		{Lo: 0x1d173, Hi: 0x1d17a, Stride: 1}, // musical format controls
		{Lo: 0xe0000, Hi: 0xe0fff, Stride: 1}, // tags, variation selectors
	},
	LatinOffset: 1,
}

// bound cuts s to at most n bytes without splitting a character. Only a
// character is looked for: bytes that are none are cut where the limit is.
func bound(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for cut := n; cut > max(0, n-utf8.UTFMax); cut-- {
		if utf8.RuneStart(s[cut]) {
			return s[:cut]
		}
	}
	return s[:n]
}
