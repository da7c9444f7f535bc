package governor

import (
	"context"
	"fmt"
	"slices"

	"github.com/traction-go/traction/internal/wire"
)

// adoptions looks whether the queues that are adopted, or are to be, are there: they are
// never declared here, and a name that is mistyped is waited for without end.
func (d *doctor) adoptions(ctx context.Context) {
	type adoption struct{ gate, queue string }
	var all []adoption
	add := func(gate, queue string) {
		if x := (adoption{gate, queue}); queue != "" && !slices.Contains(all, x) {
			all = append(all, x)
		}
	}
	for _, a := range d.known {
		for _, g := range a.Gates {
			add(g.Gate, g.Adopts)
		}
	}
	for _, a := range d.airports {
		for _, g := range a.Gates {
			add(wire.Scope{Airport: a.ID, Gate: g.ID}.String(), adopted(g))
		}
	}
	there := 0
	for _, x := range all {
		n, missing := d.g.adoptedAt(ctx, x.queue)
		switch {
		case missing:
			d.say(LevelSerious, "adopted queue", x.queue, "it is not there, and gate "+x.gate+" adopts it: nothing comes to the gate from it",
				"let its owner declare it, the worker takes it up by itself; or correct the name in adopt, and restart the worker")
		case n == Unread:
			d.say(LevelNote, "adopted queue", x.queue, "it could not be counted; gate "+x.gate+" adopts it", "")
		default:
			there++
		}
	}
	if there > 0 {
		d.say(LevelOK, "adopted queue", "", fmt.Sprintf("%s that gates adopt: there", count(there, "queue")), "")
	}
}
