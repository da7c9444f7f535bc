package form

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/traction-go/traction/internal/cli/render"
	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/governor"
)

// PerSecond writes a rate with as many digits as say something: 830/s, 1.4/s, 0.44/s,
// and by the hour what is slower than one a minute.
func PerSecond(r float64) string {
	switch {
	case r <= 0:
		return "0/s"
	case r < 1.0/60:
		return strconv.FormatFloat(r*3600, 'f', 1, 64) + "/h"
	case r < 1:
		return strconv.FormatFloat(r, 'f', 2, 64) + "/s"
	case r < 100:
		return strconv.FormatFloat(r, 'f', 1, 64) + "/s"
	}
	return render.Thousands(int64(r+0.5)) + "/s"
}

// Pace writes what was measured, over how long: "1.4/s over the last 10m".
func Pace(p governor.Pace) string {
	if !p.Known() {
		return ""
	}
	return PerSecond(p.PerSecond) + " over the last " + render.Rough(p.Over)
}

// DrainOf says when what waits will be done; "" where nothing waits or nothing flies.
func DrainOf(d time.Duration, p governor.Pace) string {
	switch {
	case d == 0:
		return ""
	case d > 0:
		return "about " + render.Rough(d) + " (" + Pace(p) + ")"
	case !p.Known():
		return "unknown until more of it has flown"
	case p.PerSecond == 0:
		return "unknown: nothing has left the runway for " + render.Rough(p.Over)
	}
	return "unknown (" + Pace(p) + ")"
}

// CeilingOf says what bounds a gate, and what would help; "" where that is not known.
func CeilingOf(g governor.GateInfo) string {
	switch c := g.Ceiling; c.By {
	case governor.ByWorkers:
		batch := ""
		if g.Batch > 1 {
			batch = fmt.Sprintf(" x %d flights", g.Batch)
		}
		return fmt.Sprintf("%s%s x %s a call: %s; more workers help until the vendor slows",
			render.Plural(render.Count(g.WorkersActual), "worker"), batch, call(g.Call), PerSecond(c.PerSecond))
	case governor.BySlots:
		return fmt.Sprintf("slots %d/%s are the ceiling: %s, for all gates of the airport together", c.Slots, wire.ShortDuration(c.Window), PerSecond(c.PerSecond))
	case governor.ByThrottle:
		return "throttled until " + render.Stamp(c.Until) + ": the vendor asked for that"
	case governor.ByDelay:
		return "one probe at a time, until the vendor is back"
	case governor.ByCanary:
		return "the flights of the canary, until they have landed"
	}
	return ""
}

// call writes how long a call takes, to two digits or so.
func call(d time.Duration) string {
	switch {
	case d < time.Second:
		return wire.ShortDuration(max(d.Round(time.Millisecond), time.Millisecond))
	case d < 10*time.Second:
		return strconv.FormatFloat(d.Round(100*time.Millisecond).Seconds(), 'f', -1, 64) + "s"
	}
	return wire.ShortDuration(d.Round(time.Second))
}

// MarksOf splits what came marked as redelivered; "" where nothing did.
func MarksOf(g governor.GateInfo) string {
	if g.Fresh == 0 && g.Scars == 0 {
		return ""
	}
	return fmt.Sprintf("%s fresh: this fleet returned, held or failed them; %s old scars: marked before it saw them, and a mark stays for ever",
		render.Thousands(g.Fresh), render.Thousands(g.Scars))
}

// Acked writes the total of what left a runway.
func Acked(n int64) string {
	return render.Thousands(n) + " left the runway, for good or to come back"
}

// AgeOf says how old the oldest waiting message is; "" where none of n waits.
func AgeOf(now, made time.Time, n int) string {
	switch {
	case n == 0:
		return ""
	case made.IsZero():
		return "unknown"
	}
	return render.Ago(now, made)
}

// AdoptedOf says what waits in the queue that a gate adopts; "" where it adopts none.
func AdoptedOf(g governor.GateInfo, now time.Time) string {
	if g.Adopts == "" {
		return ""
	}
	if g.AdoptedMissing {
		return "NOT THERE: no queue is named " + wire.Visible(g.Adopts)
	}
	s := fmt.Sprintf("%s wait in %s", render.Count(g.Adopted), wire.Visible(g.Adopts))
	if age := AgeOf(now, g.AdoptedOldest, g.Adopted); age != "" {
		s += ", the age of the first is " + age
	}
	return s
}

// AdoptedIn says what waits in the queues that an airport's gates adopt, and which of
// them are not there; "" where they adopt none.
func AdoptedIn(a governor.AirportInfo) string {
	if !Adopts(a.Gates) {
		return ""
	}
	s := render.Count(a.Adopted).String() + " wait in queues that are adopted"
	for _, g := range a.Gates {
		if g.AdoptedMissing {
			s += "; NOT THERE: " + wire.Visible(g.Adopts)
		}
	}
	return s
}

// Adopts reports whether one of the gates adopts a queue.
func Adopts(gates []governor.GateInfo) bool {
	return slices.ContainsFunc(gates, func(g governor.GateInfo) bool { return g.Adopts != "" })
}

// Adopted counts what waits in the gate's adopted queue; one that is not there has no
// count.
func Adopted(g governor.GateInfo) render.Count {
	if g.AdoptedMissing {
		return governor.Unread
	}
	return render.Count(g.Adopted)
}

// Ceiling is what bounds a gate now.
type Ceiling struct {
	By    string      `json:"by"` // workers, slots, throttle, delay, canary; "": not known
	PerS  *float64    `json:"per_s"`
	Until render.Time `json:"until"`
}

func ceiling(c governor.Ceiling) Ceiling {
	return Ceiling{By: string(c.By), PerS: some(c.PerSecond, c.PerSecond > 0), Until: render.Time(c.Until)}
}

// some gives a number, or null.
func some(v float64, known bool) *float64 {
	if !known {
		return nil
	}
	return &v
}
