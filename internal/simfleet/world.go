package simfleet

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/alicebob/miniredis/v2"

	"github.com/traction-go/traction/internal/broker/memory"
	"github.com/traction-go/traction/internal/store"
	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/governor"
)

// kind is what a flight does when it is flown.
type kind string

const (
	lands kind = "lands"
	flaky kind = "flaky" // fails transiently once or twice first
	bad   kind = "bad"   // a record that is rejected
	pill  kind = "pill"  // kills its worker
)

// flight is the truth about one flight. The World's lock guards it.
type flight struct {
	id    string // its flight id and business id
	gate  string // airport/gate
	kind  kind
	lasts time.Duration
	fails int // of a flaky one, still to come

	attempts int
	landed   bool
	inAir    map[*process]bool
	kills    []*process // that a pill killed, not leaving
}

// World is one run. Everything in it lives in one bubble of virtual time.
type World struct {
	plan   Plan
	log    *slog.Logger
	broker *memory.Broker
	redis  *miniredis.Miniredis
	desk   *governor.Governor
	ns     wire.Namespace
	wg     sync.WaitGroup

	mu        sync.Mutex
	rnd       *rand.Rand
	flights   map[string]*flight
	slots     []*process // the process in each place of the fleet; nil: none now
	procs     []*process
	steps     int       // kills at a step that are left
	lastFault time.Time // when the last thing went wrong
	storeAway bool
	told      map[string]int // notifications of pills, by key
	over      bool
	story     []string
	wrong     []string // what was checked and did not hold
}

func newWorld(p Plan, log *slog.Logger) (*World, error) {
	w := &World{plan: p, log: log, ns: wire.DefaultNamespace, broker: memory.NewBroker(), redis: miniredis.NewMiniRedis(),
		rnd: rand.New(rand.NewPCG(p.Seed, 7)), flights: map[string]*flight{}, told: map[string]int{}, steps: p.StepKills, slots: make([]*process, p.Workers+1)}
	w.redis.ClockTTL(true)
	st, err := w.openStore(func(context.Context, string, string) (net.Conn, error) { return w.redis.Dial() })
	if err != nil {
		return nil, err
	}
	w.desk, err = governor.Open(context.Background(), governor.Config{Name: "desk", Namespace: string(w.ns), Logger: log}.
		WithServices(governor.Services{Broker: w.broker.Dial(), Store: st}))
	return w, err
}

func (w *World) openStore(dial func(context.Context, string, string) (net.Conn, error)) (*store.Store, error) {
	return store.Open(store.Config{URLs: []string{"redis://127.0.0.1:6379"}, Namespace: w.ns, Dialer: dial, PoolSize: 1000})
}

// chance and between draw from the plan's source.
func (w *World) chance(p float64) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.rnd.Float64() < p
}

func (w *World) between(a, b time.Duration) time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	return a + time.Duration(w.rnd.Int64N(int64(b-a)+1))
}

// note adds a line to the story. The caller holds the lock.
func (w *World) note(format string, args ...any) {
	w.story = append(w.story, fmt.Sprintf("%8.3fs ", time.Since(bubbleStart).Seconds())+fmt.Sprintf(format, args...))
}

var bubbleStart = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// fault notes that something goes wrong now. The caller holds the lock.
func (w *World) fault(format string, args ...any) {
	if now := time.Now(); now.After(w.lastFault) {
		w.lastFault = now
	}
	w.note(format, args...)
}

// broken records what should not be. The caller holds the lock.
func (w *World) broken(format string, args ...any) {
	m := fmt.Sprintf(format, args...)
	w.wrong = append(w.wrong, m)
	w.note("!!! %s", m)
}

// deathsOf reads how many deaths the store knows of a flight, and checks that each is
// one: of a process that is dead, or was without the store for long, and did not leave
// in good order. The caller holds the lock.
func (w *World) deathsOf(f *flight) int {
	airport, _, _ := strings.Cut(f.gate, "/")
	entries, _, _ := strings.Cut(w.redis.HGet(w.ns.Keys(airport).Deaths(), f.id), "!")
	n := 0
	for e := range strings.SplitSeq(entries, ",") {
		worker, _, ok := strings.Cut(e, "@")
		if !ok {
			continue
		}
		n++
		p := w.named(worker)
		switch {
		case p == nil:
			w.broken("flight %s: a death of the unknown worker %s", f.id, worker)
		case !p.wasCut.IsZero():
		case !p.dead:
			w.broken("flight %s: %s counts as dead and lives", f.id, p.name)
		case p.leaving && w.plan.Outages == 0:
			w.broken("flight %s: %s left in good order and counts as a death", f.id, p.name)
		}
	}
	return n
}

// named finds the process of a worker's id or incarnation. The caller holds the lock.
func (w *World) named(worker string) *process {
	name, _, _ := strings.Cut(worker, "-")
	for _, p := range w.procs {
		if p.name == name {
			return p
		}
	}
	return nil
}

// notify is the hook of every tower that lives.
func (w *World) notify(p *process, n governor.Notification) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if p.dead {
		return errGone
	}
	if n.Type == wire.PoisonPill {
		w.told[n.Key]++
	}
	return nil
}
