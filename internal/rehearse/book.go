package rehearse

import (
	"context"
	"fmt"
	"sync"

	"github.com/traction-go/traction/pkg/governor"
	"github.com/traction-go/traction/pkg/settle"
)

// book is the pilot of every rehearsed gate. It knows a flight by its payload, so that
// it recognizes an adopted message too, and keeps count. It is the vendor's side of the
// story: what it says is compared with what the queues and the store say.
type book struct {
	mu        sync.Mutex
	entries   map[string]*entry         // by payload
	ids       map[string]*entry         // by business id, of those that were dispatched
	whole     map[string]bool           // gates whose batches fail whole, and name nobody
	biggest   map[string]int            // the largest batch, by gate
	broken    map[string]settle.Outcome // by gate, or airport: what every call answers for now
	calls     int
	strangers []string       // what nobody sent
	dropped   map[string]int // rejected records that the gate does not keep, by gate
}

// entry is one flight.
type entry struct {
	gate     string // where it must land
	business string // the id it must have; "" is not looked at
	fly      []settle.Outcome
	calls    int
	landed   int
	at       string // where it landed first
	wrongID  string // a business id that was not the one
	twin     string // what it shares with its twins; "": it has none
	shared   bool   // it landed with its twin, unsent
	taken    bool   // by the old consumer
}

func newBook() *book {
	return &book{entries: map[string]*entry{}, ids: map[string]*entry{}, whole: map[string]bool{}, biggest: map[string]int{}, broken: map[string]settle.Outcome{}, dropped: map[string]int{}}
}

// expect writes a flight down before it is sent: its calls answer fly, one after the
// other, and land it from then on.
func (b *book) expect(payload []byte, gate, business string, fly ...settle.Outcome) *entry {
	b.mu.Lock()
	defer b.mu.Unlock()
	e := &entry{gate: gate, business: business, fly: fly}
	b.entries[string(payload)] = e
	return e
}

// dispatched is expect for a flight that is dispatched under the business id.
func (b *book) dispatched(payload []byte, gate, id, twin string, fly ...settle.Outcome) *entry {
	e := b.expect(payload, gate, id, fly...)
	b.mu.Lock()
	defer b.mu.Unlock()
	e.twin, b.ids[id] = twin, e
	return e
}

// Fly answers one call.
func (b *book) Fly(_ context.Context, f governor.Flight[[]byte]) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.biggest[f.Scope] = max(b.biggest[f.Scope], 1)
	return b.fly(f)
}

func (b *book) fly(f governor.Flight[[]byte]) error {
	b.calls++
	e := b.entries[string(f.Payload)]
	if e == nil {
		b.strangers = append(b.strangers, f.ID)
		return answer(settle.FlightFault)
	}
	e.calls++
	if e.business != "" && f.BusinessID != e.business {
		e.wrongID = fmt.Sprintf("%q", f.BusinessID)
	}
	for scope, o := range b.broken {
		if f.Scope == scope || len(f.Scope) > len(scope) && f.Scope[:len(scope)+1] == scope+"/" {
			return answer(o)
		}
	}
	if len(e.fly) > 0 {
		o := e.fly[0]
		e.fly = e.fly[1:]
		return answer(o)
	}
	if e.landed++; e.landed == 1 {
		e.at = f.Scope
	}
	return nil
}

// breaks makes every call at a scope answer o; 0 mends it.
func (b *book) breaks(scope string, o settle.Outcome) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if o == 0 {
		delete(b.broken, scope)
		return
	}
	b.broken[scope] = o
}

// settled is the governor's OnSettled: a record that is rejected and not kept, and a
// twin that lands unsent, leave no other trace.
func (b *book) settled(drops map[string]bool) func(governor.Settled) {
	return func(s governor.Settled) {
		b.mu.Lock()
		defer b.mu.Unlock()
		if drops[s.Scope] && s.Outcome == settle.FlightFault.String() {
			b.dropped[s.Scope]++
		}
		if e := b.ids[s.BusinessID]; e != nil && e.twin != "" && e.landed == 0 && s.Outcome == settle.Landed.String() {
			e.shared, e.at = true, s.Scope
		}
	}
}
