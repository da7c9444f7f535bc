package rehearse

import (
	"encoding/json"
	"fmt"

	"github.com/traction-go/traction/internal/jsonptr"
)

// unmatched is a value that no route has.
const unmatched = "traction-rehearsal-other"

// message is one message for an adopted queue, as its old producers might write it.
type message struct {
	body     []byte
	gate     string // where its flight must land
	business string // the business id that must be read out of it; "": none
}

// body is the payload of a flight that is dispatched.
func body(id string) []byte { return fmt.Appendf(nil, `{"traction-rehearsal":%q}`, id) }

// messageFor makes a message with value where the route looks, and a business id where
// the adoption looks. Where the two cannot stand in one document there is no business
// id.
func (s standIn) messageFor(id, value string) message {
	doc := map[string]any{}
	if s.Spec.Route != nil {
		put(doc, s.Spec.Route.By, value)
	}
	if s.Spec.BusinessID != "" {
		put(doc, s.Spec.BusinessID, id)
	}
	key := "traction-rehearsal"
	for _, taken := doc[key]; taken; _, taken = doc[key] {
		key += "-"
	}
	doc[key] = id
	b, err := json.Marshal(doc)
	if err != nil { // strings always have a form
		b = body(id)
	}
	m := message{body: b, gate: s.fed("")}
	if s.Spec.Route != nil {
		m.gate = s.fed(at(doc, s.Spec.Route.By))
	}
	if s.Spec.BusinessID != "" {
		m.business = at(doc, s.Spec.BusinessID)
	}
	return m
}

// raw makes a message that is not JSON.
func (s standIn) raw(id string) message {
	return message{body: []byte("traction-rehearsal, not JSON: " + id), gate: s.fed(unmatched)}
}

// values lists one value of the route for each gate and way, the unmatched one last;
// without a route the empty one alone.
func (s standIn) values() []string {
	if s.Spec.Route == nil {
		return []string{""}
	}
	return append(sorted(s.Spec.Route.Gates), unmatched)
}

// put writes value into doc at the pointer, unless something else is in its way.
func put(doc map[string]any, pointer, value string) {
	parts, err := jsonptr.Parse(pointer)
	if err != nil || len(parts) == 0 {
		return
	}
	for _, part := range parts[:len(parts)-1] {
		next, ok := doc[part].(map[string]any)
		if !ok {
			if _, taken := doc[part]; taken {
				return
			}
			next = map[string]any{}
			doc[part] = next
		}
		doc = next
	}
	last := parts[len(parts)-1]
	if _, taken := doc[last]; !taken {
		doc[last] = value
	}
}

// at reads what put wrote; "" where it wrote nothing.
func at(doc map[string]any, pointer string) string {
	p, err := jsonptr.Parse(pointer)
	if err != nil {
		return ""
	}
	s, _ := p.Text(doc)
	return s
}
