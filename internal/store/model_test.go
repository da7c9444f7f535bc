package store_test

import (
	"context"
	"flag"
	"math/rand/v2"
	"net"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	"github.com/traction-go/traction/internal/store"
	"github.com/traction-go/traction/internal/testsvc"
	"github.com/traction-go/traction/internal/wire"
)

var (
	modelSeed  = flag.Uint64("store.seed", 1, "first seed of the histories; 0 for a random one")
	modelSeeds = flag.Int("store.seeds", 0, "number of histories on each store; 0 for a few")
	modelTrace = flag.Bool("store.trace", false, "print what happened, of each history")
)

// embedded is a miniredis whose clock the history sets.
type embedded struct{ m *miniredis.Miniredis }

func (e embedded) setTime(ms int64) { e.m.SetTime(time.UnixMilli(ms)) }
func (e embedded) store(t testing.TB, d func(context.Context, string, string) (net.Conn, error)) *store.Store {
	return dialed(t, e.m.Addr(), "tr", d)
}

// server is a real store: the scripts read their clock from a key of the test's.
type server struct {
	addr string
	ns   wire.Namespace
	raw  *redis.Client
}

func (s server) setTime(ms int64) {
	pipe := s.raw.TxPipeline()
	pipe.Del(context.Background(), store.ClockKey)
	pipe.RPush(context.Background(), store.ClockKey, ms/1000, ms%1000*1000)
	_, _ = pipe.Exec(context.Background()) // a failure shows in the script that reads it
}
func (s server) store(t testing.TB, d func(context.Context, string, string) (net.Conn, error)) *store.Store {
	return dialed(t, s.addr, s.ns, d)
}

func dialed(t testing.TB, addr string, ns wire.Namespace, d func(context.Context, string, string) (net.Conn, error)) *store.Store {
	c := store.Config{URLs: []string{"redis://" + addr}, Namespace: ns, Dialer: d, PoolSize: 1}
	if d == nil {
		c.Timeout = time.Minute // an embedded store on a busy machine takes seconds for a large call
	}
	s, err := store.Open(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// history lives one random history and returns what broke.
func history(t testing.TB, d disk, raw *redis.Client, ns wire.Namespace, seed uint64, p profile) *world {
	w := &world{t: t, rng: rand.New(rand.NewPCG(seed, uint64(len(p.name)))), profile: p, disk: d, raw: raw, ns: ns, keys: ns.Keys(modelAirport),
		markers: map[string]bool{}, runway: map[string][]string{}, parked: map[string][]string{}, landed: map[string]int{},
		truth: map[string]*truth{"": {}}, lost: map[string]string{}, sent: map[string]int{}, mode: "well", lastBad: "no loss", lossAt: -1}
	w.gates = []string{"contacts", "deals"}[:1+w.n(2)]
	for _, g := range w.gates {
		w.truth[g] = &truth{}
		for range 6 {
			w.newFlight(g)
		}
	}
	for i := range 2 + w.n(2) {
		q := &proc{w: w, index: int(i)}
		switch i {
		case 0:
			q.worker, q.tower = true, w.one(2)
		case 1:
			q.tower, q.worker = true, w.one(3)
		default:
			q.worker = w.n(3) > 0
			q.tower = !q.worker
		}
		w.procs = append(w.procs, q)
		q.st = nil
		w.after(w.n(2*second), q.start)
	}
	w.procs[0].st = w.disk.store(t, func(ctx context.Context, network, addr string) (net.Conn, error) {
		c, err := (&net.Dialer{}).DialContext(ctx, network, addr)
		return link{c, &w.procs[0].lose}, err
	})
	w.keepImages()
	w.watch()
	quiet := 4 * second
	if !p.people {
		quiet = 12 * second
	}
	w.after(quiet, w.trouble)
	w.run(quiet + (20+w.n(40))*second)
	w.end()
	return w
}

// end checks what a calm must bring.
func (w *world) end() {
	w.calm, w.awayU = true, 0
	for _, p := range w.procs {
		p.cutU = 0
	}
	w.log("calm")
	w.run(45 * second)
	if !w.people {
		w.allOpen("the healthy fleet did not come back by itself")
		w.allFly()
		return
	}
	w.replay()
	var canaries []string
	for _, g := range w.scopes() {
		if st := w.stored(g); st.State == wire.Canary && !st.Paused {
			canaries = append(canaries, g)
		}
	}
	w.run(60 * second)
	airport := w.stored("")
	open := airport.State == wire.Open && !airport.Paused
	for _, g := range canaries {
		st := w.stored(g)
		flies := g != "" && open
		for _, x := range w.gates {
			gs := w.stored(x)
			flies = flies || g == "" && gs.State == wire.Open && !gs.Paused
		}
		if st.State == wire.Canary && !st.Paused && flies {
			w.bad("the canary of %q does not end: %d of %d landed", g, st.CanaryLanded, st.CanaryN)
		}
	}
	for _, g := range w.gates {
		if st := w.stored(g); st.Delayed && st.State == wire.Open && !st.Paused && open {
			w.bad("the delay of %q does not end", g)
		}
	}
	if open && airport.ThrottledUntil.UnixMilli() > w.storeNow() && airport.ThrottledUntil.UnixMilli()-w.storeNow() < 900*second {
		w.bad("the throttle does not end: %v", airport.ThrottledUntil)
	}
	w.collect()
	for _, g := range w.gates {
		if w.stored(g).Covered && !w.stored("").Lost {
			w.bad("%q is still covered by an airport that is not lost", g)
		}
	}
	if n := w.raw.HLen(context.Background(), w.keys.Outbox()).Val(); n > 0 {
		w.bad("%d notifications were never taken", n)
	}
	for range 2 {
		for _, g := range w.scopes() {
			w.reopen(g, 0, 0, func(r string) { w.log("reopen %q: %s", g, r) })
			w.run(second)
		}
		w.run(8 * second)
	}
	w.replay()
	w.allOpen("a human reopened everything")
	w.allFly()
	for _, g := range w.scopes() {
		if w.stored(g).State != wire.Unknown && !w.markers[g] {
			w.bad("%q has a status and no marker", g)
		}
	}
}

func (w *world) allOpen(why string) {
	for _, g := range w.scopes() {
		if st := w.stored(g); st.State != wire.Open || st.Paused {
			w.bad("%s: %q is %s, paused %v, lost %v, held %v", why, g, st.State, st.Paused, st.Lost, st.Held)
		}
	}
}

func (w *world) allFly() {
	before := map[string]int{}
	for _, g := range w.gates {
		before[g] = w.landed[g]
	}
	w.run(40 * second)
	for _, g := range w.gates {
		if w.landed[g] == before[g] {
			w.bad("%q lands nothing: %d on the runway", g, len(w.runway[g]))
		}
	}
}

// histories runs seeds until one breaks a promise, and returns that one. patience
// bounds the time, where no number of seeds was asked for: a slow machine does fewer.
func histories(t testing.TB, seeds int, patience time.Duration, d disk, raw *redis.Client, ns wire.Namespace) *world {
	begun := time.Now()
	first := *modelSeed
	if first == 0 {
		first = rand.Uint64()
	}
	for i := range uint64(seeds) {
		if *modelSeeds == 0 && time.Since(begun) > patience {
			t.Logf("%d histories of %d in the time there was", i, seeds)
			break
		}
		seed := first + i
		w := history(t, d, raw, ns, seed, profiles[seed%uint64(len(profiles))])
		for _, p := range w.procs {
			if p.st != nil {
				_ = p.st.Close()
			}
		}
		w.wipe()
		if *modelTrace {
			_, _ = os.Stderr.WriteString(strings.Join(w.trace, "\n") + "\n")
		}
		if len(w.violations) > 0 {
			w.violations = append(w.violations, "replay: go test ./internal/store -run 'TestHistories/"+t.Name()[strings.LastIndexByte(t.Name(), '/')+1:]+"' -store.seeds 1 -store.trace -store.seed "+
				strconv.FormatUint(seed, 10)+" (profile "+w.profile.name+")")
			return w
		}
	}
	return nil
}

// TestHistories holds the scripts to their promises under crashes, lost replies,
// losses of the store and clocks set back.
func TestHistories(t *testing.T) {
	count := func(few int) int {
		if *modelSeeds > 0 {
			return *modelSeeds
		}
		return few
	}
	broken := func(t *testing.T, w *world) {
		if w != nil {
			last := w.trace[max(0, len(w.trace)-40):]
			t.Fatalf("%s\n\nwhat led to it:\n%s", strings.Join(w.violations, "\n"), strings.Join(last, "\n"))
		}
	}
	t.Run("embedded", func(t *testing.T) {
		m := miniredis.RunT(t)
		broken(t, histories(t, count(7), 8*time.Second, embedded{m}, client(t, m.Addr()), "tr"))
	})
	t.Run("real", func(t *testing.T) {
		o, err := redis.ParseURL(testsvc.SharedRedis(t))
		if err != nil {
			t.Fatal(err)
		}
		store.SetClock(t)
		ns := wire.Namespace(testsvc.Namespace(t))
		raw := client(t, o.Addr)
		broken(t, histories(t, count(21), 8*time.Second, server{o.Addr, ns, raw}, raw, ns))
	})
}
