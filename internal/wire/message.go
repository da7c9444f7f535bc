package wire

import (
	"maps"
	"strings"
	"time"
)

// Message is a message as a broker carries it: the AMQP properties Traction
// reads or keeps, the headers, and the body byte for byte.
type Message struct {
	ID              string // message_id
	Type            string
	ContentType     string
	ContentEncoding string
	CorrelationID   string
	ReplyTo         string
	AppID           string
	Priority        uint8
	Timestamp       time.Time // whole seconds, as AMQP has it; zero: none
	Expiration      string    // as received; never published
	UserID          string    // as received; never published
	Headers         map[string]any
	Body            []byte
}

// Headers under which the caller's own properties are kept when a republish has
// to strip them: copied as they are they would make the copy vanish (expiration),
// arrive twice (CC, BCC) or be refused (user-id).
const (
	HeaderOriginalExpiration = "tr-original-expiration"
	HeaderOriginalUserID     = "tr-original-user-id"
	HeaderOriginalCC         = "tr-original-cc"
	HeaderOriginalBCC        = "tr-original-bcc"
)

// Headers under which a message that becomes a flight keeps what its flight's own
// id and type take the place of.
const (
	HeaderOriginalMessageID = "tr-original-message-id"
	HeaderOriginalType      = "tr-original-type"
	HeaderAdoptedFrom       = "tr-adopted-from" // the queue it was taken over from
)

// Forward gives the message a republish sends: the broker's own traces
// (x-death, x-first-death-*, x-last-death-*, x-delivery-count) are gone, since a
// cycle of dead-letterings without a rejection is dropped in silence, and the
// properties that bite are moved to headers. m is not changed.
func (m Message) Forward() Message {
	h := make(map[string]any, len(m.Headers)+2)
	maps.Copy(h, m.Headers)
	for k := range h {
		if k == "x-death" || k == "x-delivery-count" || strings.HasPrefix(k, "x-first-death-") || strings.HasPrefix(k, "x-last-death-") {
			delete(h, k)
		}
	}
	if m.Expiration != "" {
		h[HeaderOriginalExpiration] = m.Expiration
	}
	if m.UserID != "" {
		h[HeaderOriginalUserID] = m.UserID
	}
	for name, keep := range map[string]string{"CC": HeaderOriginalCC, "BCC": HeaderOriginalBCC} {
		if v, ok := h[name]; ok {
			h[keep] = v
			delete(h, name)
		}
	}
	m.Headers, m.Expiration, m.UserID = h, "", ""
	return m
}

// Original gives what a republish to its owner's queue sends: a message that was
// taken over has its own id and type again and none of a flight's headers; what
// Forward keeps in headers stays there. Any other message is forwarded. m is not
// changed.
func (m Message) Original() Message {
	m = m.Forward()
	if _, adopted := m.Headers[HeaderAdoptedFrom]; !adopted {
		return m
	}
	m.ID, _ = m.Headers[HeaderOriginalMessageID].(string)
	m.Type, _ = m.Headers[HeaderOriginalType].(string)
	maps.DeleteFunc(m.Headers, func(name string, _ any) bool {
		return IsFlightHeader(name) || name == HeaderAdoptedFrom || name == HeaderOriginalMessageID || name == HeaderOriginalType
	})
	return m
}
