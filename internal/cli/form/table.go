package form

import (
	"cmp"
	"slices"
	"time"

	"github.com/traction-go/traction/internal/cli/render"
	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/governor"
)

// strictness orders states, the strictest first.
var strictness = map[governor.State]int{
	wire.Unknown: 0, wire.Stopped: 1, wire.Birth: 2, wire.Removing: 2, wire.Paused: 3,
	wire.Canary: 4, wire.Throttled: 5, wire.Delayed: 6, wire.Open: 7,
}

// SortAirports puts the strictest state first, then sorts by name.
func SortAirports(a []governor.AirportInfo) {
	slices.SortStableFunc(a, func(x, y governor.AirportInfo) int {
		return cmp.Or(cmp.Compare(strictness[x.State], strictness[y.State]), cmp.Compare(x.Airport, y.Airport))
	})
}

// SortGates does so for gates.
func SortGates(g []governor.GateInfo) {
	slices.SortStableFunc(g, func(x, y governor.GateInfo) int {
		return cmp.Or(cmp.Compare(strictness[x.State], strictness[y.State]), cmp.Compare(x.Gate, y.Gate))
	})
}

// GateTable is the table of gates, as gate list and airport show print it. because says
// why a gate that has no reason of its own may not fly. Where a queue is adopted, a column
// before the last has what waits there.
func GateTable(gates []governor.GateInfo, because func(governor.GateInfo) string, now time.Time) render.Table {
	t := render.Table{Columns: []render.Column{
		{Name: "GATE"}, {Name: "STATE"}, {Name: "SINCE"}, {Name: "RUNWAY", Right: true},
		{Name: "HOLDING", Right: true, Spare: true}, {Name: "PARKED", Right: true}, {Name: "REJECTED", Right: true, Spare: true},
		{Name: "IN-AIR", Right: true, Spare: true}, {Name: "WORKERS", Right: true, Spare: true}, {Name: "REASON", Flex: true},
	}}
	adopt := Adopts(gates)
	if adopt {
		t.Columns = slices.Insert(t.Columns, len(t.Columns)-1, render.Column{Name: "ADOPTED", Right: true})
	}
	for _, g := range gates {
		why := Why(g.Reason, g.Evidence)
		if why == "" {
			why = because(g)
		}
		row := []string{
			g.Gate, string(g.State), render.Ago(now, g.Since), render.Count(g.Runway).String(),
			render.Count(g.Holding).String(), render.Count(g.Parked).String(), render.Count(g.Rejected).String(),
			render.Count(g.InAir).String(), render.Count(g.WorkersActual).String(), why,
		}
		if adopt {
			row = slices.Insert(row, len(row)-1, backlog(g))
		}
		t.Rows = append(t.Rows, row)
	}
	t.Style = func(r, c int) render.Style {
		if c == 1 {
			return render.StateStyle(gates[r].State)
		}
		return render.Plain
	}
	return t
}

// backlog is what waits in the gate's adopted queue, in one word.
func backlog(g governor.GateInfo) string {
	switch {
	case g.Adopts == "":
		return ""
	case g.AdoptedMissing:
		return "missing"
	}
	return render.Count(g.Adopted).String()
}

// Why writes a reason with its evidence.
func Why(reason, evidence string) string {
	switch {
	case reason == "":
		return wire.Visible(evidence)
	case evidence == "":
		return wire.Visible(reason)
	}
	return wire.Visible(reason) + ": " + wire.Visible(evidence)
}

// Drain is how long what waits takes with every slot used; false where there is
// no rate, or where what waits could not be read.
func Drain(a governor.AirportInfo) (time.Duration, bool) {
	if a.Slots == 0 || a.Runway < 0 || a.Holding < 0 || a.Adopted < 0 {
		return 0, false
	}
	return time.Duration(float64(a.Runway+a.Holding+a.Adopted) / float64(a.Slots) * float64(a.Window)), true
}
