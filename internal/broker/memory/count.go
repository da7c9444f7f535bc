package memory

// Counted says how many messages a queue has.
type Counted struct {
	Ready  int // in their places, those that no exchange takes included
	Handed int // at a consumer, not settled
}

// Count tells where the messages with a routing key are, by queue. A queue with
// none is left out.
func (b *Broker) Count(key string) map[string]Counted {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := map[string]Counted{}
	for name, q := range b.queues {
		var n Counted
		for _, it := range q.ready {
			if it.key == key {
				n.Ready++
			}
		}
		for _, d := range q.stuck {
			if d.it.key == key {
				n.Ready++
			}
		}
		for _, s := range q.subs {
			for d := range s.hands {
				if d.it.key == key {
					n.Handed++
				}
			}
		}
		if n != (Counted{}) {
			out[name] = n
		}
	}
	return out
}
