package governor_test

import (
	"strings"
	"testing"

	"github.com/traction-go/traction/pkg/governor"
)

// A queue that is not there is no empty queue: whoever looks is told, and what to do.
func TestAnAdoptedQueueThatIsNotThere(t *testing.T) {
	onBoth(t, func(f *fleet) {
		a := payments("foreign.missing."+f.cfg.Namespace, newVendor())
		g, _ := f.run(a)
		f.ready(g, "bank:acme/payments")
		gate, err := g.Gate(f.t.Context(), "bank:acme/payments")
		if err != nil {
			f.t.Fatal(err)
		}
		if !gate.AdoptedMissing || gate.Adopted != 0 || gate.Reason != governor.ReasonNoQueue || !strings.Contains(gate.Evidence, gate.Adopts) {
			f.t.Errorf("missing %v, %d wait, reason %q: %q", gate.AdoptedMissing, gate.Adopted, gate.Reason, gate.Evidence)
		}
		for _, wanted := range [][]governor.Airport{nil, {a}} {
			found, err := g.Doctor(f.t.Context(), wanted...)
			if err != nil {
				f.t.Fatal(err)
			}
			f.levels(found, map[string]governor.Level{"adopted queue": governor.LevelSerious})
		}
	})
}

// A file is examined before a worker runs it.
func TestTheDoctorLooksForTheQueuesOfAFile(t *testing.T) {
	onBoth(t, func(f *fleet) {
		g := f.governor()
		found, err := g.Doctor(f.t.Context(), payments("foreign.missing."+f.cfg.Namespace, newVendor()))
		if err != nil {
			f.t.Fatal(err)
		}
		f.levels(found, map[string]governor.Level{"adopted queue": governor.LevelSerious})
	})
}
