package rehearse

import "fmt"

// take notes what the old consumer got; false where nobody sent it.
func (b *book) take(payload []byte) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	e := b.entries[string(payload)]
	if e == nil {
		return false
	}
	e.taken = true
	return true
}

// called is how many calls there were.
func (b *book) called() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.calls
}

// callsOf is how many calls each of the flights had: the fewest and the most.
func (b *book) callsOf(es []*entry) (least, most int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i, e := range es {
		if i == 0 {
			least, most = e.calls, e.calls
		}
		least, most = min(least, e.calls), max(most, e.calls)
	}
	return least, most
}

// tallies counts what the book alone knows.
func (b *book) tallies() map[string]Tally {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := map[string]Tally{}
	for _, e := range b.entries {
		t := all[e.gate]
		t.Sent++
		if (e.landed > 0 || e.shared) && e.at == e.gate {
			t.Landed++
		}
		if e.taken {
			t.Left++
		}
		all[e.gate] = t
	}
	for gate, n := range b.dropped {
		t := all[gate]
		t.Rejected += n
		all[gate] = t
	}
	return all
}

// twice counts the flights of a gate that landed more than once.
func (b *book) twice(gate string) (n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, e := range b.entries {
		if e.gate == gate && e.landed > 1 {
			n++
		}
	}
	return n
}

// oddities says what no tally shows: flights at the wrong gate, under the wrong id, and
// from nobody.
func (b *book) oddities() (all []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, e := range b.entries {
		if e.landed > 0 && e.at != e.gate {
			all = append(all, "a flight for "+e.gate+" landed at "+e.at)
		}
		if e.wrongID != "" {
			all = append(all, fmt.Sprintf("a flight of %s had the business id %s, not %q", e.gate, e.wrongID, e.business))
		}
		if e.landed > 0 && e.taken {
			all = append(all, "a flight of "+e.gate+" landed, and the old consumer got it too")
		}
	}
	for _, id := range b.strangers {
		all = append(all, "flight "+id+" was sent by nobody")
	}
	return all
}
