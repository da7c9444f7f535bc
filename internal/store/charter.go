package store

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/charter"
)

// CharterResult says what became of a call about a charter.
type CharterResult string

// The results.
const (
	CharterOK       CharterResult = "ok"
	CharterAbsent   CharterResult = "absent"   // no such charter, or no such gate
	CharterAborted  CharterResult = "aborted"  // it takes no more flights
	CharterExpected CharterResult = "expected" // it was opened with another count
	CharterDiffers  CharterResult = "differs"  // its source is another
)

// Opened is what stands of a charter when it is opened.
type Opened struct {
	Result   CharterResult
	Expected int
	Digests  map[int]charter.Block // by index
}

// OpenCharter opens a run at a gate, or finds it.
func (a *Airport) OpenCharter(ctx context.Context, gate, run string, expected int, actor string) (Opened, error) {
	res, err := a.charterCall(ctx, gate, run, "open", expected, actor)
	if err != nil {
		return Opened{}, err
	}
	o := Opened{Result: CharterResult(text(res[1])), Expected: int(integer(res[3])), Digests: map[int]charter.Block{}}
	for pair := range slices.Chunk(list(res[4]), 2) {
		i := int(integer(pair[0]))
		b, err := charter.ParseBlock(i, text(pair[1]))
		if err != nil {
			return Opened{}, fmt.Errorf("charter %s/%s/%s: %w", a.id, gate, run, err)
		}
		o.Digests[i] = b
	}
	return o, nil
}

// Digests reads what is known of a run's source, by block: nothing of a run that nobody
// has opened.
func (s *Store) Digests(ctx context.Context, scope wire.Scope) (map[int]charter.Block, error) {
	all, err := s.rdb.HGetAll(ctx, s.ns.Keys(scope.Airport).Charter(scope.Gate, scope.Run)).Result()
	if err != nil {
		return nil, failed(err)
	}
	out := map[int]charter.Block{}
	for field, v := range all {
		index, ok := strings.CutPrefix(field, "d:")
		if !ok {
			continue
		}
		i, err := strconv.Atoi(index)
		if err != nil {
			return nil, fmt.Errorf("charter %s: digest %q: %w", scope, wire.Visible(field), err)
		}
		if out[i], err = charter.ParseBlock(i, v); err != nil {
			return nil, fmt.Errorf("charter %s: %w", scope, err)
		}
	}
	return out, nil
}

// PutDigest writes a block's digest. prefix is the stored one that the caller found
// to be a prefix of its own source.
func (a *Airport) PutDigest(ctx context.Context, gate, run string, b charter.Block, prefix string) (CharterResult, error) {
	res, err := a.charterCall(ctx, gate, run, "block", b.Index, b.Seats, b.Sum, prefix)
	if err != nil {
		return "", err
	}
	return CharterResult(text(res[1])), nil
}

// MarkDispatched moves empty seats to dispatched, after the broker's confirms.
func (a *Airport) MarkDispatched(ctx context.Context, gate, run string, seats []int) (moved int, r CharterResult, err error) {
	argv := []any{"mark", len(seats)}
	for _, s := range seats {
		argv = append(argv, s)
	}
	res, err := a.charterCall(ctx, gate, run, argv...)
	if err != nil {
		return 0, "", err
	}
	if r = CharterResult(text(res[1])); r != CharterOK {
		return 0, r, nil
	}
	return int(integer(res[2])), r, nil
}

// abortBytes is how much of the seats one call looks at: 256 Ki seats.
const abortBytes = 128 << 10

// AbortCharter ends a run: empty seats are skipped at once. It can be called again
// where it was interrupted.
func (a *Airport) AbortCharter(ctx context.Context, gate, run, actor, reason string) (CharterResult, error) {
	for first := int64(0); ; {
		res, err := a.charterCall(ctx, gate, run, "abort", actor, reason, first, abortBytes)
		if err != nil {
			return "", err
		}
		if r := CharterResult(text(res[1])); r != CharterOK {
			return r, nil
		}
		next := text(res[2])
		if next == "" {
			return CharterOK, nil
		}
		first = integer(next)
	}
}

func (a *Airport) charterCall(ctx context.Context, gate, run string, argv ...any) ([]any, error) {
	_, res, err := a.runWith(ctx, charterScript, []string{gate}, []string{gate + "/" + run}, argv...)
	return res, err
}

// Waiter is a flight that waits for a human: parked or rejected.
type Waiter struct {
	Flight string
	Run    string
	Seat   int
	Deaths string // what its copy says of workers it killed, as it is to be remembered
}

// BeginOperating is called before an operator's first step at a gate: from here on
// parking is told again.
func (a *Airport) BeginOperating(ctx context.Context, gate string) error {
	_, err := a.operate(ctx, gate, "begin", false, "", nil)
	return err
}

// BeforeReplay is called before copies are published to the runway; watch has their
// next settlement noted, for Watched. A poison pill's incident is closed by the actor.
func (a *Airport) BeforeReplay(ctx context.Context, gate, actor string, watch bool, flights []Waiter) error {
	_, err := a.operate(ctx, gate, "replay", watch, actor, flights)
	return err
}

// BeforeDiscard moves the seats of flights that are about to be dropped, and closes a
// poison pill's incident in the actor's name.
func (a *Airport) BeforeDiscard(ctx context.Context, gate, actor string, flights []Waiter) error {
	_, err := a.operate(ctx, gate, "discard", false, actor, flights)
	return err
}

// ClearSuspects forgets the deaths of flights, and closes a conviction's incident in the
// actor's name. It returns how many were suspects.
func (a *Airport) ClearSuspects(ctx context.Context, gate, actor string, flights []string) (int, error) {
	var w []Waiter
	for _, f := range flights {
		w = append(w, Waiter{Flight: f, Seat: -1})
	}
	return a.operate(ctx, gate, "clear", false, actor, w)
}

func (a *Airport) operate(ctx context.Context, gate, action string, watch bool, actor string, flights []Waiter) (int, error) {
	argv := []any{action, flag(watch), actor, len(flights)}
	var charters []string
	for _, f := range flights {
		argv = append(argv, f.Flight, f.Run, f.Seat, f.Deaths)
		if name := gate + "/" + f.Run; f.Run != "" && !slices.Contains(charters, name) {
			charters = append(charters, name)
		}
	}
	_, res, err := a.runWith(ctx, operateScript, []string{gate}, charters, argv...)
	if err != nil {
		return 0, err
	}
	return int(integer(res[1])), nil
}

// Watched reads what became of watched flights, as the moves' codes: "" for one that
// has not settled yet.
func (a *Airport) Watched(ctx context.Context, flights []string) (map[string]string, error) {
	out := map[string]string{}
	for part := range slices.Chunk(flights, 500) {
		v, err := a.st.rdb.HMGet(ctx, a.keys.Watch(), part...).Result()
		if err != nil {
			return nil, failed(err)
		}
		for i, id := range part {
			out[id], _ = v[i].(string)
		}
	}
	return out, nil
}

// Unwatch forgets watched flights.
func (a *Airport) Unwatch(ctx context.Context, flights []string) error {
	for part := range slices.Chunk(flights, 500) {
		if err := a.st.rdb.HDel(ctx, a.keys.Watch(), part...).Err(); err != nil {
			return failed(err)
		}
	}
	return nil
}

// CharterStatus is what the store keeps of a run.
type CharterStatus struct {
	Scope     wire.Scope
	Books     charter.Books
	Aborted   bool
	Lost      bool // the store lost its memory since it was opened, or has lost its books
	OpenedAt  time.Time
	OpenedBy  string
	AbortedAt time.Time
	ToldAt    time.Time // when its completion was told last
}

// Charters lists the runs of an airport, by name.
func (s *Store) Charters(ctx context.Context, airport string) ([]CharterStatus, error) {
	names, err := s.rdb.ZRange(ctx, s.ns.Keys(airport).Charters(), 0, -1).Result()
	if err != nil {
		return nil, failed(err)
	}
	slices.Sort(names)
	return s.charters(ctx, airport, names)
}

// Charter reads one run; false where the store never knew it.
func (s *Store) Charter(ctx context.Context, scope wire.Scope) (CharterStatus, bool, error) {
	name := scope.Gate + "/" + scope.Run
	k := s.ns.Keys(scope.Airport)
	if err := s.rdb.ZScore(ctx, k.Charters(), name).Err(); err == redis.Nil {
		n, err := s.rdb.Exists(ctx, k.Charter(scope.Gate, scope.Run)).Result()
		if err != nil || n == 0 {
			return CharterStatus{}, false, failed(err)
		}
	} else if err != nil {
		return CharterStatus{}, false, failed(err)
	}
	list, err := s.charters(ctx, scope.Airport, []string{name})
	if err != nil {
		return CharterStatus{}, false, err
	}
	return list[0], true, nil
}

func (s *Store) charters(ctx context.Context, airport string, names []string) ([]CharterStatus, error) {
	k := s.ns.Keys(airport)
	pipe := s.rdb.Pipeline()
	lost := pipe.HGet(ctx, k.Airport(), "books_lost")
	fields := []string{"state", "expected", "dispatched", "landed", "rejected", "skipped", "parked", "discarded", "opened_at", "opened_by", "aborted_at", "told_at"}
	cmds := make([]*redis.SliceCmd, len(names))
	for i, n := range names {
		gate, run, _ := strings.Cut(n, "/")
		cmds[i] = pipe.HMGet(ctx, k.Charter(gate, run), fields...)
	}
	if _, err := pipe.Exec(ctx); err != nil && err != redis.Nil {
		return nil, failed(err)
	}
	lostAt, _ := strconv.ParseInt(lost.Val(), 10, 64)
	out := make([]CharterStatus, len(names))
	for i, n := range names {
		gate, run, _ := strings.Cut(n, "/")
		v := map[string]string{}
		for j, x := range cmds[i].Val() {
			v[fields[j]], _ = x.(string)
		}
		num := func(f string) int { return int(integer(v[f])) }
		at := func(f string) time.Time {
			if v[f] == "" {
				return time.Time{}
			}
			return time.UnixMilli(integer(v[f])).UTC()
		}
		out[i] = CharterStatus{
			Scope: wire.Scope{Airport: airport, Gate: gate, Run: run}, Aborted: v["state"] == "ABORTED",
			Lost: v["state"] == "" || lostAt > 0 && lostAt >= integer(v["opened_at"]),
			Books: charter.Books{Expected: num("expected"), Dispatched: num("dispatched"), Landed: num("landed"), Rejected: num("rejected"),
				Skipped: num("skipped"), Parked: num("parked"), Discarded: num("discarded")},
			OpenedAt: at("opened_at"), OpenedBy: v["opened_by"], AbortedAt: at("aborted_at"), ToldAt: at("told_at"),
		}
	}
	return out, nil
}

// Seats reads n seats of a run from first on.
func (s *Store) Seats(ctx context.Context, scope wire.Scope, first, n int) ([]charter.State, error) {
	from := first / 2
	raw, err := s.rdb.GetRange(ctx, s.ns.Keys(scope.Airport).Seats(scope.Gate, scope.Run), int64(from), int64((first+n-1)/2)).Result()
	if err != nil {
		return nil, failed(err)
	}
	out := make([]charter.State, n)
	for i := range out {
		out[i] = charter.At([]byte(raw), first+i-2*from)
	}
	return out, nil
}
