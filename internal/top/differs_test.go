package top

import (
	"testing"

	"github.com/traction-go/traction/pkg/governor"
)

func TestAProcessThatHasSomethingElseIsNamed(t *testing.T) {
	g := governor.GateInfo{WorkersWanted: 4, Batch: 25, Processes: []governor.Staff{
		{Process: "w1", Workers: 4, Batch: 25}, {Process: "w\x1b2", Workers: 1, Batch: 25}, {Process: "w3", Workers: 4, Batch: 1}}}
	want := `w\x1b2 has 1 worker, batches of 25; w3 has 4 workers, batches of 1`
	if got := differs(g); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	g.Processes = g.Processes[:1]
	if got := differs(g); got != "" {
		t.Errorf("%q, want nothing", got)
	}
}
