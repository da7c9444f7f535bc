package broker

import (
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/traction-go/traction/internal/wire"
)

// Decimal is AMQP's decimal header value, which Go has no type for. A transport
// hands it out and takes it back unchanged.
type Decimal struct {
	Scale uint8
	Value int32
}

// The bounds of what can travel. AMQP carries all properties of a message in one
// frame, and a frame over the negotiated size (128 KiB unless configured) closes
// the connection and everything else on it.
const (
	// MaxName is the length of a name, a routing key, a header key and each
	// property, in bytes.
	MaxName = 255
	// MaxProperties is the encoded size of all properties and headers, in bytes.
	MaxProperties = 120 << 10
	// MaxBody is the size of a payload, in bytes. A broker may allow less (RabbitMQ
	// 4 does, 16 MiB unless configured) and then refuses it by itself.
	MaxBody = 128 << 20
)

// MaxPrefetch is the highest prefetch the protocol's field can hold.
const MaxPrefetch = 65535

// CheckPrefetch refuses what the protocol cannot say; 0 would mean 2,000.
func CheckPrefetch(n int) error {
	if n < 1 || n > MaxPrefetch {
		return fmt.Errorf("prefetch %d: use 1 to %d: %w", n, MaxPrefetch, ErrInvalid)
	}
	return nil
}

// CheckName refuses a name of an exchange, a queue or a routing key that would
// close the connection. what names it in the error.
func CheckName(what, name string) error {
	switch {
	case len(name) > MaxName:
		return fmt.Errorf("%s %q is %d bytes long, at most %d fit: %w", what, wire.Visible(name[:40])+"...", len(name), MaxName, ErrInvalid)
	case !utf8.ValidString(name):
		return fmt.Errorf("%s %q is not valid UTF-8: %w", what, wire.Visible(name), ErrInvalid)
	}
	return nil
}

// CheckPublishing refuses what cannot travel, so that one bad message costs its
// sender an error and not everybody the connection.
func CheckPublishing(p Publishing) error {
	m := p.Message
	size := 0
	for _, s := range [...]struct{ what, value string }{
		{"exchange", p.Exchange}, {"routing key", p.Key}, {"message id", m.ID}, {"type", m.Type},
		{"content type", m.ContentType}, {"content encoding", m.ContentEncoding},
		{"correlation id", m.CorrelationID}, {"reply to", m.ReplyTo}, {"app id", m.AppID},
	} {
		if s.value == "" {
			continue
		}
		if err := CheckName(s.what, s.value); err != nil {
			return err
		}
		size += len(s.value) + 1
	}
	n, err := tableSize(m.Headers, 0)
	if err != nil {
		return err
	}
	if size += n; size > MaxProperties {
		return fmt.Errorf("properties and headers take %d bytes, at most %d fit: %w", size, MaxProperties, ErrInvalid)
	}
	if len(m.Body) > MaxBody {
		return fmt.Errorf("body of %d bytes, at most %d: %w", len(m.Body), MaxBody, ErrInvalid)
	}
	return nil
}

// maxDepth bounds how deep header tables nest.
const maxDepth = 32

func tableSize(t map[string]any, depth int) (int, error) {
	if depth > maxDepth {
		return 0, fmt.Errorf("headers nest deeper than %d: %w", maxDepth, ErrInvalid)
	}
	size := 4
	for k, v := range t {
		if err := CheckName("header key", k); err != nil {
			return 0, err
		}
		n, err := fieldSize(k, v, depth)
		if err != nil {
			return 0, err
		}
		size += 1 + len(k) + n
	}
	return size, nil
}

func fieldSize(key string, v any, depth int) (int, error) {
	switch v := v.(type) {
	case nil:
		return 1, nil
	case bool, int8, uint8:
		return 2, nil
	case int16, uint16:
		return 3, nil
	case int32, uint32, float32:
		return 5, nil
	case Decimal:
		return 6, nil
	case int, int64, float64, time.Time:
		return 9, nil
	case string:
		return 5 + len(v), nil
	case []byte:
		return 5 + len(v), nil
	case map[string]any:
		n, err := tableSize(v, depth+1)
		return 1 + n, err
	case []any:
		if depth > maxDepth {
			return 0, fmt.Errorf("headers nest deeper than %d: %w", maxDepth, ErrInvalid)
		}
		size := 5
		for _, e := range v {
			n, err := fieldSize(key, e, depth+1)
			if err != nil {
				return 0, err
			}
			size += n
		}
		return size, nil
	}
	return 0, fmt.Errorf("header %q holds a %T, which AMQP has no form for: %w", wire.Visible(key), v, ErrInvalid)
}

// CheckTopology refuses names that cannot travel and kinds that do not exist.
func CheckTopology(t Topology) error {
	for _, x := range t.Exchanges {
		if err := CheckName("exchange", x.Name); err != nil {
			return err
		}
		if err := CheckName("alternate exchange", x.Alternate); err != nil {
			return err
		}
		if x.Kind != Direct && x.Kind != Fanout && x.Kind != Topic || x.Name == "" {
			return fmt.Errorf("exchange %q of kind %q: name it, and use direct, fanout or topic: %w", x.Name, x.Kind, ErrInvalid)
		}
	}
	for _, q := range t.Queues {
		if err := CheckName("queue", q.Name); err != nil {
			return err
		}
		if err := CheckName("dead letter exchange", q.DeadLetterExchange); err != nil {
			return err
		}
		if q.Name == "" || q.TTL < 0 || q.TTL > 0 && q.TTL < time.Millisecond {
			return fmt.Errorf("queue %q with TTL %s: name it, and use whole milliseconds: %w", q.Name, q.TTL, ErrInvalid)
		}
	}
	for _, b := range t.Bindings {
		for what, name := range map[string]string{"queue": b.Queue, "exchange": b.Exchange, "binding key": b.Key} {
			if err := CheckName(what, name); err != nil {
				return err
			}
		}
	}
	return nil
}
