package governor

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/settle"
)

// Shelf is one of the two places where flights wait for a human.
type Shelf string

// The shelves.
const (
	ParkedShelf   Shelf = "parked"   // recoverable, never counted as failed
	RejectedShelf Shelf = "rejected" // bad records, kept for seven days
)

// ReasonRejected is the reason of what is on the rejected shelf.
const ReasonRejected settle.Reason = "FLIGHT_FAULT"

// queue names a gate's shelf.
func (s Shelf) queue(n wire.Namespace, gate wire.Scope) string {
	if s == RejectedShelf {
		return n.Rejected(gate, wire.DefaultRejectedKeep)
	}
	return n.Parked(gate)
}

// ParkedFilter chooses flights on a shelf. The zero value chooses all.
type ParkedFilter struct {
	Reason     settle.Reason
	Charter    string
	Flight     string
	BusinessID string
	OlderThan  time.Duration
	Evidence   *regexp.Regexp
	Limit      int // 0: all
}

func (f ParkedFilter) takes(p ParkedFlight, now time.Time) bool {
	return (f.Reason == "" || p.Reason == f.Reason) && (f.Charter == "" || p.Charter == f.Charter) &&
		(f.Flight == "" || p.Flight == f.Flight) && (f.BusinessID == "" || p.BusinessID == f.BusinessID) &&
		(f.OlderThan == 0 || !p.ParkedAt.IsZero() && now.Sub(p.ParkedAt) >= f.OlderThan) &&
		(f.Evidence == nil || f.Evidence.MatchString(p.Evidence))
}

// all reports whether the filter lets everything through; a limit is not its business.
func (f ParkedFilter) all() bool {
	f.Limit = 0
	return f == ParkedFilter{}
}

// String is the filter as it is typed; "" where it chooses all.
func (f ParkedFilter) String() string {
	var b strings.Builder
	flag := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, " --%s %s", name, wire.Visible(value))
		}
	}
	flag("reason", string(f.Reason))
	flag("charter", f.Charter)
	flag("flight", f.Flight)
	flag("business-id", f.BusinessID)
	if f.OlderThan > 0 {
		flag("older-than", wire.ShortDuration(f.OlderThan))
	}
	if f.Evidence != nil {
		flag("evidence", strconv.Quote(f.Evidence.String()))
	}
	if f.Limit > 0 {
		flag("limit", itoa(f.Limit))
	}
	return strings.TrimSpace(b.String())
}

// Parked lists the parked flights of a gate, or of all gates of an airport, oldest
// first. It looks without taking: the queue stays as it was.
func (g *Governor) Parked(ctx context.Context, scope string, f ParkedFilter) ([]ParkedFlight, error) {
	return g.Shelved(ctx, ParkedShelf, scope, f)
}

// Shelved lists the flights on a shelf, as Parked does. ErrPartial comes with a list:
// it is of what could be looked at, while somebody else had a part of it in hand.
func (g *Governor) Shelved(ctx context.Context, shelf Shelf, scope string, f ParkedFilter) ([]ParkedFlight, error) {
	var out []ParkedFlight
	err := g.browse(ctx, shelf, scope, func(p ParkedFlight, _ wire.Message, now time.Time) bool {
		if f.takes(p, now) {
			out = append(out, p)
		}
		return f.Limit == 0 || len(out) < f.Limit
	})
	return out, err
}

// ShelvedFlight is one flight on a shelf, whole.
type ShelvedFlight struct {
	ParkedFlight
	Payload     []byte
	ContentType string
	Headers     map[string]any
}

// ShowShelved finds one flight on a gate's shelf. ErrNotFound: it is not there.
// ErrPartial: it may be in what somebody else has in hand.
func (g *Governor) ShowShelved(ctx context.Context, shelf Shelf, gate, flight string) (ShelvedFlight, error) {
	var out ShelvedFlight
	found := false
	err := g.browse(ctx, shelf, gate, func(p ParkedFlight, m wire.Message, _ time.Time) bool {
		if p.Flight != flight {
			return true
		}
		out, found = ShelvedFlight{ParkedFlight: p, Payload: m.Body, ContentType: m.ContentType, Headers: m.Headers}, true
		return false
	})
	switch {
	case found:
		return out, nil // whatever others have in hand
	case errors.Is(err, errInHand):
		err = fmt.Errorf("flight %s is not among those that could be looked at: %w", wire.Visible(flight), err)
	case err == nil:
		err = fmt.Errorf("flight %s: %w among the %s of %s", wire.Visible(flight), ErrNotFound, shelf, wire.Visible(gate))
	}
	return out, err
}

// gatesOn gives the gates that a scope means.
func (g *Governor) gatesOn(ctx context.Context, scope string) ([]wire.Scope, error) {
	sc, err := parseAirportOrGate(scope)
	if err != nil {
		return nil, err
	}
	if sc.Gate != "" {
		return []wire.Scope{sc}, nil
	}
	gates, exists, err := g.st.GatesOf(ctx, sc.Airport)
	if err != nil {
		return nil, classed(err)
	}
	if !exists {
		return nil, fmt.Errorf("airport %s: %w in namespace %s", sc, ErrNotFound, g.ns)
	}
	var out []wire.Scope
	for _, gate := range gates {
		out = append(out, wire.Scope{Airport: sc.Airport, Gate: gate})
	}
	return out, nil
}

// shelfDepth counts what is on a gate's shelf. ErrNotFound: the gate has none.
func (g *Governor) shelfDepth(ctx context.Context, shelf Shelf, gate wire.Scope) (int, error) {
	n, exists, err := g.bk.Depth(ctx, shelf.queue(g.ns, gate))
	if err != nil {
		return 0, classed(err)
	}
	if !exists {
		return 0, fmt.Errorf("gate %s: %w: it has no %s queue in namespace %s", gate, ErrNotFound, shelf, g.ns)
	}
	return n, nil
}

// browse looks at each flight on a shelf, oldest first, until see returns false.
// errInHand: at some gate others had a part of it, and the rest was looked at.
func (g *Governor) browse(ctx context.Context, shelf Shelf, scope string, see func(ParkedFlight, wire.Message, time.Time) bool) error {
	gates, err := g.gatesOn(ctx, scope)
	if err != nil {
		return err
	}
	now, err := g.st.Now(ctx)
	if err != nil {
		return classed(err)
	}
	deadline := time.Now().Add(handPatience)
	var hidden error
	for _, gate := range gates {
		more, err := g.lookAt(ctx, shelf, gate, deadline, func(p ParkedFlight, m wire.Message) bool { return see(p, m, now) })
		switch {
		case errors.Is(err, errInHand):
			hidden = errors.Join(hidden, err)
		case err != nil:
			return errors.Join(hidden, err)
		}
		if !more {
			break
		}
	}
	return hidden
}

// lookAt looks at one gate's shelf; more is false where see had enough.
func (g *Governor) lookAt(ctx context.Context, shelf Shelf, gate wire.Scope, deadline time.Time, see func(ParkedFlight, wire.Message) bool) (more bool, err error) {
	done, err := g.lookAlone(ctx, shelf, gate, "look")
	if err != nil {
		return true, err
	}
	defer done()
	s, err := g.wholeShelf(ctx, shelf, gate, deadline)
	if err != nil {
		return true, err
	}
	seen, more := 0, true
	if s.Ready > 0 {
		err = g.bk.Browse(ctx, shelf.queue(g.ns, gate), s.Ready, func(m wire.Message) bool {
			seen++
			more = see(shelf.flight(m, gate), m)
			return more
		})
		g.awaitBack(ctx, shelf.queue(g.ns, gate), s.Ready)
		if err != nil {
			return more, classed(err)
		}
	}
	if s.Consumers > 0 || more && seen < s.Ready && !g.gone(ctx, shelf, gate, seen) {
		return more, g.inHand(ctx, shelf, gate, ownLook, "what they hold is not shown")
	}
	return more, nil
}

// gone reports whether what a look did not see has left the shelf meanwhile, so that
// it saw all there is.
func (g *Governor) gone(ctx context.Context, shelf Shelf, gate wire.Scope, seen int) bool {
	s, err := g.wholeShelf(ctx, shelf, gate, time.Now().Add(handPatience))
	return err == nil && s.Consumers == 0 && s.Ready <= seen
}

// flight reads what is on a shelf. What cannot be read as a flight is listed all the
// same. A rejected copy does not carry its reason: there is only one.
func (s Shelf) flight(m wire.Message, gate wire.Scope) ParkedFlight {
	f, err := wire.ParseFlight(m, gate, 0)
	p := ParkedFlight{Flight: f.ID, BusinessID: f.BusinessID, Gate: gate.String(), Reason: f.ParkedReason, Evidence: f.Evidence, Charter: f.Charter,
		ParkedAt: f.ParkedAt, Holds: f.Holds, Replays: f.Replays, Size: len(m.Body)}
	if err != nil && p.Reason == "" {
		p.Reason, p.Evidence = settle.ReasonMalformed, or(p.Evidence, wire.CleanEvidence(err.Error()))
	}
	if s == RejectedShelf && p.Reason == "" {
		p.Reason = ReasonRejected
	}
	return p
}

// MoveOptions are the choices of a replay or a discard.
type MoveOptions struct {
	Filter ParkedFilter // Limit bounds what is moved
	DryRun bool         // count, change nothing
	Rate   float64      // flights a second; 0: as fast as it goes
	// Canary replays so many first and goes on only when all of them have landed.
	Canary int
	// Confirm must be the scope, exactly, for a discard.
	Confirm  string
	Actor    string
	Progress func(MoveResult) // called now and then, on the caller's goroutine
	// Waits is called, on the caller's goroutine, where the canary cannot land for now:
	// with what it waits for, and until when, each time that changes.
	Waits func(what string)
}

// MoveResult counts what a replay or a discard did. Planned is what stood on the
// shelf when it began: Moved, Skipped, Unknown and Left add up to it.
type MoveResult struct {
	Planned int
	Moved   int            // gone from the shelf: the broker said so
	Skipped map[string]int // by reason: filter
	// Unknown were acknowledged as the connection was lost: they are on the shelf as
	// before, or gone. A replay has sent all of them. Whoever counts next, knows.
	Unknown int
	Left    int // on the shelf, for all that this command did
}

func (r MoveResult) left() int { return r.Planned - r.Moved - r.Unknown - r.skipped() }

// unknown says how many a move does not know the end of; "" for none.
func unknown(r MoveResult) string {
	if r.Unknown == 0 {
		return ""
	}
	return fmt.Sprintf(", %d left or moved: they were acknowledged as the connection was lost", r.Unknown)
}

func (r *MoveResult) skip(reason string, n int) {
	if n <= 0 {
		return
	}
	if r.Skipped == nil {
		r.Skipped = map[string]int{}
	}
	r.Skipped[reason] += n
}

func (r MoveResult) skipped() (n int) {
	for _, x := range r.Skipped {
		n += x
	}
	return n
}

// Replay sends the flights on a shelf back to their runways: only what was there
// when it began, with a fresh hold budget, one operator at a time at a gate. It can
// be run again: what it moved is no longer there. An error after a part of it was
// done wraps ErrPartial; the result counts that part.
func (g *Governor) Replay(ctx context.Context, shelf Shelf, scope string, o MoveOptions) (MoveResult, error) {
	return g.moveShelf(ctx, shelf, scope, "replay", o)
}

// Discard drops the flights on a shelf for good. o.Confirm must be the scope,
// exactly; anything else is ErrRefused and drops nothing.
func (g *Governor) Discard(ctx context.Context, shelf Shelf, scope string, o MoveOptions) (MoveResult, error) {
	if !o.DryRun && o.Confirm != scope {
		return MoveResult{}, fmt.Errorf("%w: discarding drops flights for good: confirm it with the exact scope %q, not %q", ErrRefused, wire.Visible(scope), wire.Visible(o.Confirm))
	}
	return g.moveShelf(ctx, shelf, scope, "discard", o)
}

// action is how the audit names a step.
func (s Shelf) action(verb string, o MoveOptions) string {
	a := string(s) + " " + verb
	if o.Canary > 0 {
		a += " --canary " + itoa(o.Canary)
	}
	return strings.TrimSpace(a)
}
