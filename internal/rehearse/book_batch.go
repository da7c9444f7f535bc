package rehearse

import (
	"context"

	"github.com/traction-go/traction/pkg/governor"
)

// FlyBatch answers a call for several, flight by flight; at a gate that fails whole,
// with one error that names nobody, and then none of them landed.
func (b *book) FlyBatch(_ context.Context, flights []governor.Flight[[]byte]) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(flights) == 0 {
		return nil
	}
	scope := flights[0].Scope
	b.biggest[scope] = max(b.biggest[scope], len(flights))
	if b.whole[scope] && len(flights) > 1 {
		for _, f := range flights {
			if e := b.entries[string(f.Payload)]; e != nil && len(e.fly) > 0 {
				b.calls++
				return answer(e.fly[0])
			}
		}
	}
	errs := map[string]error{}
	for _, f := range flights {
		errs[f.ID] = b.fly(f)
	}
	return &governor.BatchError{Flights: errs}
}

// twin is the dedupe key of every batch.
func (b *book) twin(payload []byte) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	if e := b.entries[string(payload)]; e != nil {
		return e.twin
	}
	return ""
}

// failsWhole says how a gate's batches fail.
func (b *book) failsWhole(gate string, on bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.whole[gate] = on
}

// largest gives the largest batch of a gate since the last question.
func (b *book) largest(gate string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := b.biggest[gate]
	b.biggest[gate] = 0
	return n
}

// sharing counts the flights that landed with a twin, unsent.
func (b *book) sharing(es []*entry) (n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, e := range es {
		if e.shared {
			n++
		}
	}
	return n
}
