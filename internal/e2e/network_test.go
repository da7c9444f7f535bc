//go:build unix

package e2e

import (
	"strings"
	"testing"
	"time"

	"github.com/traction-go/traction/internal/testsvc"
	"github.com/traction-go/traction/pkg/governor"
)

// outage is longer than a worker may be silent before it counts as dead: ten beats.
const outage = 6 * time.Second

// inTheAir is what three workers with four pilots each have in the air at most.
const inTheAir = 12

// strained is a fleet under load whose network to one service misbehaves.
type strained struct {
	*site
	wires *wires
	what  string // the service as /readyz names it
	n     int    // dispatched
}

// strain starts three workers that reach the broker or the store through wires.
func strain(t *testing.T, s *site, what string) *strained {
	t.Helper()
	f := &strained{site: s, what: what}
	amqpURL, redisURL := s.amqp, s.redis
	if what == "broker" {
		f.wires = between(t, s.amqp)
		s.amqp = f.wires.url
	} else {
		f.wires = between(t, s.redis)
		s.redis = f.wires.url
	}
	s.vendor.saying(paced(20 * time.Millisecond))
	file := s.config("traction.yaml", oneGate, "heartbeat: 500ms")
	s.amqp, s.redis = amqpURL, redisURL
	s.look() // its end belongs to the whole test
	s.start(3, file)
	return f
}

// under breaks the network in the middle of a load, of which half comes while it is
// broken, and holds the fleet to its promises afterwards: all of it has landed, nothing
// waits, and nobody was told of anything.
func (f *strained) under(t *testing.T, load int, wrong func()) {
	t.Helper()
	f.wires.t, f.t = t, t
	from := f.n
	f.n += load
	f.dispatch(contacts, "c", from, from+load/2)
	f.vendor.lands(t, from+load/6)
	wrong()
	f.dispatch(contacts, "c", from+load/2, f.n)
	f.wires.heal()
	f.vendor.lands(t, f.n)
	f.until("an empty runway", func() bool {
		a := f.look()
		return a.State == governor.OpenState && a.Runway == 0 && a.InAir == 0 && a.Holding == 0
	})
	for id := range f.sent {
		if f.vendor.landed()[id] == 0 {
			t.Errorf("%s has not landed", id)
		}
	}
	if list := f.incidents(); len(list) != 0 {
		t.Errorf("incidents: %+v", list)
	}
	if list := f.hook.of(""); len(list) != 0 {
		t.Errorf("told of %+v", list)
	}
	for _, w := range f.workers {
		if w.gone() {
			t.Errorf("a worker has ended: %v", w.stat)
		}
	}
}

// noticed waits until every worker's readiness says that the service is away.
func (f *strained) noticed() {
	f.t.Helper()
	for _, w := range f.workers {
		f.until("a worker to miss the "+f.what, func() bool {
			code, text := w.get("/readyz")
			return code == 503 && strings.Contains(text, "the "+f.what+" is unreachable")
		})
	}
}

// away is an outage that everybody has noticed: without the store nothing is called.
func (f *strained) away() {
	f.t.Helper()
	f.noticed()
	f.until("the air to be clear", func() bool { return f.vendor.air() == 0 })
	before := f.vendor.count()
	f.stays("no call", outage, func() bool { return f.what == "broker" || f.vendor.count() == before })
}

// more waits for n further landings.
func (f *strained) more(n int) { f.t.Helper(); f.vendor.lands(f.t, len(f.vendor.landed())+n) }

// ends reads the books.
func (f *strained) ends(t *testing.T) {
	t.Helper()
	f.t, f.wires.t = t, t
	b := f.close(false)
	twice := 0
	for _, n := range b.landed {
		twice += n - 1
	}
	if len(b.landed) != f.n || len(b.queued)+len(b.parked)+len(b.rejected) > 0 || twice > inTheAir {
		t.Errorf("%d landed, %d of them twice, %d are queued, %d parked, %d rejected; want all %d landed, and %d twice at most",
			len(b.landed), twice, len(b.queued), len(b.parked), len(b.rejected), f.n, inTheAir)
	}
}

// faults are what a network does to a service, one after another on one fleet.
func (f *strained) faults(t *testing.T) {
	for _, tt := range []struct {
		name  string
		load  int
		wrong func()
	}{
		{"cut", 300, func() { f.wires.cut(); f.away() }},
		{"cut again and again", 600, func() {
			for range 4 {
				f.wires.cut()
				f.wires.heal()
				f.more(40)
			}
		}},
		{"cut half-way", 600, func() { f.wires.snap(16 << 10); f.more(60) }},
		{"slow", 300, func() { f.wires.slow(100*time.Millisecond, 50*time.Millisecond); f.more(50) }},
		{"half-open", 300, func() { f.wires.freeze(); f.away() }},
	} {
		if !t.Run(tt.name, func(t *testing.T) { f.under(t, tt.load, tt.wrong) }) {
			break
		}
	}
	f.ends(t)
}

func TestTheNetworkToTheBroker(t *testing.T) {
	t.Parallel()
	testsvc.Need(t)
	// A half-open connection is told by its heartbeats, which are the broker's to scale.
	broker := testsvc.RabbitMQ(t, "heartbeat = 2")
	strain(t, newSite(t, broker.URL(), ""), "broker").faults(t)
}

func TestTheNetworkToTheStore(t *testing.T) {
	t.Parallel()
	strain(t, newSite(t, "", ""), "store").faults(t)
}
