package governor

import (
	"testing"

	"github.com/traction-go/traction/internal/store"
	"github.com/traction-go/traction/internal/wire"
)

// What the processes declare is known also while an operator has set something else: it
// is the way back.
func TestWhatIsDeclaredStandsBesideWhatIsSet(t *testing.T) {
	scale := wire.Scale("0:")
	if n := scale.Workers(3); n != 0 {
		t.Fatalf("%q sets %d workers, want none", scale, n)
	}
	var g GateInfo
	g.WorkersWanted = scale.Workers(3)
	g.staffed(store.Snapshot{}, wire.Status{Scope: wire.Scope{Airport: "crm:acme", Gate: "sync"}, Workers: 3, Scale: scale})
	if !g.Idle() || g.WorkersDeclared != 3 {
		t.Errorf("%+v", g)
	}
}

// Nobody being there is a warning where something waits, wherever that is.
func TestABacklogThatIsAdoptedNeedsAWorker(t *testing.T) {
	for adopted, want := range map[int]Level{2665: LevelWarning, 0: LevelNote} {
		d := &doctor{}
		d.airport(AirportInfo{Airport: "crm:acme", State: wire.Open, Adopted: adopted})
		if len(d.found) != 1 || d.found[0].Level != want {
			t.Errorf("%d wait in adopted queues: %+v, want one %s", adopted, d.found, want)
		}
	}
}
