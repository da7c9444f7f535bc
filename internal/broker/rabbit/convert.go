package rabbit

import (
	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/traction-go/traction/internal/broker"
	"github.com/traction-go/traction/internal/wire"
)

func toAMQP(m wire.Message) amqp.Publishing {
	return amqp.Publishing{
		Headers:         toTable(m.Headers),
		ContentType:     m.ContentType,
		ContentEncoding: m.ContentEncoding,
		DeliveryMode:    amqp.Persistent,
		Priority:        m.Priority,
		CorrelationId:   m.CorrelationID,
		ReplyTo:         m.ReplyTo,
		MessageId:       m.ID,
		Timestamp:       m.Timestamp,
		Type:            m.Type,
		AppId:           m.AppID,
		Body:            m.Body,
	}
}

func fromAMQP(d *amqp.Delivery) wire.Message {
	return wire.Message{
		ID:              d.MessageId,
		Type:            d.Type,
		ContentType:     d.ContentType,
		ContentEncoding: d.ContentEncoding,
		CorrelationID:   d.CorrelationId,
		ReplyTo:         d.ReplyTo,
		AppID:           d.AppId,
		Priority:        d.Priority,
		Timestamp:       d.Timestamp,
		Expiration:      d.Expiration,
		UserID:          d.UserId,
		Headers:         fromTable(d.Headers),
		Body:            d.Body,
	}
}

func toTable(h map[string]any) amqp.Table {
	if len(h) == 0 {
		return nil
	}
	t := make(amqp.Table, len(h))
	for k, v := range h {
		t[k] = toField(v)
	}
	return t
}

func toField(v any) any {
	switch v := v.(type) {
	case int: // the library cuts it to 32 bits
		return int64(v)
	case map[string]any:
		if t := toTable(v); t != nil {
			return t
		}
		return amqp.Table{}
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = toField(e)
		}
		return out
	case broker.Decimal:
		return amqp.Decimal{Scale: v.Scale, Value: v.Value}
	}
	return v
}

// fromTable changes the table it is given, which nobody else holds.
func fromTable(t amqp.Table) map[string]any {
	for k, v := range t {
		switch v.(type) {
		case amqp.Table, []any, amqp.Decimal:
			t[k] = fromField(v)
		}
	}
	return t
}

func fromField(v any) any {
	switch v := v.(type) {
	case amqp.Table:
		return map[string]any(fromTable(v))
	case []any:
		if v == nil { // the library's reading of an empty one
			return []any{}
		}
		for i, e := range v {
			v[i] = fromField(e)
		}
		return v
	case amqp.Decimal:
		return broker.Decimal{Scale: v.Scale, Value: v.Value}
	}
	return v
}
