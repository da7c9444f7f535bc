package simfleet

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/traction-go/traction/pkg/governor"
	"github.com/traction-go/traction/pkg/settle"
)

// Plan is what a seed stands for.
type Plan struct {
	Seed     uint64
	Profile  string
	Workers  int
	Pilots   int  // of each gate
	Towers   bool // workers run towers too; one process always is one alone
	Airports int
	Flights  int
	Pills    int
	Long     bool // some flights last longer than a death takes to be known
	Batch    int  // flights in one call; 0: each by itself

	Heartbeat time.Duration
	Grace     time.Duration
	Faults    time.Duration // until when things go wrong

	Kills, Deploys, Channels, Outages, Cuts int
	StepKills                               int
	StepChance                              float64
	LoseReplies                             float64
}

// Profiles are the kinds of trouble, in the order in which seeds take them.
var Profiles = []string{"pills", "kills", "pills+kills", "deploys", "channels", "store", "cuts", "pills+deploys", "pills+store+channels", "all"}

// PlanOf makes the plan of a seed. profile "" lets the seed choose.
func PlanOf(seed uint64, profile string) Plan {
	if profile == "" {
		profile = Profiles[seed%uint64(len(Profiles))]
	}
	r := rand.New(rand.NewPCG(seed, 1))
	p := Plan{Seed: seed, Profile: profile, Workers: 2 + r.IntN(3), Pilots: 1 + r.IntN(6), Towers: r.IntN(2) == 0, Airports: 1 + r.IntN(2),
		Flights: 10 + r.IntN(60), Heartbeat: time.Second, Grace: []time.Duration{2, 10, 30}[r.IntN(3)] * time.Second,
		Faults: time.Duration(20+r.IntN(60)) * time.Second}
	has := func(names ...string) bool {
		for _, n := range append(names, "all") {
			if n == profile {
				return true
			}
		}
		return false
	}
	if has("pills", "pills+kills", "pills+deploys", "pills+store+channels") {
		p.Pills = 1 + r.IntN(3)
	}
	if has("kills", "pills+kills") {
		p.Kills, p.StepKills = 1+r.IntN(4), r.IntN(6)
		p.StepChance = []float64{0.002, 0.01, 0.05}[r.IntN(3)]
	}
	if has("deploys", "pills+deploys") {
		p.Deploys = 1 + r.IntN(5)
	}
	if has("channels", "pills+store+channels") {
		p.Channels = 1 + r.IntN(8)
	}
	if has("store", "pills+store+channels") {
		p.Outages, p.LoseReplies = 1+r.IntN(3), 0.01
	}
	if has("cuts") {
		p.Cuts = 1 + r.IntN(4)
	}
	p.Long = profile != "pills" && r.IntN(2) == 0
	if r.IntN(2) == 0 {
		p.Batch = 2 + r.IntN(9)
	}
	return p
}

const gateName = "contacts"

func airportName(i int) string { return fmt.Sprintf("crm:a%d", i) }

// airports is what a worker serves.
func (p Plan) airports(by *process) []governor.Airport {
	var all []governor.Airport
	for i := range p.Airports {
		all = append(all, governor.Airport{
			ID:      airportName(i),
			Streaks: governor.Streaks{RecordFault: 1000, GateFault: 1000, Transient: 1000},
			Holds:   settle.Policy{Transient: []time.Duration{5 * time.Second, 10 * time.Second, 20 * time.Second}},
			Gates: []governor.Gate{{ID: gateName, Workers: p.Pilots, Timeout: 90 * time.Second, Pilot: governor.PilotFunc(by.fly), Batch: p.batch(by),
				Reporter: func(ctx context.Context, m governor.Meta, err error) governor.Report {
					switch {
					case errors.Is(err, errBad):
						return governor.FlightFault(err)
					case err != nil:
						return governor.Transient(err)
					}
					return governor.Landed()
				}}},
		})
	}
	return all
}

// batch is how the gate flies several at once; nil: it does not.
func (p Plan) batch(by *process) *governor.Batch {
	if p.Batch == 0 {
		return nil
	}
	return &governor.Batch{Size: p.Batch, Pilot: governor.BatchPilotFunc(by.flyBatch)}
}

// schedule lets the faults come. It returns at once.
func (w *World) schedule() {
	p := w.plan
	r := rand.New(rand.NewPCG(p.Seed, 2))
	span := int64(p.Faults - calm)
	within := func(a, b time.Duration) time.Duration { return a + time.Duration(r.Int64N(int64(b-a)+1)) }
	after := func(d time.Duration, f func()) { w.wg.Go(func() { time.Sleep(d); f() }) }
	times := func(n int, f func()) {
		for range n {
			after(calm+time.Duration(r.Int64N(span)), f)
		}
	}
	times(p.Kills, func() { w.pick(func(q *process) { q.kill("kill -9", nil) }) })
	gap := within(0, 8*time.Second)
	times(p.Deploys, func() {
		for place := range p.Workers {
			after(time.Duration(place)*gap, func() {
				w.mu.Lock()
				q := w.slots[place]
				w.mu.Unlock()
				if q != nil {
					q.deploy()
				}
			})
		}
	})
	for range p.Channels {
		d := within(0, 5*time.Second)
		times(1, func() { w.pick(func(q *process) { q.loseChannel(d) }) })
	}
	for range p.Outages {
		d := within(time.Second, 40*time.Second)
		times(1, func() { w.storeOutage(d) })
	}
	for range p.Cuts {
		d, both := within(time.Second, 40*time.Second), r.IntN(2) == 0
		times(1, func() {
			w.pick(func(q *process) {
				q.loseStore(d)
				if both {
					q.loseChannel(d / 2)
				}
			})
		})
	}
}

// pick does f with a process, a worker or the tower, that is there.
func (w *World) pick(f func(*process)) {
	w.mu.Lock()
	q := w.slots[w.rnd.IntN(len(w.slots))]
	w.mu.Unlock()
	if q != nil {
		f(q)
	}
}

// cargo makes the flights.
func (w *World) cargo() {
	r := rand.New(rand.NewPCG(w.plan.Seed, 3))
	base := []time.Duration{20 * time.Millisecond, 200 * time.Millisecond, time.Second, 4 * time.Second}[r.IntN(4)]
	for i := range w.plan.Flights + w.plan.Pills {
		f := &flight{id: fmt.Sprintf("00000000-0000-7000-8000-%012d", i), gate: airportName(r.IntN(w.plan.Airports)) + "/" + gateName, kind: lands,
			lasts: base/4 + time.Duration(r.Int64N(int64(base))), inAir: map[*process]bool{}}
		switch {
		case i >= w.plan.Flights:
			f.kind = pill
		case r.IntN(15) == 0:
			f.kind, f.fails = flaky, 1+r.IntN(2)
		case r.IntN(20) == 0:
			f.kind = bad
		case w.plan.Long && r.IntN(8) == 0:
			f.lasts = 10*time.Second + time.Duration(r.Int64N(int64(50*time.Second)))
		}
		w.flights[f.id] = f
	}
}
