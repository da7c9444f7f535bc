package governor

import (
	"context"
	"fmt"
	"slices"

	"github.com/traction-go/traction/internal/wire"
)

// fleet looks at who lives and what waits for them.
func (d *doctor) fleet(ctx context.Context) {
	if !d.storeUp {
		return
	}
	ps, err := d.g.Processes(ctx)
	if err != nil {
		d.say(LevelNote, "processes", "", "they could not be listed: "+err.Error(), "")
		return
	}
	towers, workers := 0, 0
	for _, p := range ps {
		if p.Tower {
			towers++
		} else {
			workers++
		}
	}
	if !d.brokerUp {
		d.say(LevelNote, "processes", "", fmt.Sprintf("%d workers and %d towers are alive", workers, towers), "")
		return
	}
	if d.known, err = d.g.Airports(ctx); err != nil {
		d.say(LevelNote, "airports", "", "they could not be read: "+err.Error(), "")
		return
	}
	if len(d.known) == 0 {
		d.say(LevelNote, "namespace", "", fmt.Sprintf("%s: no airport is declared in it yet", d.g.ns), "start a worker; or, if there should be airports, check the namespace")
	} else {
		d.say(LevelOK, "namespace", "", fmt.Sprintf("%s: %s", d.g.ns, count(len(d.known), "airport")), "")
	}
	switch {
	case towers > 0:
		d.say(LevelOK, "towers", "", count(towers, "tower")+" alive", "")
	case len(d.known) > 0:
		d.say(LevelWarning, "towers", "", "none is alive: stops hold, but nobody is told of one", "start a worker with its tower on")
	}
	for _, a := range d.known {
		d.airport(a)
	}
	d.aside(ctx, d.g.ns.UnreadableQueue(), "what no tower could place or read", "look into it with a queue backup; publish again what is wanted")
	if towers == 0 {
		d.aside(ctx, d.g.ns.LimitQueue(), "flights over the delivery limit", "start a tower: it parks them")
		d.aside(ctx, d.g.ns.UnroutableQueue(), "flights back from a hold without a runway", "start a tower: it moves them on")
	}
}

func (d *doctor) airport(a AirportInfo) {
	switch a.State {
	case wire.Unknown:
		d.say(LevelWarning, "airport", a.Airport, "the store has no status of it, and the broker remembers it: the store lost something", "start its worker; then reopen it, once you know that it may fly")
	case wire.Removing:
		d.say(LevelWarning, "airport", a.Airport, "a removal ended half-way", "run the removal again, or reopen it to take it back")
	}
	for _, gate := range a.Gates {
		if gate.State == wire.Removing {
			d.say(LevelWarning, "gate", gate.Gate, "a removal ended half-way", "run the removal again, or reopen it to take it back")
		}
	}
	switch waiting := sum(sum(a.Runway, a.Holding), a.Adopted); {
	case a.Workers > 0:
		d.say(LevelOK, "workers", a.Airport, count(a.Workers, "worker")+" alive", "")
	case waiting > 0:
		d.say(LevelWarning, "workers", a.Airport, fmt.Sprintf("none is alive, and %s", count(waiting, "flight")+" waiting"), "start one")
	default:
		d.say(LevelNote, "workers", a.Airport, "none is alive", "start one, or remove the airport")
	}
	if a.Unsent > 0 {
		d.say(LevelWarning, "notifications", a.Airport, count(a.Unsent, "notification")+" that no hook has taken", "look at the log of a tower: its hook must answer 2xx")
	}
	if a.Deaths > 0 {
		d.say(LevelNote, "deaths", a.Airport, count(a.Deaths, "death")+" of workers in the last hour", "")
	}
}

// aside tells of a queue that should be empty.
func (d *doctor) aside(ctx context.Context, queue, what, fix string) {
	n, exists, err := d.g.bk.Depth(ctx, queue)
	if err != nil {
		d.say(LevelNote, "queue", queue, "it could not be counted: "+err.Error(), "")
	} else if exists && n > 0 {
		d.say(LevelWarning, "queue", queue, fmt.Sprintf("%s: %d", what, n), fix)
	}
}

func count(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}

// gates gives the gates that the store knows and those that are wanted.
func (d *doctor) gates() (known, wanted []wire.Scope) {
	for _, a := range d.known {
		for _, g := range a.Gates {
			if sc, err := wire.ParseGate(g.Gate); err == nil && g.State != wire.Removing {
				known = append(known, sc)
			}
		}
	}
	for _, a := range d.airports {
		for _, g := range a.Gates {
			if sc := (wire.Scope{Airport: a.ID, Gate: g.ID}); !slices.Contains(known, sc) {
				wanted = append(wanted, sc)
			}
		}
	}
	return known, wanted
}
