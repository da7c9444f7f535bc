package status

import (
	"fmt"
	"time"

	"github.com/traction-go/traction/internal/cli/advice"
	"github.com/traction-go/traction/internal/cli/form"
	"github.com/traction-go/traction/internal/cli/render"
	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/governor"
)

// Report is what status says, and its JSON.
type Report struct {
	Namespace string       `json:"namespace"`
	Airports  int          `json:"airports"`
	Gates     int          `json:"gates"`
	Workers   int          `json:"workers"` // live processes
	Towers    int          `json:"towers"`
	Waiting   render.Count `json:"waiting"` // on runways and on hold; null: not all could be read
	Adopted   render.Count `json:"adopted"` // in queues that are adopted
	InAir     render.Count `json:"in_air"`
	Parked    render.Count `json:"parked"`
	Alarms    []string     `json:"alarms"` // what is wrong with the installation itself
	Attention []Item       `json:"attention"`

	adopts bool // a gate adopts a queue
}

// Item is one scope that is not simply open.
type Item struct {
	Scope    wire.Text    `json:"scope"`
	State    wire.Text    `json:"state"`
	Reason   wire.Text    `json:"reason"`
	Evidence wire.Text    `json:"evidence"`
	Since    render.Time  `json:"since"`
	By       wire.Text    `json:"by"`
	Incident wire.Text    `json:"incident"`
	Runway   render.Count `json:"runway"`
	Holding  render.Count `json:"holding"`
	Parked   render.Count `json:"parked"`
	Adopted  render.Count `json:"adopted"`
	Because  wire.Text    `json:"because"` // what else keeps it from being fed
	Next     []string     `json:"next"`

	adopts string // where Adopted waits; "": nothing is adopted
}

// Survey decides what needs attention. It is pure: airports come sorted, the
// strictest first, and stay so.
func Survey(airports []governor.AirportInfo, processes []governor.ProcessInfo) Report {
	r := Report{Airports: len(airports), Alarms: []string{}, Attention: []Item{}}
	for _, p := range processes {
		if p.Tower {
			r.Towers++
		} else {
			r.Workers++
		}
	}
	for _, a := range airports {
		r.Gates += len(a.Gates)
		r.Waiting = add(r.Waiting, add(render.Count(a.Runway), render.Count(a.Holding)))
		r.Adopted = add(r.Adopted, render.Count(a.Adopted))
		r.adopts = r.adopts || form.Adopts(a.Gates)
		r.InAir = add(r.InAir, render.Count(a.InAir))
		r.Parked = add(r.Parked, render.Count(a.Parked))
		r.Attention = append(r.Attention, ofAirport(a)...)
	}
	r.Alarms = append(r.Alarms, alarms(r, airports)...)
	return r
}

// ofAirport gives the airport itself, if it is not open, and each of its gates
// that is not, or that another keeps from being fed; what is parked is told where it is
// put right.
func ofAirport(a governor.AirportInfo) []Item {
	var items []Item
	if a.State != wire.Open {
		items = append(items, whole(a))
	}
	for _, g := range a.Gates {
		if g.State == wire.Open && (a.State == wire.Stopped || a.State == wire.Paused) {
			continue // told with its airport
		}
		item := one(g)
		for _, h := range advice.Holds(g, a) {
			if h.Full {
				continue // it goes on by itself
			}
			if item.Because == "" {
				item.Because = wire.Text(h.Waits())
			}
			item.Next = append(item.Next, h.Next...)
		}
		if g.State != wire.Open || g.Parked > 0 || g.Idle() || g.AdoptedMissing || item.Because != "" {
			items = append(items, item)
		}
	}
	return items
}

// whole is the item of an airport.
func whole(a governor.AirportInfo) Item {
	s := advice.OfAirport(a)
	next := advice.State(s)
	if a.State == wire.Stopped || a.State == wire.Paused {
		next = advice.Next(s)
	}
	item := Item{
		Scope: wire.Text(a.Airport), State: wire.Text(a.State), Reason: wire.Text(a.Reason), Evidence: wire.Text(a.Evidence),
		Since: render.Time(a.Since), By: wire.Text(a.By), Incident: wire.Text(a.Incident), Runway: render.Count(a.Runway),
		Holding: render.Count(a.Holding), Parked: render.Count(a.Parked), Adopted: render.Count(a.Adopted), Next: next,
	}
	if form.Adopts(a.Gates) {
		item.adopts = "queues that are adopted"
	}
	return item
}

// one is the item of a gate.
func one(g governor.GateInfo) Item {
	return Item{
		Scope: wire.Text(g.Gate), State: wire.Text(g.State), Reason: wire.Text(g.Reason), Evidence: wire.Text(g.Evidence),
		Since: render.Time(g.Since), By: wire.Text(g.By), Incident: wire.Text(g.Incident), Runway: render.Count(g.Runway),
		Holding: render.Count(g.Holding), Parked: render.Count(g.Parked), Adopted: form.Adopted(g), Next: advice.Next(advice.OfGate(g)),
		adopts: wire.Visible(g.Adopts),
	}
}

// alarms says what is wrong with the installation itself, whatever the scopes say.
func alarms(r Report, airports []governor.AirportInfo) []string {
	var out []string
	if r.Workers == 0 {
		out = append(out, "NO WORKER IS ALIVE: nothing flies. Start one: "+advice.Start)
	}
	if r.Towers == 0 {
		out = append(out, "NO TOWER IS ALIVE: stops still stop, but nobody is told. A worker runs one unless its config says tower: false")
	}
	for _, a := range airports {
		if r.Workers > 0 && a.Workers == 0 && (a.Runway > 0 || a.Adopted > 0) {
			alarm := fmt.Sprintf("NO WORKER SERVES %s: %s on its runways", wire.Visible(a.Airport), wait(render.Count(a.Runway)))
			if form.Adopts(a.Gates) {
				alarm += fmt.Sprintf(", %s in queues that are adopted", render.Count(a.Adopted))
			}
			out = append(out, alarm)
		}
		if a.Unsent > 0 {
			out = append(out, fmt.Sprintf("NOT NOTIFIED: no hook has taken %s of %s", render.Plural(render.Count(a.Unsent), "notification"), wire.Visible(a.Airport)))
		}
		if a.Runway < 0 || a.Parked < 0 || a.Rejected < 0 || a.Adopted < 0 {
			out = append(out, fmt.Sprintf("NOT COUNTED: the broker did not say what waits at %s, or somebody has a part of its shelves in hand (a look, a backup, a replay)", wire.Visible(a.Airport)))
		}
	}
	return out
}

func wait(n render.Count) string {
	if n == 1 {
		return "1 flight waits"
	}
	return n.String() + " flights wait"
}

// add keeps "could not be read": a sum with a hole in it is no sum.
func add(a, b render.Count) render.Count {
	if a < 0 || b < 0 {
		return governor.Unread
	}
	return a + b
}

// since is when the item got its state.
func (i Item) since() time.Time { return time.Time(i.Since) }
