package store

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Kind says what a process that beats is.
type Kind string

// The kinds.
const (
	WorkerOnly Kind = "W"
	TowerOnly  Kind = "T"
	WorkerAnd  Kind = "B" // a worker with a tower
)

// BeatCall is one beat.
type BeatCall struct {
	Incarnations []string // the current one, and those whose notes still stand
	Interval     time.Duration
	Kind         Kind
	Leaving      bool
	Solo         bool            // it flies suspects at this airport
	Loads        map[string]Load // by gate
}

// Load is what a process has to do at one gate, as its beats tell it.
type Load struct {
	InHand int           // flights taken from the runway
	Pilots int           // calls that it can make at once, plus one; 0: it does not tell
	Call   time.Duration // of one call, on average; 0: none was made yet

	// Since the process started. Returned are flights that it gave back to the runway.
	// The others came marked as redelivered: Fresh by this process or with the fleet's
	// own traces, Scars from an adopted queue that another marked, Strange from the
	// runway, marked by nobody this process knows of.
	Returned, Fresh, Scars, Strange int64
	// When the oldest message that waits on the runway was made, and one that was next
	// to the adopted queue's head, in seconds; 0: not known.
	Oldest, Adopted int64
	Batch           int // flights in one of its calls at most; 0: it does not tell
}

// Beat is another process's last beat.
type Beat struct {
	Incarnation string
	Last        time.Time
	Interval    time.Duration
	Leaving     bool
	Kind        Kind
	Seen        map[string]int64 // epochs by gate; "" for the airport
	Loads       map[string]Load  // by gate; those of which nothing was told are missing
}

// Worker is the process behind the incarnation.
func (b Beat) Worker() string { return WorkerOf(b.Incarnation) }

// Alive reports whether the beat is no older than five of its own intervals.
func (b Beat) Alive(now time.Time) bool { return now.Sub(b.Last) <= 5*b.Interval }

// WorkerOf gives the process behind an incarnation: <worker>.<n>.
func WorkerOf(incarnation string) string {
	if i := strings.LastIndexByte(incarnation, '.'); i > 0 {
		return incarnation[:i]
	}
	return incarnation
}

// BeatReply is what a beat brings back.
type BeatReply struct {
	Now    time.Time
	Outbox int    // notifications not yet taken
	Others bool   // another process beat within a minute
	Beats  []Beat // of the others
	Lost   bool   // something is lost: offers are wanted
}

// Beat says that the process lives and reads all statuses it serves.
func (a *Airport) Beat(ctx context.Context, c BeatCall) (BeatReply, error) {
	gates := a.Gates()
	argv := []any{c.Interval.Milliseconds(), string(c.Kind), flag(c.Leaving), a.seen(gates, c.Loads), flag(c.Solo), len(c.Incarnations)}
	for _, i := range c.Incarnations {
		argv = append(argv, i)
	}
	now, res, err := a.run(ctx, beatScript, gates, argv...)
	if err != nil {
		return BeatReply{}, err
	}
	if len(res) != 5 {
		return BeatReply{}, fmt.Errorf("airport %s: %w: unreadable reply", a.id, ErrScript)
	}
	r := BeatReply{Now: now, Outbox: int(integer(res[1])), Others: text(res[2]) == "1", Lost: text(res[4]) == "1"}
	for pair := range slices.Chunk(list(res[3]), 2) {
		if len(pair) == 2 {
			if b, ok := parseBeat(text(pair[0]), text(pair[1])); ok {
				r.Beats = append(r.Beats, b)
			}
		}
	}
	return r, nil
}

// seen writes the epochs the process has seen, and what it has to do at each gate,
// as its beats carry them: =epoch,gate=epoch/inhand/pilots/callms/returned/fresh/scars/strange/oldest/adopted/batch.
// Zeros at the end are left out; more may be added there.
func (a *Airport) seen(gates []string, loads map[string]Load) string {
	a.mem.mu.Lock()
	defer a.mem.mu.Unlock()
	var b strings.Builder
	b.WriteString("=" + strconv.FormatInt(a.mem.epoch[""], 10))
	for _, g := range gates {
		b.WriteString("," + g + "=" + strconv.FormatInt(a.mem.epoch[g], 10) + loads[g].String())
	}
	return b.String()
}

// String writes the load as a beat carries it, behind the epoch.
func (l Load) String() string {
	var b strings.Builder
	zeros := 0
	call := (l.Call + time.Millisecond - 1).Milliseconds() // never 0 where one was made
	for _, n := range []int64{int64(l.InHand), int64(l.Pilots), call, l.Returned, l.Fresh, l.Scars, l.Strange, l.Oldest, l.Adopted, int64(l.Batch)} {
		if n <= 0 {
			zeros++
			continue
		}
		b.WriteString(strings.Repeat("/0", zeros) + "/" + strconv.FormatInt(n, 10))
		zeros = 0
	}
	return b.String()
}

// parseLoad reads what stands behind the epoch. What is missing is zero.
func parseLoad(s string) Load {
	var n [10]int64
	for i := range n {
		var field string
		field, s, _ = strings.Cut(s, "/")
		n[i] = max(integer(field), 0)
	}
	return Load{InHand: int(n[0]), Pilots: int(n[1]), Call: time.Duration(n[2]) * time.Millisecond,
		Returned: n[3], Fresh: n[4], Scars: n[5], Strange: n[6], Oldest: n[7], Adopted: n[8], Batch: int(n[9])}
}

func parseBeat(inc, raw string) (Beat, bool) {
	p := strings.SplitN(raw, " ", 6)
	if len(p) != 6 {
		return Beat{}, false
	}
	b := Beat{Incarnation: inc, Last: time.UnixMilli(integer(p[0])).UTC(), Interval: time.Duration(integer(p[1])) * time.Millisecond,
		Leaving: p[2] == "1", Kind: Kind(p[4]), Seen: map[string]int64{}, Loads: map[string]Load{}}
	for kv := range strings.SplitSeq(p[5], ",") {
		if i := strings.LastIndexByte(kv, '='); i >= 0 {
			epoch, load, _ := strings.Cut(kv[i+1:], "/")
			b.Seen[kv[:i]] = integer(epoch)
			if l := parseLoad(load); l != (Load{}) {
				b.Loads[kv[:i]] = l
			}
		}
	}
	return b, true
}

// Declare writes what this process declares of the airport (gate "") or a gate,
// unless a newer declaration stands. stamp 0 means now, by the store's clock. It
// returns the stamp and the process whose declaration stands, and whether that is
// the caller's.
func (a *Airport) Declare(ctx context.Context, gate string, stamp int64, spec map[string]string) (stands int64, by string, mine bool, err error) {
	argv := []any{stamp, a.caller, len(spec)}
	for k, v := range spec {
		argv = append(argv, k, v)
	}
	_, res, err := a.run(ctx, declareScript, scopeGates(gate), argv...)
	if err != nil {
		return 0, "", false, err
	}
	return integer(res[1]), text(res[2]), text(res[3]) == "1", nil
}

// Offer tells the store what the process last saw; it stands while something is
// lost.
func (a *Airport) Offer(ctx context.Context) error {
	_, _, err := a.run(ctx, offerScript, a.Gates(), a.mem.offer(a.id))
	return err
}

// Restore brings back what was open before a loss, when everybody in knew, and all
// that beat since, have offered. waiting names who has not.
func (a *Airport) Restore(ctx context.Context, knew []string) (restored int, waiting string, err error) {
	argv := []any{len(knew)}
	for _, id := range knew {
		argv = append(argv, id)
	}
	_, res, err := a.run(ctx, restoreScript, a.Gates(), argv...)
	if err != nil {
		return 0, "", err
	}
	return int(integer(res[1])), text(res[2]), nil
}

// Note is one of the process's own notes.
type Note struct {
	Flight      string
	Incarnation string
	Start       int64 // store ms
}

// Notes lists the process's own notes, after removing those in drop whose start is
// unchanged.
func (a *Airport) Notes(ctx context.Context, drop []Note) ([]Note, error) {
	argv := []any{len(drop)}
	for _, d := range drop {
		argv = append(argv, d.Flight, d.Start)
	}
	_, res, err := a.run(ctx, notesScript, nil, argv...)
	if err != nil {
		return nil, err
	}
	var notes []Note
	for _, x := range list(res[1]) {
		if p := strings.SplitN(text(x), " ", 3); len(p) == 3 {
			notes = append(notes, Note{Flight: p[0], Incarnation: p[1], Start: integer(p[2])})
		}
	}
	return notes, nil
}

// EndSolo gives up the solo lease, with the notes of suspects that did not fly.
// session grows with each session of the process; tries of one session repeat it, and
// only the first that arrives changes anything.
func (a *Airport) EndSolo(ctx context.Context, session uint64, suspects []string) error {
	argv := []any{session, len(suspects)}
	for _, f := range suspects {
		argv = append(argv, f)
	}
	_, _, err := a.run(ctx, soloScript, nil, argv...)
	return err
}
