package governor

import (
	"cmp"
	"slices"
	"time"
)

// A gate that flies in batches asks for the flights of one call together, and its
// pilots are handed them together. What belongs to one call:
//
//   - a suspect in its turn, alone;
//   - flights that are to fly together again: half of a batch that failed as a whole,
//     or one that met a conflict. They carry the same pin until they have flown;
//   - otherwise what waits, in the order of arrival, up to the batch's size.
//
// A flight that the store refuses leaves its call and goes its own way; the others
// fly without it. Until it takes off a batch is no more than flights in hand: they
// are returned, parked or lost one by one.

// group picks from the queue what up to room calls take now, and numbers what shares a
// slot. sizes is how many flights each call has; wait is how long the next call is
// not due, 0 where nothing waits for that.
func (l *lane) group(now time.Time, room int) (asked []*job, sizes []int, wait time.Duration) {
	slot := 0
	for len(sizes) < room && len(asked) < maxPerCall {
		g, w := l.nextGroup(now, maxPerCall-len(asked))
		if w > 0 && (wait == 0 || w < wait) {
			wait = w
		}
		if len(g) == 0 {
			break
		}
		slot = l.numberSlots(g, slot)
		asked, sizes = append(asked, g...), append(sizes, len(g))
	}
	return asked, sizes, wait
}

// nextGroup takes the flights of one call out of the queue.
func (l *lane) nextGroup(now time.Time, most int) (g []*job, wait time.Duration) {
	size := l.size()
	full := func() bool {
		first := g[0]
		return first.alone || first.pin == 0 && len(g) == size
	}
	for _, j := range l.queue {
		if d := j.notBefore.Sub(now); d > 0 {
			if wait == 0 || d < wait {
				wait = d
			}
			continue
		}
		if len(g) > 0 && (j.alone || j.pin != g[0].pin) {
			continue
		}
		if g = append(g, j); full() {
			break
		}
	}
	if len(g) == 0 || len(g) > most {
		return nil, wait // the next call to the store has room for it
	}
	if due := g[0].arrived.Add(l.linger()); !full() && g[0].pin == 0 && now.Before(due) && !l.halted.Load() {
		return nil, due.Sub(now)
	}
	g = slices.DeleteFunc(g, func(j *job) bool { return !l.takePermit(j) })
	l.queue = slices.DeleteFunc(l.queue, func(j *job) bool { return slices.Contains(g, j) })
	return g, wait
}

func (l *lane) linger() time.Duration {
	if l.size() == 1 {
		return 0
	}
	return or(l.spec.Batch.Linger, DefaultLinger)
}

// slotPerFlight reports whether each flight takes a slot, rather than each call.
func (l *lane) slotPerFlight() bool { return l.spec.Batch == nil || l.spec.Batch.SlotPerFlight }

// numberSlots gives the flights of one call the number of the slot that they share:
// one for the call, or one for each that is sent and its twins.
func (l *lane) numberSlots(g []*job, last int) int {
	if !l.slotPerFlight() {
		for _, j := range g {
			j.slot = last + 1
		}
		return last + 1
	}
	l.pair(g)
	for _, j := range g {
		if j.twinOf == nil {
			last++
			j.slot = last
		}
	}
	for _, j := range g {
		if j.twinOf != nil {
			j.slot = j.twinOf.slot
		}
	}
	return last
}

// pair finds the twins in a batch: of those with one key the newest is sent.
func (l *lane) pair(g []*job) {
	newest := map[string]*job{}
	for _, j := range g {
		j.twinOf = nil
		key := l.keyOf(j)
		if had := newest[key]; key != "" && (had == nil || newer(j, had)) {
			newest[key] = j
		}
	}
	for _, j := range g {
		if n := newest[l.keyOf(j)]; n != nil && n != j {
			j.twinOf = n
		}
	}
}

// keyOf is the flight's dedupe key. A function of the user's that panics gives none:
// the flight is sent.
func (l *lane) keyOf(j *job) string {
	if l.spec.Batch == nil || l.spec.Batch.Dedupe == nil {
		return ""
	}
	if !j.keyed {
		j.keyed = true
		_, _ = call(func() error {
			j.key = l.spec.Batch.Dedupe(j.flight.Msg.Body)
			return nil
		})
	}
	return j.key
}

func newer(a, b *job) bool {
	return cmp.Or(a.flight.Msg.Timestamp.Compare(b.flight.Msg.Timestamp), cmp.Compare(a.flight.ID, b.flight.ID)) > 0
}

// launch hands the flights of one call to the pilots.
func (l *lane) launch(g []*job) {
	if len(g) == 0 {
		return
	}
	lead := g[0]
	lead.twinOf = nil // it may have been a twin in an earlier call
	if len(g) > 1 {
		l.pair(g)
	}
	lead.mates = g[1:]
	for _, j := range g {
		j.step, j.took, j.died, j.lead = aloft, false, "", lead
	}
	lead.air.Store(inTheAir)
	lead.off.Store(0)
	l.aloft++
	l.takeoff.put(lead)
}

// all gives the flights of the call that the flight leads.
func (j *job) all() []*job { return append([]*job{j}, j.mates...) }

// pinned has flights fly together again.
func (l *lane) pinned(g []*job) {
	l.pins++
	for _, j := range g {
		j.pin = l.pins
	}
}

// halves splits the flights of a call that failed as a whole into two calls. Twins
// stay with the flight they would land with.
func (l *lane) halves(g []*job) {
	var sent []*job
	for _, j := range g {
		if j.twinOf == nil {
			sent = append(sent, j)
		}
	}
	first := sent[:(len(sent)+1)/2]
	var a, b []*job
	for _, j := range g {
		if slices.Contains(first, or(j.twinOf, j)) {
			a = append(a, j)
		} else {
			b = append(b, j)
		}
	}
	l.pinned(a)
	l.pinned(b)
}
