package top

import (
	"strings"
	"testing"
	"time"

	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/governor"
)

// What waits in an adopted queue is a backlog like any other: in the overview, in the
// row, and in what a reopen would let fly.
func TestAnAdoptedBacklogWaits(t *testing.T) {
	gate := governor.GateInfo{Gate: "crm:acme/events", State: wire.Open, Reason: governor.ReasonNoWorkers, Runway: 5, Adopts: "events", Adopted: 2665}
	f := fleet{airports: []governor.AirportInfo{{Airport: "crm:acme", State: wire.Open, Runway: 5, Adopted: 2665, Gates: []governor.GateInfo{gate}}}}
	if text, _ := overview(f, asciiGlyphs); !strings.Contains(text, "2,670 wait") {
		t.Errorf("overview: %s", text)
	}
	for _, scope := range []string{"crm:acme", "crm:acme/events"} {
		if got := f.facts(scope).waiting; got != 2670 {
			t.Errorf("%s: a reopen would let %d fly, want 2670", scope, got)
		}
	}
	e := eye{now: time.Unix(0, 0), g: asciiGlyphs}
	for what, cells := range map[string][]cell{
		"2,665 adopted wait":             airportEntry(f.airports[0], nil).cells(e),
		"2,665 adopted wait; NO_WORKERS": gateEntry(gate, nil, wire.Open).cells(e),
	} {
		if got := cells[len(cells)-1].text; got != what {
			t.Errorf("the row says %q, want %q", got, what)
		}
	}
}
