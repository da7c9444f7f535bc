package memory

import (
	"strings"

	"github.com/traction-go/traction/internal/broker"
)

type exchange struct {
	broker.Exchange
	bindings []broker.Binding
}

// route gives the queues that take a message, each once; none when unroutable or
// when the exchange does not exist.
func (b *Broker) route(name, key string) []*queue {
	if name == "" { // the default exchange: every queue under its own name
		if q := b.queues[key]; q != nil {
			return []*queue{q}
		}
		return nil
	}
	// Alternate exchanges can form a ring.
	for seen := map[string]bool{}; name != "" && !seen[name]; {
		seen[name] = true
		x := b.exchanges[name]
		if x == nil {
			return nil
		}
		if qs := b.match(x, key); len(qs) > 0 {
			return qs
		}
		name = x.Alternate
	}
	return nil
}

func (b *Broker) match(x *exchange, key string) []*queue {
	var out []*queue
	for _, bind := range x.bindings {
		var hit bool
		switch x.Kind {
		case broker.Fanout:
			hit = true
		case broker.Topic:
			hit = topicMatch(strings.Split(bind.Key, "."), strings.Split(key, "."))
		default:
			hit = bind.Key == key
		}
		if !hit {
			continue
		}
		if q := b.queues[bind.Queue]; q != nil && !contains(out, q) {
			out = append(out, q)
		}
	}
	return out
}

func contains(qs []*queue, q *queue) bool {
	for _, o := range qs {
		if o == q {
			return true
		}
	}
	return false
}

// topicMatch: * is one word, # any number of them.
func topicMatch(pattern, words []string) bool {
	for len(pattern) > 0 {
		if pattern[0] == "#" {
			for i := 0; i <= len(words); i++ {
				if topicMatch(pattern[1:], words[i:]) {
					return true
				}
			}
			return false
		}
		if len(words) == 0 || pattern[0] != "*" && pattern[0] != words[0] {
			return false
		}
		pattern, words = pattern[1:], words[1:]
	}
	return len(words) == 0
}
