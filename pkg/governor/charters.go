package governor

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/traction-go/traction/internal/broker"
	"github.com/traction-go/traction/internal/store"
	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/charter"
)

// CharterState says how a run stands.
type CharterState string

// The states of a charter.
const (
	CharterOpen     CharterState = "OPEN"
	CharterComplete CharterState = "COMPLETE"
	CharterAborted  CharterState = "ABORTED" // its books may still be filling
	CharterLost     CharterState = "LOST"    // the store lost its books; its flights are kept
)

// CharterInfo is a bulk run and its books.
type CharterInfo struct {
	Charter  string // airport/gate/run
	State    CharterState
	Books    charter.Books
	OpenedAt time.Time
	OpenedBy string
	ToldAt   time.Time     // when its completion was told last
	ETA      time.Duration // at the pace so far; 0: complete, or not to be told
}

// CharterSpec opens a run, or finds it.
type CharterSpec struct {
	Run      string // required; rules as for an airport's id
	Expected int    // how many flights the source has. Required
	// Again dispatches flights that are on their way, too. Landed ones never fly
	// again; parked and rejected ones are left to a replay.
	Again bool
	Actor string
}

// CharterResult counts a dispatch of a run.
type CharterResult struct {
	Sent     int // confirmed
	Standing int // left alone: on their way, landed, parked, rejected, skipped or discarded already
	Failed   int // not confirmed; dispatch the same source again
	Missing  int // expected and not in the source: their seats stay empty
}

// Source gives a run's flights in their order. It is read twice: once to check it whole,
// before anything is opened or published, and once to dispatch it. (Once more, where
// another process dispatched the same run meanwhile.)
type Source func() iter.Seq2[Outgoing, error]

// DispatchCharter sends a bulk run to a gate: each flight has a seat, and the store
// keeps its books. Dispatching the same source again fills what is still empty.
//
// The whole source is read before the run is opened. A flight that cannot be read or
// cannot travel, or more flights than expected, leave no run behind, and nothing that
// stands in the way of the right source. ErrRefused, with nothing published: another
// source or another count under the same run, more flights than expected, a flight that
// cannot travel, or an aborted run. ErrPartial: the source was shorter than expected,
// the broker did not confirm all, or ctx ended; what is on its way then is waited for,
// ten seconds at most, so that the numbers are true.
func (g *Governor) DispatchCharter(ctx context.Context, gate string, spec CharterSpec, source Source) (CharterResult, error) {
	var res CharterResult
	sc, err := wire.ParseGate(gate)
	if err != nil {
		return res, err
	}
	if err := wire.CheckName("run", spec.Run); err != nil {
		return res, err
	}
	if spec.Expected < 1 || spec.Expected > charter.MaxExpected {
		return res, fmt.Errorf("%w: expected %d flights: want 1 to %d", ErrName, spec.Expected, charter.MaxExpected)
	}
	run := wire.Scope{Airport: sc.Airport, Gate: sc.Gate, Run: spec.Run}
	desk, err := g.desk(ctx, sc)
	if err != nil {
		return res, err
	}
	known, err := g.st.Digests(ctx, run)
	if err != nil {
		return res, classed(err)
	}
	in, err := g.survey(ctx, run, spec.Expected, known, source)
	if err != nil {
		return res, err
	}
	actor := g.actor(spec.Actor)
	opened, err := desk.OpenCharter(ctx, sc.Gate, spec.Run, spec.Expected, actor)
	if err != nil {
		return res, classed(err)
	}
	switch opened.Result {
	case store.CharterAbsent:
		return res, fmt.Errorf("gate %s: %w in namespace %s: start a worker that declares it first", sc, ErrNotFound, g.ns)
	case store.CharterExpected:
		return res, fmt.Errorf("%w: charter %s was opened for %d flights, not %d; nothing was published", ErrRefused, run, opened.Expected, spec.Expected)
	case store.CharterAborted:
		return res, fmt.Errorf("%w: charter %s was aborted; dispatch under another run; nothing was published", ErrRefused, run)
	}
	if len(opened.Digests) > 0 && !maps.Equal(opened.Digests, known) { // somebody else dispatched it meanwhile
		if in, err = g.survey(ctx, run, spec.Expected, opened.Digests, source); err != nil {
			return res, err
		}
	}
	if err := recognize(ctx, desk, run, opened.Digests, in); err != nil {
		return res, err
	}
	res.Missing = spec.Expected - in.flights
	// Two entries: one that begins, so that a dispatch that is killed stands there too.
	note := wire.AuditEntry{Actor: actor, Action: "charter dispatch", Scope: run.String(), Result: "begun", Count: in.flights}
	if err := g.st.AddAudit(ctx, sc.Airport, note); err != nil {
		return res, classed(err)
	}
	err = g.fillSeats(ctx, desk, run, spec, in.flights, source, &res)
	if err == nil && res.Missing > 0 {
		err = fmt.Errorf("%w: the source has %d flights, %d fewer than expected; their seats stay empty", ErrPartial, in.flights, res.Missing)
	}
	note.Result, note.Count = "ok", res.Sent
	if err != nil {
		note.Result = wire.CleanEvidence(err.Error())
	}
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), auditTime)
	defer cancel()
	if e := g.st.AddAudit(end, sc.Airport, note); e != nil && err == nil {
		err = classed(e)
	}
	return res, err
}

// survey is what the first reading of a source has found.
type survey struct {
	flights  int
	blocks   []charter.Block
	prefixes map[int]string // of the blocks that were known, as far as those go
}

// survey reads the source to its end, and changes nothing: a flight that cannot be read
// or cannot travel is found here, and so is one more than expected.
func (g *Governor) survey(ctx context.Context, run wire.Scope, expected int, known map[int]charter.Block, source Source) (survey, error) {
	d := charter.NewDigester()
	s := survey{prefixes: map[int]string{}}
	for o, err := range source() {
		if err != nil {
			return s, fmt.Errorf("charter %s: reading the source: %w", run, err)
		}
		if ctx.Err() != nil {
			return s, context.Cause(ctx)
		}
		if s.flights++; s.flights > expected {
			return s, fmt.Errorf("%w: the source of charter %s has more than the %d flights expected; nothing was published", ErrRefused, run, expected)
		}
		p, err := g.seated(run.Parent(), run, s.flights-1, o)
		if err != nil {
			return s, fmt.Errorf("charter %s: flight %d of the source: %w; nothing was published", run, s.flights, err)
		}
		if err := broker.CheckPublishing(p); err != nil {
			return s, fmt.Errorf("%w: charter %s: flight %d of the source: %w; nothing was published", ErrRefused, run, s.flights, err)
		}
		full := d.Add(charter.Identity(o.BusinessID, o.Payload))
		// A digest that is asked for costs as much as the flight: only where it counts.
		index := (s.flights - 1) / charter.BlockSeats
		if was, ok := known[index]; ok && was.Seats == (s.flights-1)%charter.BlockSeats+1 {
			b, _ := d.Block()
			s.prefixes[index] = b.String()
		}
		if full {
			b, _ := d.Block()
			s.blocks = append(s.blocks, b)
		}
	}
	if b, ok := d.Block(); ok && b.Seats < charter.BlockSeats {
		s.blocks = append(s.blocks, b)
	}
	return s, nil
}

// recognize refuses a source whose digests differ from what stands, and writes them.
func recognize(ctx context.Context, desk *store.Airport, run wire.Scope, stands map[int]charter.Block, in survey) error {
	differs := fmt.Errorf("%w: charter %s was dispatched from another source; use another run, or the same source; nothing was published", ErrRefused, run)
	for _, b := range in.blocks {
		// A shorter source than before is a prefix that cannot be told from another.
		if was, ok := stands[b.Index]; ok && in.prefixes[b.Index] != was.String() {
			return differs
		}
	}
	for _, b := range in.blocks {
		r, err := desk.PutDigest(ctx, run.Gate, run.Run, b, in.prefixes[b.Index])
		if err != nil {
			return classed(err)
		}
		switch r {
		case store.CharterDiffers:
			return differs
		case store.CharterAborted:
			return fmt.Errorf("%w: charter %s was aborted; nothing was published", ErrRefused, run)
		}
	}
	return nil
}

// fillSeats publishes the flights whose seats are empty, block by block, and marks them
// once the broker has confirmed them. A block that was begun is seen through when ctx
// ends. flights is how many the source had when it was checked.
func (g *Governor) fillSeats(ctx context.Context, desk *store.Airport, run wire.Scope, spec CharterSpec, flights int, source Source, res *CharterResult) error {
	gate := run.Parent()
	var msgs []broker.Publishing
	var seats []int
	seat := 0
	var states []charter.State
	flush := func() error {
		if len(msgs) == 0 {
			return nil
		}
		through, stop := outlive(ctx, answerTime)
		defer stop()
		errs := g.bk.Publish(through, msgs)
		var confirmed []int
		var first error
		for i, err := range errs {
			if err == nil {
				confirmed = append(confirmed, seats[i])
				continue
			}
			res.Failed++
			if first == nil {
				first = dispatchError(gate, err)
			}
		}
		res.Sent += len(confirmed)
		msgs, seats = nil, nil
		// What is on the runway is marked even when ctx has ended.
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
		defer cancel()
		_, r, err := desk.MarkDispatched(end, run.Gate, run.Run, confirmed)
		switch {
		case err != nil:
			return fmt.Errorf("%w: %d sent, the last %d of them not marked yet; dispatch the same source again: %w", ErrPartial, res.Sent, len(confirmed), classed(err))
		case r != store.CharterOK:
			return fmt.Errorf("%w: %d sent; the store no longer knows charter %s", ErrPartial, res.Sent, run)
		case first != nil:
			return fmt.Errorf("%w: %d sent, %d not confirmed: %w", ErrPartial, res.Sent, res.Failed, first)
		}
		return nil
	}
	stopped := func() error {
		return fmt.Errorf("%w: %d sent, all of them confirmed: %w", ErrPartial, res.Sent, context.Cause(ctx))
	}
	changed := func(has string) error {
		return fmt.Errorf("%w: charter %s: the source has changed since it was checked: it had %d flights and now has %s; %d sent", ErrPartial, run, flights, has, res.Sent)
	}
	for o, err := range source() {
		if ctx.Err() != nil {
			return stopped()
		}
		if err != nil {
			return fmt.Errorf("%w: charter %s: reading the source again: %w", ErrPartial, run, err)
		}
		if seat == flights {
			return errors.Join(flush(), changed("more"))
		}
		if seat%charter.BlockSeats == 0 {
			if err := flush(); err != nil {
				return err
			}
			if ctx.Err() != nil {
				return stopped()
			}
			if aborted, err := g.aborted(ctx, run); err != nil {
				return err
			} else if aborted {
				return fmt.Errorf("%w: charter %s was aborted; %d sent before", ErrPartial, run, res.Sent)
			}
			states, err = g.st.Seats(ctx, run, seat, charter.BlockSeats)
			if err != nil {
				return fmt.Errorf("%w: %d sent: %w", ErrPartial, res.Sent, classed(err))
			}
		}
		at := states[seat%charter.BlockSeats]
		if at != charter.Empty && (at != charter.Dispatched || !spec.Again) {
			res.Standing++
			seat++
			continue
		}
		p, err := g.seated(gate, run, seat, o)
		if err != nil {
			return fmt.Errorf("charter %s: flight %d: %w", run, seat, err)
		}
		msgs, seats = append(msgs, p), append(seats, seat)
		seat++
	}
	if ctx.Err() != nil {
		return stopped()
	}
	if err := flush(); err != nil {
		return err
	}
	if seat < flights {
		return changed(strconv.Itoa(seat))
	}
	return nil
}

func (g *Governor) aborted(ctx context.Context, run wire.Scope) (bool, error) {
	st, _, err := g.st.Charter(ctx, run)
	return st.Aborted, classed(err)
}

// seated makes the message of a charter's flight. Its id is derived from scope, run
// and seat, so that two copies of a seat are one flight.
func (g *Governor) seated(gate, run wire.Scope, seat int, o Outgoing) (broker.Publishing, error) {
	o.FlightID = uuid.NewSHA1(uuid.NameSpaceURL, []byte("traction:"+string(g.ns)+":"+run.String()+"#"+strconv.Itoa(seat))).String()
	if err := wire.CheckBusinessID(o.BusinessID); err != nil {
		return broker.Publishing{}, fmt.Errorf("%w: %w", ErrName, err)
	}
	f := wire.Flight{ID: o.FlightID, Scope: gate, BusinessID: o.BusinessID, Charter: run.Run, Seat: seat}
	f.Msg = wire.Message{ContentType: or(o.ContentType, "application/octet-stream"), Headers: o.Headers, Body: o.Payload,
		Timestamp: time.Now().UTC().Truncate(time.Second)}
	return broker.Publishing{Exchange: g.ns.RunwayExchange(), Key: gate.String(), Message: f.Message()}, nil
}

// Charters lists the runs of an airport, a gate, or all (""), by name. ErrNotFound: there
// is no such scope, and was none.
func (g *Governor) Charters(ctx context.Context, scope string) ([]CharterInfo, error) {
	ids, gate, err := g.chosen(ctx, scope)
	if err != nil {
		return nil, err
	}
	now, err := g.st.Now(ctx)
	if err != nil {
		return nil, classed(err)
	}
	var out []CharterInfo
	for _, id := range ids {
		list, err := g.st.Charters(ctx, id)
		if err != nil {
			return nil, classed(err)
		}
		for _, c := range list {
			if gate == "" || strings.HasPrefix(c.Scope.String(), gate+"/") {
				out = append(out, charterInfo(c, now))
			}
		}
	}
	return out, g.listed(ctx, scope, len(out))
}

// Charter tells how one run stands. ErrNotFound: nobody has opened it.
func (g *Governor) Charter(ctx context.Context, run string) (CharterInfo, error) {
	sc, err := parseRun(run)
	if err != nil {
		return CharterInfo{}, err
	}
	st, ok, err := g.st.Charter(ctx, sc)
	if err != nil {
		return CharterInfo{}, classed(err)
	}
	if !ok {
		return CharterInfo{}, fmt.Errorf("charter %s: %w in namespace %s", sc, ErrNotFound, g.ns)
	}
	now, err := g.st.Now(ctx)
	if err != nil {
		return CharterInfo{}, classed(err)
	}
	return charterInfo(st, now), nil
}

func parseRun(run string) (wire.Scope, error) {
	sc, err := wire.ParseScope(run)
	if err == nil && sc.Run == "" {
		err = fmt.Errorf("charter %q: want airport/gate/run: %w", wire.Visible(run), ErrName)
	}
	return sc, err
}

func charterInfo(c store.CharterStatus, now time.Time) CharterInfo {
	i := CharterInfo{Charter: c.Scope.String(), State: CharterOpen, Books: c.Books, OpenedAt: c.OpenedAt, OpenedBy: c.OpenedBy, ToldAt: c.ToldAt}
	switch {
	case c.Lost:
		i.State = CharterLost
	case c.Aborted:
		i.State = CharterAborted
	case c.Books.Complete():
		i.State = CharterComplete
	}
	if done := c.Books.Ended(); done > 0 && !c.Lost {
		i.ETA = time.Duration(float64(now.Sub(c.OpenedAt)) / float64(done) * float64(c.Books.Pending())).Round(time.Second)
	}
	return i
}

// AbortCharter ends a run. Its empty seats are skipped at once, flights on their way
// as they reach a worker; parked ones stay until they are replayed (and then
// skipped) or discarded. confirm must be the run, exactly.
func (g *Governor) AbortCharter(ctx context.Context, run, confirm, actor, reason string) (CharterInfo, error) {
	sc, err := parseRun(run)
	if err != nil {
		return CharterInfo{}, err
	}
	if confirm != run {
		return CharterInfo{}, fmt.Errorf("%w: aborting skips what has not landed: confirm it with the exact charter %q, not %q", ErrRefused, wire.Visible(run), wire.Visible(confirm))
	}
	desk, err := g.desk(ctx, sc.Parent())
	if err != nil {
		return CharterInfo{}, err
	}
	r, err := desk.AbortCharter(ctx, sc.Gate, sc.Run, g.actor(actor), wire.CleanEvidence(reason))
	if err != nil {
		return CharterInfo{}, classed(err)
	}
	if r == store.CharterAbsent {
		return CharterInfo{}, fmt.Errorf("charter %s: %w in namespace %s", sc, ErrNotFound, g.ns)
	}
	return g.Charter(ctx, run)
}
