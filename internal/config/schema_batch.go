package config

import (
	"time"

	"github.com/traction-go/traction/pkg/governor"
)

// Batch is how many flights fly in one call.
type Batch struct {
	Size          int
	Linger        time.Duration
	Dedupe        []string // JSON pointers
	SlotPerFlight bool
}

// Spec gives what the governor takes, less the pilot.
func (b *Batch) Spec() (*governor.Batch, error) {
	out := &governor.Batch{Size: b.Size, Linger: b.Linger, SlotPerFlight: b.SlotPerFlight}
	if len(b.Dedupe) > 0 {
		key, err := governor.PointerKey(b.Dedupe...)
		if err != nil {
			return nil, err
		}
		out.Dedupe = key
	}
	return out, nil
}

// batch reads how a gate's flights are flown together.
func (v value) batch() *Batch {
	b := &Batch{}
	found := v.fields("a mapping with size", []field{
		{"size", func(v value) { b.Size = v.number(1, governor.MaxBatch) }},
		{"linger", func(v value) { b.Linger = v.duration(time.Millisecond, governor.MaxLinger) }},
		{"dedupe", func(v value) {
			first := map[string]position{}
			for _, item := range v.items("JSON pointers such as [/payment/id]") {
				s := item.pointer()
				if p, ok := first[s]; ok && s != "" {
					item.bad("is there twice: first on line %d, column %d", p.line, p.col)
				}
				first[s] = item.pos
				b.Dedupe = append(b.Dedupe, s)
			}
		}},
		{"slots", func(v value) { b.SlotPerFlight = v.choice("call", "flight") == 1 }},
	})
	if _, ok := found["size"]; !ok {
		v.bad("has no size: want how many flights fly in one call, such as 25")
	}
	return b
}
