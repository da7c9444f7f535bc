package jsonptr

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/traction-go/traction/internal/wire"
)

// Pointer is a JSON pointer, parsed. The empty one is the whole document.
type Pointer []string

// Parse reads a JSON pointer such as /error/code. "" is the empty one.
func Parse(s string) (Pointer, error) {
	if s == "" {
		return Pointer{}, nil
	}
	if s[0] != '/' {
		return nil, fmt.Errorf("%q: want a JSON pointer such as /error/code", wire.Visible(s))
	}
	parts := strings.Split(s[1:], "/")
	for i, p := range parts {
		rest := strings.ReplaceAll(strings.ReplaceAll(p, "~0", ""), "~1", "")
		if strings.Contains(rest, "~") {
			return nil, fmt.Errorf("%q: want ~0 for ~ and ~1 for / in a JSON pointer", wire.Visible(s))
		}
		parts[i] = strings.ReplaceAll(strings.ReplaceAll(p, "~1", "/"), "~0", "~")
	}
	return parts, nil
}

// Find gives the value at the pointer in a decoded document.
func (p Pointer) Find(v any) (any, bool) {
	for _, part := range p {
		switch at := v.(type) {
		case map[string]any:
			next, ok := at[part]
			if !ok {
				return nil, false
			}
			v = next
		case []any:
			i, err := strconv.Atoi(part)
			if err != nil || i < 0 || i >= len(at) || strconv.Itoa(i) != part {
				return nil, false
			}
			v = at[i]
		default:
			return nil, false
		}
	}
	return v, true
}

// Text gives the string, number, true or false at the pointer as text; a number
// keeps the digits that it was written with. Anything else has none.
func (p Pointer) Text(v any) (string, bool) {
	found, ok := p.Find(v)
	if !ok {
		return "", false
	}
	switch x := found.(type) {
	case string:
		return x, true
	case json.Number:
		return x.String(), true
	case bool:
		return strconv.FormatBool(x), true
	}
	return "", false
}

// Lossy reports whether decoding may have put a replacement character for what was no
// UTF-8: texts that differ look the same then, and are no ids.
func Lossy(s string) bool { return strings.ContainsRune(s, utf8.RuneError) }

// Decode reads one JSON value and nothing after it; false when the body is not
// that. Numbers are json.Number.
func Decode(body []byte) (any, bool) {
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return nil, false
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, false
	}
	return v, true
}
