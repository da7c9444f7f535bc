package render

import (
	"bytes"
	"encoding/json"
	"io"
	"time"
)

// Format is how a command writes its data.
type Format string

// The formats.
const (
	AsTable Format = "table"
	AsJSON  Format = "json"
	AsJSONL Format = "jsonl"
)

// ParseFormat reads the value of -o.
func ParseFormat(s string) (Format, bool) {
	switch f := Format(s); f {
	case AsTable, AsJSON, AsJSONL:
		return f, true
	}
	return "", false
}

// List writes the items as one JSON array ([] when empty), or one object a line.
func List[T any](w io.Writer, f Format, items []T) error {
	if f == AsJSON {
		if items == nil {
			items = []T{}
		}
		return encode(w, items, "  ")
	}
	for _, it := range items {
		if err := encode(w, it, ""); err != nil {
			return err
		}
	}
	return nil
}

// One writes one JSON object, on one line for JSON Lines.
func One(w io.Writer, f Format, v any) error {
	if f == AsJSON {
		return encode(w, v, "  ")
	}
	return encode(w, v, "")
}

func encode(w io.Writer, v any, indent string) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", indent)
	if err := enc.Encode(v); err != nil {
		return err
	}
	_, err := w.Write(b.Bytes())
	return err
}

// Time is written as RFC 3339 in UTC, to the second, and null where there is none.
type Time time.Time

// MarshalJSON writes the time.
func (t Time) MarshalJSON() ([]byte, error) {
	if time.Time(t).IsZero() {
		return []byte("null"), nil
	}
	return json.Marshal(time.Time(t).UTC().Format(time.RFC3339))
}

// Count is a number that is null where it could not be read: never a zero that
// nobody counted.
type Count int

// MarshalJSON writes the count.
func (c Count) MarshalJSON() ([]byte, error) {
	if c < 0 {
		return []byte("null"), nil
	}
	return json.Marshal(int(c))
}

// String writes the count for people: 1,234, or ? where it could not be read.
func (c Count) String() string {
	if c < 0 {
		return "?"
	}
	return Thousands(int64(c))
}
