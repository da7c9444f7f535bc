package workercmd

import (
	"testing"

	"github.com/traction-go/traction/pkg/governor"
)

// The metric says what is wanted now; what a gate declares stands for it only until the
// process has begun.
func TestWorkersOfAGateThatIsScaledToNone(t *testing.T) {
	t.Parallel()
	declared := governor.Gate{ID: "contacts", Workers: 4}
	for name, c := range map[string]struct {
		gate governor.Gate
		st   governor.GateStats
		want int
	}{
		"before it begins":             {declared, governor.GateStats{}, 4},
		"before it begins, by default": {governor.Gate{ID: "contacts"}, governor.GateStats{}, governor.DefaultWorkers},
		"as declared":                  {declared, governor.GateStats{Declared: true, Workers: 4}, 4},
		"scaled":                       {declared, governor.GateStats{Declared: true, Workers: 8}, 8},
		"scaled to none":               {declared, governor.GateStats{Declared: true}, 0},
	} {
		if got := gateOf(c.gate, c.st, "OPEN").Workers; got != c.want {
			t.Errorf("%s: %d workers, want %d", name, got, c.want)
		}
	}
}
