package backup

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/traction-go/traction/internal/broker"
	"github.com/traction-go/traction/internal/wire"
)

// maxDepth bounds how deep header tables nest. AMQP has no bound; twice what can be
// published is kept, so that a file never refuses what came from a queue in use.
const maxDepth = 64

// text is a string that may be any bytes: a JSON string where it is valid UTF-8,
// else {"b64": "..."}.
type text string

type rawText struct {
	B64 *string `json:"b64"`
}

func (t text) MarshalJSON() ([]byte, error) {
	if utf8.ValidString(string(t)) {
		return json.Marshal(string(t))
	}
	b64 := base64.StdEncoding.EncodeToString([]byte(t))
	return json.Marshal(rawText{&b64})
}

func (t *text) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '{' {
		var raw rawText
		if err := json.Unmarshal(b, &raw); err != nil {
			return err
		}
		if raw.B64 == nil {
			return fmt.Errorf("text without b64")
		}
		v, err := base64.StdEncoding.DecodeString(*raw.B64)
		*t = text(v)
		return err
	}
	var s string
	err := json.Unmarshal(b, &s)
	*t = text(s)
	return err
}

// message is a message as it stands in the file.
type message struct {
	ID              text    `json:"id,omitempty"`
	Type            text    `json:"type,omitempty"`
	ContentType     text    `json:"content_type,omitempty"`
	ContentEncoding text    `json:"content_encoding,omitempty"`
	CorrelationID   text    `json:"correlation_id,omitempty"`
	ReplyTo         text    `json:"reply_to,omitempty"`
	AppID           text    `json:"app_id,omitempty"`
	Priority        uint8   `json:"priority,omitempty"`
	Timestamp       *int64  `json:"timestamp,omitempty"` // seconds
	Expiration      text    `json:"expiration,omitempty"`
	UserID          text    `json:"user_id,omitempty"`
	Headers         []value `json:"headers,omitempty"`
	Body            []byte  `json:"body"`
}

// value is one typed AMQP value; in a table it has a key.
type value struct {
	Key  *text           `json:"k,omitempty"`
	Type string          `json:"t"`
	V    json.RawMessage `json:"v,omitempty"`
}

type decimal struct {
	Scale uint8 `json:"scale"`
	Value int32 `json:"value"`
}

func fromMessage(m wire.Message) (message, error) {
	out := message{ID: text(m.ID), Type: text(m.Type), ContentType: text(m.ContentType), ContentEncoding: text(m.ContentEncoding),
		CorrelationID: text(m.CorrelationID), ReplyTo: text(m.ReplyTo), AppID: text(m.AppID), Priority: m.Priority,
		Expiration: text(m.Expiration), UserID: text(m.UserID), Body: m.Body}
	if !m.Timestamp.IsZero() {
		s := m.Timestamp.Unix()
		out.Timestamp = &s
	}
	var err error
	out.Headers, err = fromTable(m.Headers, 0)
	return out, err
}

func (m message) message() (wire.Message, error) {
	out := wire.Message{ID: string(m.ID), Type: string(m.Type), ContentType: string(m.ContentType), ContentEncoding: string(m.ContentEncoding),
		CorrelationID: string(m.CorrelationID), ReplyTo: string(m.ReplyTo), AppID: string(m.AppID), Priority: m.Priority,
		Expiration: string(m.Expiration), UserID: string(m.UserID), Body: m.Body}
	if m.Timestamp != nil {
		out.Timestamp = time.Unix(*m.Timestamp, 0).UTC()
	}
	if len(m.Headers) == 0 {
		return out, nil
	}
	var err error
	out.Headers, err = toTable(m.Headers, 0)
	return out, err
}

// fromTable writes a table in the order of its keys, so that the same message is
// the same bytes.
func fromTable(t map[string]any, depth int) ([]value, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("headers nest deeper than %d", maxDepth)
	}
	out := make([]value, 0, len(t))
	for _, k := range slices.Sorted(maps.Keys(t)) {
		v, err := fromValue(t[k], depth)
		if err != nil {
			return nil, fmt.Errorf("header %q: %w", wire.Visible(k), err)
		}
		key := text(k)
		v.Key = &key
		out = append(out, v)
	}
	return out, nil
}

func fromValue(v any, depth int) (value, error) {
	typed := func(t string, v any) (value, error) {
		b, err := json.Marshal(v)
		return value{Type: t, V: b}, err
	}
	switch v := v.(type) {
	case nil:
		return value{Type: "void"}, nil
	case bool:
		return typed("bool", v)
	case int8:
		return typed("int8", v)
	case uint8:
		return typed("uint8", v)
	case int16:
		return typed("int16", v)
	case uint16:
		return typed("uint16", v)
	case int32:
		return typed("int32", v)
	case uint32:
		return typed("uint32", v)
	case int64:
		return typed("int64", v)
	case int:
		return typed("int64", int64(v))
	case float32:
		return typed("float32", strconv.FormatFloat(float64(v), 'g', -1, 32))
	case float64:
		return typed("float64", strconv.FormatFloat(v, 'g', -1, 64))
	case string:
		return typed("string", text(v))
	case []byte:
		return typed("bytes", v)
	case time.Time:
		return typed("time", v.Unix())
	case broker.Decimal:
		return typed("decimal", decimal(v))
	case map[string]any:
		t, err := fromTable(v, depth+1)
		if err != nil {
			return value{}, err
		}
		return typed("table", t)
	case []any:
		if depth >= maxDepth {
			return value{}, fmt.Errorf("nests deeper than %d", maxDepth)
		}
		list := make([]value, len(v))
		for i, e := range v {
			var err error
			if list[i], err = fromValue(e, depth+1); err != nil {
				return value{}, err
			}
		}
		return typed("list", list)
	}
	return value{}, fmt.Errorf("a %T has no form in a backup", v)
}

func toTable(list []value, depth int) (map[string]any, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("headers nest deeper than %d", maxDepth)
	}
	t := make(map[string]any, len(list))
	for _, v := range list {
		if v.Key == nil {
			return nil, fmt.Errorf("a header without a key")
		}
		if _, twice := t[string(*v.Key)]; twice {
			return nil, fmt.Errorf("header %q is there twice", wire.Visible(string(*v.Key)))
		}
		x, err := toValue(v, depth)
		if err != nil {
			return nil, fmt.Errorf("header %q: %w", wire.Visible(string(*v.Key)), err)
		}
		t[string(*v.Key)] = x
	}
	return t, nil
}

func toValue(v value, depth int) (any, error) {
	switch v.Type {
	case "void":
		return nil, nil
	case "bool":
		return into[bool](v)
	case "int8":
		return into[int8](v)
	case "uint8":
		return into[uint8](v)
	case "int16":
		return into[int16](v)
	case "uint16":
		return into[uint16](v)
	case "int32":
		return into[int32](v)
	case "uint32":
		return into[uint32](v)
	case "int64":
		return into[int64](v)
	case "float32":
		f, err := float(v, 32)
		return float32(f), err
	case "float64":
		return float(v, 64)
	case "string":
		s, err := into[text](v)
		return string(s), err
	case "bytes":
		return into[[]byte](v)
	case "time":
		s, err := into[int64](v)
		return time.Unix(s, 0).UTC(), err
	case "decimal":
		d, err := into[decimal](v)
		return broker.Decimal(d), err
	case "table":
		list, err := into[[]value](v)
		if err != nil {
			return nil, err
		}
		return toTable(list, depth+1)
	case "list":
		list, err := into[[]value](v)
		if err != nil {
			return nil, err
		}
		if depth >= maxDepth {
			return nil, fmt.Errorf("nests deeper than %d", maxDepth)
		}
		out := make([]any, len(list))
		for i, e := range list {
			if out[i], err = toValue(e, depth+1); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
	return nil, fmt.Errorf("type %q is unknown: a newer version wrote it", wire.Visible(v.Type))
}

func into[T any](v value) (T, error) {
	var x T
	if len(v.V) == 0 || string(v.V) == "null" {
		return x, fmt.Errorf("a %s without a value", v.Type)
	}
	err := json.Unmarshal(v.V, &x)
	return x, err
}

func float(v value, bits int) (float64, error) {
	s, err := into[string](v)
	if err != nil {
		return 0, err
	}
	f, err := strconv.ParseFloat(s, bits)
	if err != nil && !math.IsInf(f, 0) {
		return 0, err
	}
	return f, err
}
