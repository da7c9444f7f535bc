package governor

import (
	"time"

	"github.com/traction-go/traction/internal/store"
)

// loads tells what each gate has in hand (on the queue it is no longer counted), how its
// calls go and what it saw, for those who ask what stands of the fleet.
func (s *station) loads() map[string]store.Load {
	n := map[string]store.Load{}
	for _, l := range s.lanes {
		st := s.g.stats
		load := st.marks(l.gate)
		load.Call = st.callTime(l.gate)
		oldest, adopted := st.heads(l.gate)
		told := true
		l.inHand.Range(func(_, at any) bool {
			load.InHand++
			made, _ := at.(time.Time)
			if oldest.IsZero() || made.Before(oldest) {
				oldest = made
			}
			told = told && !made.IsZero()
			return true
		})
		if told && !oldest.IsZero() {
			load.Oldest = oldest.Unix()
		}
		if !adopted.IsZero() {
			load.Adopted = adopted.Unix()
		}
		load.Pilots = int(l.actual.Load()) + 1
		load.Batch = l.size()
		n[l.spec.ID] = load
	}
	return n
}

// slotEach is 1 where the flights of one call take a slot each.
func slotEach(g Gate) string {
	if g.Batch != nil && g.Batch.SlotPerFlight {
		return "1"
	}
	return ""
}

// adopted names the queue that the gate adopts.
func adopted(g Gate) string {
	if g.Adopt == nil {
		return ""
	}
	return g.Adopt.Queue
}
