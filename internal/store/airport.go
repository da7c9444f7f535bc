package store

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/traction-go/traction/internal/wire"
)

// Airport is one process's hold on an airport: the names of its keys and the
// memory of what the process has seen of it.
type Airport struct {
	st     *Store
	id     string
	caller string
	keys   wire.Keys
	mem    *memory

	mu     sync.Mutex
	gates  []string
	onNews func(wire.Status)
}

// Airport makes a hold on an airport. caller is the worker, tower or operator in
// whose name the scripts run; it must be unique to the process.
func (s *Store) Airport(id, caller string, gates ...string) *Airport {
	return &Airport{st: s, id: id, caller: caller, keys: s.ns.Keys(id), mem: newMemory(), gates: slices.Clone(gates)}
}

// OnNews sets what is called, on the goroutine that made a call, when a reply
// brings a status that the process had not seen. Set it before the first call.
func (a *Airport) OnNews(f func(wire.Status)) { a.onNews = f }

// ID gives the airport's id.
func (a *Airport) ID() string { return a.id }

// Gates gives the gates the hold knows.
func (a *Airport) Gates() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.gates)
}

// AddGates makes more gates known: every call that concerns the whole airport
// names them all.
func (a *Airport) AddGates(gates ...string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, g := range gates {
		if !slices.Contains(a.gates, g) {
			a.gates = append(a.gates, g)
		}
	}
}

// Last gives the last status seen of the airport (gate "") or a gate.
func (a *Airport) Last(gate string) (wire.Status, bool) {
	a.mem.mu.Lock()
	defer a.mem.mu.Unlock()
	s, ok := a.mem.last[gate]
	return s, ok
}

// SeenEpoch gives the highest epoch seen of the airport (gate "") or a gate.
func (a *Airport) SeenEpoch(gate string) int64 {
	a.mem.mu.Lock()
	defer a.mem.mu.Unlock()
	return a.mem.epoch[gate]
}

// run calls a script for the given gates and takes the head of its reply into the
// memory.
func (a *Airport) run(ctx context.Context, s *redis.Script, gates []string, args ...any) (time.Time, []any, error) {
	return a.runWith(ctx, s, gates, nil, args...)
}

// runWith is run for scripts that touch charters, each named gate/run.
func (a *Airport) runWith(ctx context.Context, s *redis.Script, gates, charters []string, args ...any) (time.Time, []any, error) {
	ctx, cancel := context.WithTimeout(ctx, a.st.timeout)
	defer cancel()
	keys, argv := a.header(gates, charters...)
	res, err := s.Run(ctx, a.st.rdb, keys, append(argv, args...)...).Slice()
	if err != nil {
		return time.Time{}, nil, fmt.Errorf("airport %s: %w", a.id, failed(err))
	}
	now, err := a.takeHead(res, gates)
	if err != nil {
		return time.Time{}, nil, err
	}
	return now, res, nil
}

// header writes the keys and the head of the arguments as lib.lua documents them.
func (a *Airport) header(gates []string, charters ...string) (keys []string, argv []any) {
	k := a.keys
	keys = make([]string, 0, 16+5*len(gates)+2*len(charters))
	keys = append(keys, k.Airport(), k.Tick(), k.Slots(), k.Flying(), k.Beats(), k.Deaths(), k.Incidents(), k.IncidentOrder(),
		k.Outbox(), k.Offers(), k.Replies(), k.Audit(), k.Solo(), k.AirportStreak(),
		k.Charters(), k.Watch())
	for _, g := range gates {
		keys = append(keys, k.Gate(g), k.Streak(g, wire.StreakGate), k.Streak(g, wire.StreakRecord), k.Streak(g, wire.StreakTransient), k.Holding(g))
	}
	for _, c := range charters {
		gate, run, _ := strings.Cut(c, "/")
		keys = append(keys, k.Charter(gate, run), k.Seats(gate, run))
	}
	a.mem.mu.Lock()
	defer a.mem.mu.Unlock()
	argv = make([]any, 0, 8+3*len(gates)+32)
	argv = append(argv, a.st.ns.Events(), a.id, a.caller, opHex(), a.mem.tick, a.mem.epoch[""], a.mem.fence[""], len(gates))
	for _, g := range gates {
		argv = append(argv, g, a.mem.epoch[g], a.mem.fence[g])
	}
	argv = append(argv, len(charters))
	for _, c := range charters {
		argv = append(argv, c)
	}
	return keys, argv
}

// opHex is the part of an incident's id that keeps it unique when a clock set
// back repeats an epoch.
func opHex() string {
	var b [2]byte
	// crypto/rand.Read never fails (it aborts the program instead).
	_, _ = rand.Read(b[:])
	return hex.EncodeToString(b[:])
}

func (a *Airport) takeHead(res []any, gates []string) (time.Time, error) {
	bad := func() (time.Time, error) {
		return time.Time{}, fmt.Errorf("airport %s: %w: unreadable reply", a.id, ErrScript)
	}
	if len(res) == 0 {
		return bad()
	}
	h, ok := res[0].([]any)
	if !ok || len(h) != 4 {
		return bad()
	}
	now, tick := integer(h[0]), integer(h[1])
	perGate, ok := h[3].([]any)
	if !ok || len(perGate) != len(gates) {
		return bad()
	}
	var news []wire.Status
	a.mem.mu.Lock()
	a.mem.tick = max(a.mem.tick, tick)
	take := func(gate string, raw any) {
		if a.mem.repeats(gate, list(raw)) {
			return
		}
		v := named(raw)
		st := statusOf(wire.Scope{Airport: a.id, Gate: gate}, v)
		if a.mem.see(gate, st, v) {
			news = append(news, st)
		}
	}
	take("", h[2])
	for i, g := range gates {
		take(g, perGate[i])
	}
	a.mem.mu.Unlock()
	if a.onNews != nil {
		for _, st := range news {
			a.onNews(st)
		}
	}
	return time.UnixMilli(now).UTC(), nil
}

// named makes a map of a status as scripts reply it.
func named(raw any) map[string]string {
	list, _ := raw.([]any)
	v := make(map[string]string, len(list))
	for i, x := range list {
		if i < len(fields) {
			v[fields[i]], _ = x.(string)
		}
	}
	return v
}

func integer(v any) int64 {
	switch x := v.(type) {
	case int64:
		return x
	case string:
		n, _ := strconv.ParseInt(x, 10, 64)
		return n
	}
	return 0
}

func text(v any) string {
	s, _ := v.(string)
	return s
}

func list(v any) []any {
	l, _ := v.([]any)
	return l
}
