package store

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/traction-go/traction/internal/wire"
)

// Snapshot is everything an operator sees of an airport in the store.
type Snapshot struct {
	Now      time.Time
	Airport  wire.Status
	Gates    []wire.Status // by name
	InAir    map[string]int
	Notes    int // flights in the air, all gates
	Beats    []Beat
	Deaths   int // in the last hour
	Suspects int // flights with one death, which fly alone
	Outbox   int
	Holding  map[string]int // by gate, not yet due
	Used     int            // slots taken in the window that ends now
	Left     map[string]Left
}

// Now reads the store's clock.
func (s *Store) Now(ctx context.Context) (time.Time, error) {
	t, err := s.rdb.Time(ctx).Result()
	return t.UTC(), failed(err)
}

// GatesOf lists the gates of an airport that the store knows, sorted.
func (s *Store) GatesOf(ctx context.Context, airport string) (gates []string, exists bool, err error) {
	v, err := s.rdb.HGetAll(ctx, s.ns.Keys(airport).Airport()).Result()
	if err != nil {
		return nil, false, fmt.Errorf("airport %s: %w", airport, failed(err))
	}
	return gatesIn(v), len(v) > 0, nil
}

func gatesIn(v map[string]string) []string {
	var gates []string
	for f := range v {
		if g, ok := strings.CutPrefix(f, "g:"); ok {
			gates = append(gates, g)
		}
	}
	slices.Sort(gates)
	return gates
}

// Snapshots reads several airports in two pipelined rounds. An airport the store
// does not know has the state wire.Unknown.
func (s *Store) Snapshots(ctx context.Context, airports ...string) ([]Snapshot, error) {
	now, err := s.Now(ctx)
	if err != nil {
		return nil, err
	}
	type first struct {
		status, beats, flying, deaths *redis.MapStringStringCmd
		outbox                        *redis.IntCmd
	}
	firsts := make([]first, len(airports))
	pipe := s.rdb.Pipeline()
	for i, id := range airports {
		k := s.ns.Keys(id)
		firsts[i] = first{pipe.HGetAll(ctx, k.Airport()), pipe.HGetAll(ctx, k.Beats()), pipe.HGetAll(ctx, k.Flying()), pipe.HGetAll(ctx, k.Deaths()), pipe.HLen(ctx, k.Outbox())}
	}
	if len(airports) > 0 {
		if _, err := pipe.Exec(ctx); err != nil {
			return nil, failed(err)
		}
	}
	out := make([]Snapshot, len(airports))
	type second struct {
		status, holding *redis.MapStringStringCmd
		at, gate        int
	}
	var seconds []second
	pipe = s.rdb.Pipeline()
	for i, id := range airports {
		f, k := firsts[i], s.ns.Keys(id)
		v := f.status.Val()
		sn := Snapshot{Now: now, Airport: statusOf(wire.Scope{Airport: id}, v), InAir: map[string]int{}, Holding: map[string]int{}, Left: map[string]Left{}, Outbox: int(f.outbox.Val())}
		sn.Airport.Gates = gatesIn(v)
		for inc, raw := range f.beats.Val() {
			if b, ok := parseBeat(inc, raw); ok && b.Alive(now) {
				sn.Beats = append(sn.Beats, b)
			}
		}
		for _, raw := range f.flying.Val() {
			if p := strings.Fields(raw); len(p) >= 8 && p[0] == "N" {
				sn.Notes++
				sn.InAir[p[7]]++
			}
		}
		died := map[string]bool{}
		for _, raw := range f.deaths.Val() {
			recentDeaths(raw, now, sn.Beats, died)
			if !strings.ContainsAny(raw, ",!") { // a second death, or a conviction
				sn.Suspects++
			}
		}
		sn.Deaths = len(died)
		for j, g := range sn.Airport.Gates {
			sn.Gates = append(sn.Gates, wire.Status{})
			seconds = append(seconds, second{pipe.HGetAll(ctx, k.Gate(g)), pipe.HGetAll(ctx, k.Holding(g)), i, j})
		}
		out[i] = sn
	}
	if len(seconds) > 0 {
		if _, err := pipe.Exec(ctx); err != nil {
			return nil, failed(err)
		}
	}
	for _, sec := range seconds {
		sn := &out[sec.at]
		g := sn.Airport.Gates[sec.gate]
		sn.Gates[sec.gate] = statusOf(wire.Scope{Airport: sn.Airport.Scope.Airport, Gate: g}, sec.status.Val())
		sn.Left[g] = leftIn(sec.status.Val())
		for due, n := range sec.holding.Val() {
			if d, err := strconv.ParseInt(due, 10, 64); err == nil && d >= now.Unix() {
				c, _ := strconv.Atoi(n)
				sn.Holding[g] += c
			}
		}
	}
	return out, nil
}

// recentDeaths adds the deaths of the last hour to who died. A worker that dies with
// many flights in the air died once; where it lives, what died were its programs, one
// for each entry.
func recentDeaths(raw string, now time.Time, alive []Beat, died map[string]bool) {
	raw, _, _ = strings.Cut(raw, "!") // the incident of a conviction has an @ of its own
	for d := range strings.SplitSeq(raw, ",") {
		if i := strings.LastIndexByte(d, '@'); i >= 0 {
			if at, err := strconv.ParseInt(d[i+1:], 10, 64); err == nil && now.UnixMilli()-at <= time.Hour.Milliseconds() {
				if slices.ContainsFunc(alive, func(b Beat) bool { return b.Incarnation == d[:i] }) {
					died[d] = true
				} else {
					died[d[:i]] = true
				}
			}
		}
	}
}

// SlotsUsed reads how many slots were taken in the window that ends now.
func (a *Airport) SlotsUsed(ctx context.Context) (int, error) {
	keys, argv := a.header(nil)
	n, err := slotsScript.Run(ctx, a.st.rdb, keys, argv...).Int()
	return n, failed(err)
}

// Incidents reads an airport's incidents, newest first. What cannot be read is an
// error, not a gap.
func (s *Store) Incidents(ctx context.Context, airport string) ([]wire.Incident, error) {
	v, err := s.rdb.HGetAll(ctx, s.ns.Keys(airport).Incidents()).Result()
	if err != nil {
		return nil, failed(err)
	}
	out := make([]wire.Incident, 0, len(v))
	for id, raw := range v {
		var i wire.Incident
		if err := json.Unmarshal([]byte(raw), &i); err != nil {
			return nil, fmt.Errorf("incident %s: %w", wire.Visible(id), err)
		}
		out = append(out, i)
	}
	slices.SortFunc(out, func(a, b wire.Incident) int {
		if a.OpenedAt != b.OpenedAt {
			return int(b.OpenedAt - a.OpenedAt)
		}
		return strings.Compare(b.ID, a.ID)
	})
	return out, nil
}

// Audit reads an airport's audit, newest first, at most limit entries (0: all).
func (s *Store) Audit(ctx context.Context, airport string, limit int64) ([]wire.AuditEntry, error) {
	key := s.ns.Keys(airport).Audit()
	var msgs []redis.XMessage
	var err error
	if limit > 0 {
		msgs, err = s.rdb.XRevRangeN(ctx, key, "+", "-", limit).Result()
	} else {
		msgs, err = s.rdb.XRevRange(ctx, key, "+", "-").Result()
	}
	if err != nil {
		return nil, failed(err)
	}
	out := make([]wire.AuditEntry, 0, len(msgs))
	for _, m := range msgs {
		get := func(f string) string { v, _ := m.Values[f].(string); return v }
		e := wire.AuditEntry{ID: m.ID, Actor: get("actor"), Action: get("action"), Scope: get("scope"), Reason: get("reason"), Result: get("result")}
		e.At, _ = strconv.ParseInt(get("at"), 10, 64)
		e.Count, _ = strconv.Atoi(get("count"))
		out = append(out, e)
	}
	return out, nil
}

// AddAudit records an operator's action that no script records itself.
func (s *Store) AddAudit(ctx context.Context, airport string, e wire.AuditEntry) error {
	now, err := s.Now(ctx)
	if err != nil {
		return err
	}
	return failed(s.rdb.XAdd(ctx, &redis.XAddArgs{Stream: s.ns.Keys(airport).Audit(), MaxLen: 10000, Approx: true, Values: []any{
		"at", now.UnixMilli(), "actor", e.Actor, "action", e.Action, "scope", e.Scope, "reason", e.Reason, "result", e.Result, "count", e.Count,
	}}).Err())
}

// Deaths reads an airport's suspects: flight -> "incarnation@ms,...", with "!incident"
// once convicted.
func (s *Store) Deaths(ctx context.Context, airport string) (map[string]string, error) {
	v, err := s.rdb.HGetAll(ctx, s.ns.Keys(airport).Deaths()).Result()
	return v, failed(err)
}
