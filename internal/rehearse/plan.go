package rehearse

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/governor"
	"github.com/traction-go/traction/pkg/settle"
)

const (
	// holdStep is what each rehearsed hold is longer than the one before.
	holdStep = 200 * time.Millisecond
	// holdTotal bounds all of a budget's holds together, about.
	holdTotal = 4 * time.Second

	// leastRate is how many calls a second the slots of a rehearsed airport allow.
	leastRate = 500

	// longestLinger is how long a rehearsed batch waits for others at most.
	longestLinger = 500 * time.Millisecond

	// never is a threshold that no step reaches.
	never = 1_000_000
	// window is the least within which faults count.
	window = 5 * time.Minute
)

// plan is what is flown instead of what is configured.
type plan struct {
	exact     []governor.Airport // as configured, but for the pilots
	rehearsed []governor.Airport
	standIns  []standIn // of the adopted queues
	notes     []string
}

// standIn takes the place of an adopted queue.
type standIn struct {
	Queue   string // the real one
	Name    string // the stand-in's
	Dead    string // the queue behind the stand-in's dead-letter exchange, which has its name; declared where the real one has such an exchange
	Airport string
	Gate    string // the scope that adopts
	Spec    governor.Adoption
}

// newPlan makes both kinds of airports. The airports are whole: with defaults where a
// step needs to know them.
func newPlan(ns wire.Namespace, airports []governor.Airport, b *book, flights int) *plan {
	p := &plan{}
	scaled := map[time.Duration]time.Duration{}
	var windows, lingers, observed, lowered []string
	for _, a := range airports {
		a.Secrets, a.Reporter = nil, report
		a.Holds = holdsOf(a)
		a.Gates = slices.Clone(a.Gates)
		for i, g := range a.Gates {
			g.Reporter = nil
			if g.Pilot != nil {
				g.Pilot = b
			}
			if g.Batch != nil {
				g.Batch = batchOf(*g.Batch, b)
			}
			if g.Adopt != nil {
				s := newStandIn(ns, a.ID, g)
				p.standIns = append(p.standIns, s)
				spec := s.Spec
				g.Adopt = &spec
			}
			a.Gates[i] = g
		}
		p.exact = append(p.exact, a)

		r := a
		r.Holds = scaleHolds(a.Holds, scaled)
		if s := scaleSlots(a.Slots); s != a.Slots {
			windows = append(windows, a.ID)
			r.Slots = s
		}
		if a.Mode == governor.Observe {
			observed = append(observed, a.ID)
		}
		r.Mode = governor.Enforce
		r.Streaks = governor.Streaks{AirportFault: max(a.Streaks.AirportFault, 1), GateFault: or(a.Streaks.GateFault, 3),
			RecordFault: never, Transient: never, Window: max(a.Streaks.Window, window)}
		if r.Streaks.AirportFault > flights || r.Streaks.GateFault > flights {
			lowered = append(lowered, a.ID)
		}
		r.Streaks.AirportFault = min(r.Streaks.AirportFault, flights)
		r.Streaks.GateFault = min(r.Streaks.GateFault, flights)
		r.Gates = slices.Clone(a.Gates)
		for i, g := range r.Gates {
			r.Gates[i].MaxPayload = 0 // the rehearsal's payloads are its own
			if g.Batch != nil && g.Batch.Linger > longestLinger {
				short := *g.Batch
				short.Linger = longestLinger
				r.Gates[i].Batch = &short
				lingers = append(lingers, a.ID+"/"+g.ID)
			}
		}
		p.rehearsed = append(p.rehearsed, r)
	}
	p.notes = append(p.notes, "no vendor is called: every pilot is the rehearsal's own")
	if len(scaled) > 0 {
		p.notes = append(p.notes, "holds are declared as configured and flown shortened: "+scaling(scaled))
	}
	note := func(format string, ids []string) {
		if len(ids) > 0 {
			p.notes = append(p.notes, fmt.Sprintf(format, strings.Join(ids, ", ")))
		}
	}
	note("the slots' window is shortened: %s", windows)
	note("batches linger for "+longestLinger.String()+": %s", lingers)
	note("mode observe is flown as enforce: %s", observed)
	note(fmt.Sprintf("thresholds of stops are lowered to %d, the flights of a step: %%s", flights), lowered)
	p.notes = append(p.notes, "bad records and transient failures stop and delay nothing: the steps are about where flights go")
	return p
}

// batchOf is a batch that the book flies. What is a twin is the book's to say too: what
// the configuration's key makes of a rehearsal's payload is chance.
func batchOf(batch governor.Batch, b *book) *governor.Batch {
	batch.Pilot = b
	if batch.Dedupe != nil {
		batch.Dedupe = b.twin
	}
	return &batch
}

// maxQueue is the longest name of a queue, in bytes.
const maxQueue = 255

func newStandIn(ns wire.Namespace, airport string, g governor.Gate) standIn {
	// Beside the namespace, not in it: a gate cannot adopt what is Traction's own.
	name := string(ns) + "-adopted." + g.Adopt.Queue
	dead := string(ns) + "-dead." + g.Adopt.Queue
	s := standIn{Queue: g.Adopt.Queue, Name: cut(name), Dead: cut(dead), Airport: airport, Gate: airport + "/" + g.ID, Spec: *g.Adopt}
	s.Spec.Queue = s.Name
	return s
}

func cut(name string) string { return strings.ToValidUTF8(name[:min(len(name), maxQueue)], "") }

// fed is the gate that a value of the route sends to.
func (s standIn) fed(value string) string {
	r := s.Spec.Route
	if r == nil {
		return s.Gate
	}
	if gate, ok := r.Gates[value]; ok {
		return s.Airport + "/" + gate
	}
	if r.Default == "" {
		return s.Gate
	}
	return s.Airport + "/" + r.Default
}

// gates are all that the queue feeds, in the order of the alphabet.
func (s standIn) gates() []string {
	all := map[string]bool{s.fed(""): true}
	if s.Spec.Route != nil {
		for _, gate := range s.Spec.Route.Gates {
			all[s.Airport+"/"+gate] = true
		}
	}
	return sorted(all)
}

func or[T comparable](v, def T) T {
	var zero T
	if v == zero {
		return def
	}
	return v
}

// answer is what a scripted call answers.
type answer settle.Outcome

func (a answer) Error() string { return "the rehearsal's pilot answers " + settle.Outcome(a).String() }

// report takes the book's answers for what they are.
func report(_ context.Context, _ governor.Meta, err error) governor.Report {
	var a answer
	if errors.As(err, &a) {
		return governor.Report{Outcome: settle.Outcome(a), Err: err}
	}
	return governor.DefaultReporter(context.Background(), governor.Meta{}, err)
}
