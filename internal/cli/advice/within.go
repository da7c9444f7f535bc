package advice

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/traction-go/traction/internal/cli/render"
	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/governor"
)

// A gate that is open flies nothing while its airport is not, and one that adopts a
// queue takes nothing from it while a gate that its route feeds is not open, or has no
// room. The route is known to the workers alone, so what is said of a neighbour holds
// where the route feeds it.

// Hold is a neighbour that may keep a gate from being fed.
type Hold struct {
	Gate string // the neighbour
	Is   string // STOPPED, without workers, ...
	Next []string
	Full bool // it goes on by itself, as what is on its runway flies

	So string // what that means for the gate
}

// Waits says what the gate waits for, in a few words.
func (h Hold) Waits() string {
	return fmt.Sprintf("waits, if it feeds %s: that is %s", wire.Visible(h.Gate), h.Is)
}

// Holds gives the neighbours that keep the gate from taking from the queue that it
// adopts; none where something nearer does, or where nothing waits there.
func Holds(g governor.GateInfo, a governor.AirportInfo) []Hold {
	if g.Adopts == "" || g.Adopted == 0 || !takes(a.State) || !takes(g.State) || g.Idle() {
		return nil
	}
	var all []Hold
	for _, n := range a.Gates {
		switch {
		case n.Gate == g.Gate:
		case !takes(n.State):
			all = append(all, Hold{Gate: n.Gate, Is: string(n.State), Next: about(n.Gate, State(OfGate(n)))})
		case n.Idle():
			all = append(all, Hold{Gate: n.Gate, Is: "without workers", Next: State(OfGate(n))})
		case g.Runway < room(g, a) && n.Runway >= room(n, a):
			all = append(all, Hold{Gate: n.Gate, Is: "full, with " + render.Plural(render.Count(n.Runway), "flight") + " on its runway",
				Next: []string{"it goes on as they fly: " + Show(n.Gate)}, Full: true})
		}
	}
	for i := range all {
		all[i].So = "where its route feeds that gate, nothing is taken from " + wire.Visible(g.Adopts) + " meanwhile"
	}
	return all
}

// Feeders gives what may keep a gate with an empty runway from being fed by the route of
// another: that one, where it takes nothing from its queue, or who holds that one up.
func Feeders(g governor.GateInfo, a governor.AirportInfo) []Hold {
	if !takes(a.State) || !takes(g.State) || g.Idle() || g.Runway != 0 {
		return nil
	}
	var all []Hold
	add := func(h Hold) {
		if h.Gate != g.Gate && !h.Full && !slices.ContainsFunc(all, func(x Hold) bool { return x.Gate == h.Gate }) {
			all = append(all, h)
		}
	}
	for _, f := range a.Gates {
		so := "nothing comes from " + wire.Visible(f.Adopts) + " meanwhile"
		switch {
		case f.Gate == g.Gate || f.Adopts == "" || f.Adopted == 0:
		case !takes(f.State):
			add(Hold{Gate: f.Gate, Is: string(f.State), Next: about(f.Gate, State(OfGate(f))), So: "where its route feeds this gate, " + so})
		case f.Idle():
			add(Hold{Gate: f.Gate, Is: "without workers", Next: State(OfGate(f)), So: "where its route feeds this gate, " + so})
		default:
			for _, h := range Holds(f, a) {
				h.So = "where the route of " + wire.Visible(f.Gate) + " feeds both, " + so
				add(h)
			}
		}
	}
	return all
}

// takes reports whether a scope in this state takes from an adopted queue.
func takes(s governor.State) bool { return s == wire.Open || s == wire.Canary }

// room is how many flights on a gate's runway are too many for an adopted queue to be
// taken from: half of ten prefetches, as the workers that serve it reckon at least.
func room(g governor.GateInfo, a governor.AirportInfo) int {
	size := max(g.Batch, 1)
	pilots := max(g.WorkersWanted, 1) * size
	n := 2 * pilots
	if a.Slots > 0 && a.Window > 0 {
		soon := int(float64(a.Slots)*float64(10*time.Second)/float64(a.Window) + 1)
		if !g.SlotEach {
			soon *= size
		}
		n = pilots + soon
	}
	return 5 * min(n, 600)
}

// about names the scope in lines that do not.
func about(scope string, lines []string) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		if out[i] = l; !strings.Contains(l, scope) {
			out[i] = scope + ": " + l
		}
	}
	return out
}

// Because says in a few words what but itself keeps a gate from flying or from being
// fed; "" for nothing.
func Because(g governor.GateInfo, a governor.AirportInfo) string {
	if a.State != wire.Open {
		return Standing(a, "")
	}
	if h := Holds(g, a); len(h) > 0 {
		return h[0].Waits()
	}
	return ""
}

// Standing says what state an airport is in and why; since may say how long.
func Standing(a governor.AirportInfo, since string) string {
	s := a.Airport + " is " + string(a.State)
	if since != "" {
		s += " since " + since
	}
	for _, why := range []string{a.Reason, a.Evidence} {
		if why != "" {
			s += ": " + why
		}
	}
	if a.State == wire.Paused && a.By != "" {
		s += " (by " + a.By + ")"
	}
	return wire.Visible(s)
}

// Within gives the lines that say what to do about a gate, what its airport needs
// first.
func Within(g governor.GateInfo, a governor.AirportInfo) []string {
	if g.State == wire.Removing {
		return State(OfGate(g)) // nothing of its airport stands in the way of that
	}
	var lines []string
	if a.State != wire.Open {
		lines = State(OfAirport(a))
	}
	s := OfGate(g)
	lines = append(lines, State(s)...)
	lines = append(lines, Queue(s)...)
	if len(g.Processes) == 0 && g.WorkersActual == 0 {
		lines = append(lines, "no live worker serves it; start one that does: "+Start)
	}
	for _, h := range slices.Concat(Holds(g, a), Feeders(g, a)) {
		for _, line := range h.Next {
			if !slices.Contains(lines, line) {
				lines = append(lines, line)
			}
		}
	}
	if a.State == wire.Stopped || a.State == wire.Paused {
		s.State = a.State // a replay waits for the airport too
	}
	return append(lines, Parked(s)...)
}
