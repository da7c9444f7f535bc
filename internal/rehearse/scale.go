package rehearse

import (
	"slices"
	"strings"
	"time"

	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/governor"
	"github.com/traction-go/traction/pkg/settle"
)

// holdsOf gives the holds with the defaults of the governor.
func holdsOf(a governor.Airport) settle.Policy {
	h, d := a.Holds, settle.DefaultPolicy()
	if len(h.Transient) == 0 {
		h.Transient = d.Transient
	}
	if len(h.Internal) == 0 {
		h.Internal = d.Internal
	}
	return h
}

// scaleHolds shortens every delay, keeps their order and which are the same, and notes
// each in scaled.
func scaleHolds(p settle.Policy, scaled map[time.Duration]time.Duration) settle.Policy {
	all := slices.Concat(p.Transient, p.Internal)
	slices.Sort(all)
	all = slices.Compact(all)
	n := time.Duration(len(all))
	step := min(holdStep, max(2*holdTotal/(n*(n+1)), time.Millisecond).Truncate(time.Millisecond))
	short := map[time.Duration]time.Duration{}
	for i, d := range all {
		short[d] = min(d, step*time.Duration(i+1))
		scaled[d] = short[d]
	}
	scale := func(ds []time.Duration) (out []time.Duration) {
		for _, d := range ds {
			out = append(out, short[d])
		}
		return out
	}
	return settle.Policy{Transient: scale(p.Transient), Internal: scale(p.Internal)}
}

func scaling(scaled map[time.Duration]time.Duration) string {
	all := make([]time.Duration, 0, len(scaled))
	for d := range scaled {
		all = append(all, d)
	}
	slices.Sort(all)
	parts := make([]string, len(all))
	for i, d := range all {
		parts[i] = wire.ShortDuration(d) + " as " + wire.ShortDuration(scaled[d])
	}
	return strings.Join(parts, ", ")
}

// scaleSlots shortens the window of slots that would make the rehearsal wait.
func scaleSlots(s governor.Slots) governor.Slots {
	if s.N == 0 || float64(s.N) >= leastRate*s.Per.Seconds() {
		return s
	}
	s.Per = max(time.Duration(s.N)*time.Second/leastRate, time.Millisecond)
	return s
}
