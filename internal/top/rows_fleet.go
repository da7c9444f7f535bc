package top

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/traction-go/traction/internal/cli/advice"
	"github.com/traction-go/traction/internal/cli/form"
	"github.com/traction-go/traction/internal/cli/render"
	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/governor"
)

// sparkWidth is the width of a sparkline, in cells and so in readings.
const sparkWidth = 8

// rank puts first what needs a human.
func rank(s wire.State) float64 {
	for i, x := range []wire.State{wire.Stopped, wire.Unknown, wire.Paused, wire.Birth, wire.Removing, wire.Canary, wire.Throttled, wire.Delayed} {
		if x == s {
			return float64(i)
		}
	}
	return 9
}

// stateCell is the state as a word, then a sign, then a colour.
func stateCell(s wire.State, g glyphs) cell {
	return cell{strings.TrimRight(fill(wire.Visible(string(s)), 9, g)+" "+g.states[s], " "), render.StateStyle(s)}
}

// alarming paints a count that waits for a human.
func alarming(n int) cell {
	c := cell{text: render.Count(n).String()}
	if n > 0 {
		c.style = render.Alarm
	}
	return c
}

func count(n int) cell { return cell{text: render.Count(n).String()} }

func airportEntry(a governor.AirportInfo, h history) entry {
	worst := wire.Open
	for _, g := range a.Gates {
		if rank(g.State) < rank(worst) {
			worst = g.State
		}
	}
	perS, _ := h.rate()
	return entry{
		id: a.Airport, scope: a.Airport, state: a.State,
		find: strings.ToLower(a.Airport + " " + string(a.State) + " " + a.Reason),
		// An open airport with a stopped gate comes before one where all is well.
		keys: []sortKey{{n: rank(a.State)*10 + rank(worst)}, {n: -float64(a.Runway + a.Adopted)}, {n: -float64(a.Parked)}, {n: -perS}, {}},
		cells: func(e eye) []cell {
			state := stateCell(a.State, e.g)
			why := form.Why(a.Reason, a.Evidence)
			if rank(worst) < rank(a.State) {
				n, first := troubled(a.Gates)
				// What does not stand at the airport itself stands at a gate.
				state.text = fill(string(a.State), 9, e.g) + " !"
				state.style = render.StateStyle(worst)
				why = strings.TrimSuffix(plural(n, "gate")+" "+string(worst)+": "+first+"; "+why, "; ")
			}
			return []cell{
				{text: wire.Visible(a.Airport)}, state, {text: render.Ago(e.now, a.Since)}, count(a.Runway), count(a.InAir),
				{text: spark(h.steps(sparkWidth), sparkWidth, e.g), style: render.Good}, {text: paced(h, a.Pace)},
				count(a.Holding), alarming(a.Parked), {text: drains(h, a.State, a.Drain, a.Pace)}, workers(a),
				{text: slots(a)}, {text: adding(why, form.Adopts(a.Gates), a.Adopted)},
			}
		},
		gist:  func(e eye) []string { return airportGist(a, worst, e) },
		shown: func(e eye) []field { return airportFields(a, h, e) },
	}
}

// troubled counts the gates in the worst state, and names the first.
func troubled(gates []governor.GateInfo) (n int, first string) {
	best := rank(wire.Open)
	for _, g := range gates {
		switch r := rank(g.State); {
		case r < best:
			best, n, first = r, 1, wire.Visible(g.Gate)
		case r == best && first != "":
			n++
		}
	}
	return n, first
}

// airportGist says what is wrong there, or at the worst of its gates, and what to
// do next.
func airportGist(a governor.AirportInfo, worst wire.State, e eye) []string {
	lines := gist(a.Airport, a.State, a.Reason, a.Evidence, render.Ago(e.now, a.Since), advice.Next(advice.OfAirport(a)))
	if rank(worst) >= rank(a.State) {
		return lines
	}
	for _, g := range a.Gates {
		if g.State == worst {
			under := gist(g.Gate, g.State, g.Reason, g.Evidence, render.Ago(e.now, g.Since), advice.Next(advice.OfGate(g)))
			if a.State == wire.Open {
				return under
			}
			return []string{lines[0], under[0]}
		}
	}
	return lines
}

// gist is a scope in two lines.
func gist(scope string, state wire.State, reason, evidence, ago string, next []string) []string {
	first := wire.Visible(scope) + " " + wire.Visible(string(state))
	if ago != "" {
		first += " for " + ago
	}
	if why := form.Why(reason, evidence); why != "" {
		first += ": " + why
	}
	if len(next) == 0 {
		return []string{first, ""}
	}
	return []string{first, "next: " + wire.Visible(next[0])}
}

// workers are the live processes; none of them is what a person must see.
func workers(a governor.AirportInfo) cell {
	c := count(a.Workers)
	if a.Workers == 0 {
		c.style = render.Alarm
	}
	return c
}

func slots(a governor.AirportInfo) string {
	if a.Slots == 0 {
		return "unlimited"
	}
	return fmt.Sprintf("%s/%d/%s", render.Count(a.SlotsUsed), a.Slots, wire.ShortDuration(a.Window))
}

// adding puts what waits in adopted queues before why: it is on no runway, and a long
// reason is cut.
func adding(why string, adopts bool, n int) string {
	if !adopts || n == 0 {
		return why
	}
	return strings.TrimSuffix(render.Count(n).String()+" adopted wait; "+why, "; ")
}

func airportFields(a governor.AirportInfo, h history, e eye) []field {
	return append([]field{
		{"airport", wire.Visible(a.Airport)},
		{"state", wire.Visible(string(a.State))},
		{"since", render.Since(e.now, a.Since)},
		{"reason", wire.Visible(a.Reason)},
		{"evidence", wire.Visible(a.Evidence)},
		{"by", wire.Visible(a.By)},
		{"incident", wire.Visible(a.Incident)},
		{"until", render.Stamp(a.ThrottledUntil)},
		{"canary", canary(a.CanaryLanded, a.Canary)},
		{"mode", wire.Visible(string(a.Mode))},
		{"slots", render.Slots(a.SlotsUsed, a.Slots, a.Window)},
		{"adopted", form.AdoptedIn(a)},
		{"waits", fmt.Sprintf("%s on the runways, %s on hold", render.Count(a.Runway), render.Count(a.Holding))},
		{"parked", fmt.Sprintf("%s parked, %s rejected", render.Count(a.Parked), render.Count(a.Rejected))},
		{"in the air", render.Count(a.InAir).String()},
		{"landed", fmt.Sprintf("%s, %s per second", render.Thousands(a.Landed), paced(h, a.Pace))},
		{"acked", render.Thousands(a.Acked)},
		{"drain", drainShown(h, a.State, a.Drain, a.Pace)},
		{"workers", fmt.Sprintf("%d alive, %s in the last hour", a.Workers, plural(a.Deaths, "death"))},
		{"suspects", suspects(a)},
		{"unsent", unsent(a.Unsent)},
	}, next(advice.Next(advice.OfAirport(a)))...)
}

// gateEntry is a row of a gate. above is the state of its airport: nothing flies
// under a stopped one.
func gateEntry(gi governor.GateInfo, h history, above wire.State) entry {
	flies := gi.State
	if above == wire.Stopped || above == wire.Paused {
		flies = above
	}
	perS, _ := h.rate()
	return entry{
		id: gi.Gate, scope: gi.Gate, state: gi.State,
		find: strings.ToLower(gi.Gate + " " + string(gi.State) + " " + gi.Reason),
		keys: []sortKey{{n: rank(gi.State)}, {n: -float64(gi.Runway + gi.Adopted)}, {n: -float64(gi.Parked)}, {n: -perS}, {}},
		cells: func(e eye) []cell {
			_, name, _ := strings.Cut(gi.Gate, "/")
			return []cell{
				{text: wire.Visible(name)}, stateCell(gi.State, e.g), {text: render.Ago(e.now, gi.Since)}, count(gi.Runway), count(gi.InAir),
				{text: spark(h.steps(sparkWidth), sparkWidth, e.g), style: render.Good}, {text: paced(h, gi.Pace)},
				count(gi.Holding), alarming(gi.Parked), {text: drains(h, flies, gi.Drain, gi.Pace)}, count(gi.Rejected),
				{text: fmt.Sprintf("%s of %s", render.Count(gi.InAir), render.Count(gi.WorkersActual))}, {text: adding(form.Why(gi.Reason, gi.Evidence), gi.Adopts != "" && !gi.AdoptedMissing, gi.Adopted)},
			}
		},
		gist: func(e eye) []string {
			return gist(gi.Gate, gi.State, gi.Reason, gi.Evidence, render.Ago(e.now, gi.Since), advice.Next(advice.OfGate(gi)))
		},
		shown: func(e eye) []field { return gateFields(gi, h, flies, e) },
	}
}

func gateFields(gi governor.GateInfo, h history, flies wire.State, e eye) []field {
	return append([]field{
		{"gate", wire.Visible(gi.Gate)},
		{"state", wire.Visible(string(gi.State))},
		{"since", render.Since(e.now, gi.Since)},
		{"reason", wire.Visible(gi.Reason)},
		{"evidence", wire.Visible(gi.Evidence)},
		{"by", wire.Visible(gi.By)},
		{"incident", wire.Visible(gi.Incident)},
		{"next probe", render.Stamp(gi.DelayProbeAt)},
		{"canary", canary(gi.CanaryLanded, gi.Canary)},
		{"adopted", form.AdoptedOf(gi, e.now)},
		{"oldest", form.AgeOf(e.now, gi.Oldest, gi.Runway)},
		{"waits", fmt.Sprintf("%s on the runway, %s on hold", render.Count(gi.Runway), render.Count(gi.Holding))},
		{"parked", fmt.Sprintf("%s parked, %s rejected", render.Count(gi.Parked), render.Count(gi.Rejected))},
		{"in the air", render.Count(gi.InAir).String()},
		{"landed", fmt.Sprintf("%s, %s per second", render.Thousands(gi.Landed), paced(h, gi.Pace))},
		{"acked", render.Thousands(gi.Acked)},
		{"redelivered", form.MarksOf(gi)},
		{"drain", drainShown(h, flies, gi.Drain, gi.Pace)},
		{"ceiling", form.CeilingOf(gi)},
		{"workers", fmt.Sprintf("%d wanted in each process, %d in all", gi.WorkersWanted, gi.WorkersActual)},
		{"differs", differs(gi)},
	}, next(advice.Next(advice.OfGate(gi)))...)
}

func next(lines []string) []field {
	var out []field
	for i, l := range lines {
		name := ""
		if i == 0 {
			name = "next"
		}
		out = append(out, field{name, wire.Visible(l)})
	}
	return out
}

// differs names the processes that have something else than what is wanted.
func differs(gi governor.GateInfo) string {
	var out []string
	for _, p := range gi.Processes {
		if p.Differs(gi) {
			out = append(out, fmt.Sprintf("%s has %s, batches of %d", wire.Visible(p.Process), plural(p.Workers, "worker"), p.Batch))
		}
	}
	return strings.Join(out, "; ")
}

func canary(landed, n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(landed) + " of " + strconv.Itoa(n) + " landed"
}

func suspects(a governor.AirportInfo) string {
	if a.Suspects <= 0 {
		return ""
	}
	return plural(a.Suspects, "flight") + " in the air at a death, to fly alone: tractionctl suspect list " + wire.Visible(a.Airport)
}

func unsent(n int) string {
	if n <= 0 {
		return ""
	}
	return plural(n, "notification") + " that no hook has taken"
}

func plural(n int, noun string) string { return render.Plural(render.Count(n), noun) }
