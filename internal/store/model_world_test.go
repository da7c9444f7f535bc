package store_test

import (
	"container/heap"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/traction-go/traction/internal/store"
	"github.com/traction-go/traction/internal/wire"
)

const (
	modelAirport = "crm:acme"
	second       = int64(1000)
)

// profile is what a history is made of.
type profile struct {
	name   string
	losses []string // what may happen to the store: flush, evict, rollback, gate (one gate goes back)
	skew   int64    // how far a rollback may set the clock back, in ms
	people bool     // faults, humans and crashes; else the fleet is healthy and left alone
}

var profiles = []profile{
	{name: "no loss", people: true},
	{name: "flush", losses: []string{"flush"}, people: true},
	{name: "eviction", losses: []string{"evict"}, people: true},
	{name: "rollback", losses: []string{"rollback", "rollback", "gate"}, skew: 200, people: true},
	{name: "healthy", losses: []string{"flush", "evict", "rollback"}, skew: 200},
	{name: "everything", losses: []string{"flush", "evict", "rollback"}, skew: 200, people: true},
	{name: "clock", losses: []string{"rollback"}, skew: 3600 * second, people: true},
}

// world is one random history: virtual time, processes with crashes, a broker
// reduced to lists, a store that is run for real, and the truth beside it.
type world struct {
	t   testing.TB
	rng *rand.Rand
	profile
	now, skew int64 // ms since the start; how far the store's clock is behind
	events    events
	order     int64

	disk  disk
	raw   *redis.Client
	keys  wire.Keys
	ns    wire.Namespace
	old   []image // earlier states of the store
	awayU int64   // the store is unreachable until

	gates   []string
	markers map[string]bool
	runway  map[string][]string
	parked  map[string][]string
	landed  map[string]int
	flights int
	procs   []*proc
	mode    string // what the vendor does
	calm    bool

	truth    map[string]*truth
	clears   int64 // numbers clearances and human verbs
	happened int
	lastBad  string // the last loss
	lossAt   int64
	went     bool              // the store went back: who knows better must call first
	lost     map[string]string // incidents of losses, and their scopes
	sent     map[string]int
	verbs    int

	violations []string
	trace      []string
}

// disk is what a history does to a store from outside.
type disk interface {
	setTime(ms int64)
	store(t testing.TB, d func(context.Context, string, string) (net.Conn, error)) *store.Store
}

type event struct {
	at, order int64
	f         func()
}
type events []event

func (e events) Len() int { return len(e) }
func (e events) Less(i, j int) bool {
	return e[i].at < e[j].at || e[i].at == e[j].at && e[i].order < e[j].order
}
func (e events) Swap(i, j int) { e[i], e[j] = e[j], e[i] }
func (e *events) Push(x any)   { *e = append(*e, x.(event)) }
func (e *events) Pop() any {
	last := (*e)[len(*e)-1]
	*e = (*e)[:len(*e)-1]
	return last
}

func (w *world) after(d int64, f func()) {
	w.order++
	heap.Push(&w.events, event{w.now + d, w.order, f})
}

func (w *world) run(d int64) {
	end := w.now + d
	for len(w.events) > 0 && w.events[0].at <= end && len(w.violations) == 0 {
		e := heap.Pop(&w.events).(event)
		w.now = e.at
		e.f()
	}
	w.now = end
}

func (w *world) n(n int64) int64 { return w.rng.Int64N(n) }
func (w *world) one(in int64) bool {
	return w.n(in) == 0
}
func (w *world) storeNow() int64 { return 1_700_000_000_000 + w.now - w.skew }

func (w *world) log(f string, a ...any) {
	w.trace = append(w.trace, fmt.Sprintf("%9.3f ", float64(w.now)/1000)+fmt.Sprintf(f, a...))
}
func (w *world) bad(f string, a ...any) {
	if len(w.violations) > 0 {
		return // what follows from it
	}
	w.violations = append(w.violations, fmt.Sprintf("%.3fs after %q: ", float64(w.now)/1000, w.lastBad)+fmt.Sprintf(f, a...))
	w.log("BROKEN "+f, a...)
}

// link is a process's connection to the store; it can lose the next reply after
// the store has run what was asked.
type link struct {
	net.Conn
	lose *bool
}

var errLost = errors.New("the reply was lost")

func (l link) Read(b []byte) (int, error) {
	n, err := l.Conn.Read(b)
	if err == nil && *l.lose && !strings.HasPrefix(string(b[:n]), "-NOSCRIPT") {
		*l.lose = false
		_ = l.Conn.Close()
		return 0, errLost
	}
	return n, err
}

// image is a copy of all the keys of a store.
type image map[string]any

func (w *world) image() image {
	ctx, im := context.Background(), image{}
	keys, err := w.raw.Keys(ctx, string(w.ns)+":*").Result()
	w.must(err)
	for _, k := range keys {
		switch w.raw.Type(ctx, k).Val() {
		case "string":
			im[k] = w.raw.Get(ctx, k).Val()
		case "hash":
			im[k] = w.raw.HGetAll(ctx, k).Val()
		case "zset":
			im[k] = w.raw.ZRangeWithScores(ctx, k, 0, -1).Val()
		}
	}
	return im
}

func (w *world) wipe() {
	ctx := context.Background()
	keys, err := w.raw.Keys(ctx, string(w.ns)+":*").Result()
	w.must(err)
	if len(keys) > 0 {
		w.must(w.raw.Del(ctx, keys...).Err())
	}
}

func (w *world) restore(im image) {
	w.wipe()
	pipe := w.raw.Pipeline()
	ctx := context.Background()
	for k, v := range im {
		switch v := v.(type) {
		case string:
			pipe.Set(ctx, k, v, 0)
		case map[string]string:
			pipe.HSet(ctx, k, v)
		case []redis.Z:
			pipe.ZAdd(ctx, k, v...)
		}
	}
	_, err := pipe.Exec(ctx)
	w.must(err)
}

func (w *world) must(err error) {
	if err != nil && !errors.Is(err, redis.Nil) {
		w.t.Helper()
		w.t.Fatalf("the test's own access to the store: %v", err)
	}
}

// stored reads a scope's status past all scripts.
func (w *world) stored(gate string) wire.Status {
	key := w.keys.Airport()
	if gate != "" {
		key = w.keys.Gate(gate)
	}
	v, err := w.raw.HGetAll(context.Background(), key).Result()
	w.must(err)
	return store.StatusOf(wire.Scope{Airport: modelAirport, Gate: gate}, v)
}

func (w *world) scopes() []string { return append([]string{""}, w.gates...) }

// lose makes the store forget, or go back.
func (w *world) lose(kind string) {
	w.collect()
	switch kind {
	case "flush":
		w.wipe()
		w.old = nil
	case "evict":
		keys := []string{w.keys.Airport(), w.keys.Tick(), w.keys.Flying()}
		for _, g := range w.gates {
			keys = append(keys, w.keys.Gate(g), w.keys.Gate(g))
		}
		k := keys[w.n(int64(len(keys)))]
		w.must(w.raw.Del(context.Background(), k).Err())
		kind += " " + k
	case "gate":
		g := w.gates[w.n(int64(len(w.gates)))]
		if len(w.old) == 0 {
			return
		}
		v, ok := w.old[0][w.keys.Gate(g)].(map[string]string)
		if !ok || v["incident"] != "" {
			return // the incidents would have to go back too
		}
		w.must(w.raw.Del(context.Background(), w.keys.Gate(g)).Err())
		w.must(w.raw.HSet(context.Background(), w.keys.Gate(g), v).Err())
		w.forgetUnknown()
	case "rollback":
		if len(w.old) == 0 {
			return
		}
		i := int(w.n(int64(len(w.old))))
		w.restore(w.old[i])
		w.old = w.old[:i+1]
		if w.one(3) {
			w.skew += w.n(w.skewMax())
			kind += fmt.Sprintf(" with the clock %d ms back", w.skew)
		}
		w.forgetUnknown()
	}
	w.happened++
	w.went = strings.HasPrefix(kind, "rollback") || kind == "gate"
	w.lastBad, w.lossAt = kind, w.now
	w.log("LOSS %s", kind)
}

func (w *world) skewMax() int64 {
	if w.profile.skew > 1000 && w.one(2) {
		return w.profile.skew
	}
	return 200
}

func (w *world) keepImages() {
	if w.calm {
		return
	}
	if slices.Contains(w.losses, "rollback") {
		if w.old = append(w.old, w.image()); len(w.old) > 6 {
			w.old = w.old[1:]
		}
	}
	w.after(1+w.n(4000), w.keepImages)
}

// client opens the test's own connection to a store.
func client(t testing.TB, addr string) *redis.Client {
	c := redis.NewClient(&redis.Options{Addr: addr, DisableIdentity: true, DialTimeout: 5 * time.Second})
	t.Cleanup(func() { _ = c.Close() })
	return c
}
