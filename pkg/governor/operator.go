package governor

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/traction-go/traction/internal/store"
	"github.com/traction-go/traction/internal/wire"
)

// MaxCanary is the most flights that a canary can have, of a reopen or of a replay.
const MaxCanary = 10_000

// desk is an operator's hold on one airport, with all its gates.
func (g *Governor) desk(ctx context.Context, scope wire.Scope) (*store.Airport, error) {
	gates, exists, err := g.st.GatesOf(ctx, scope.Airport)
	if err != nil {
		return nil, classed(err)
	}
	if !exists && scope.Gate == "" {
		gates = nil
	}
	if scope.Gate != "" && !slices.Contains(gates, scope.Gate) {
		gates = append(gates, scope.Gate)
	}
	return g.st.Airport(scope.Airport, g.id+"-op", gates...), nil
}

// Reopen sets a scope OPEN, or flies a canary of o.Canary flights. It moves the
// fence, so that a failure from before cannot undo it, ends a pause, and closes the
// incident. A scope that is open already is left alone, and said so (Changed).
// ErrNotFound: nobody has declared the scope. ErrRefused: its airport is to be
// reopened first.
func (g *Governor) Reopen(ctx context.Context, scope string, o ReopenOptions) (Reopening, error) {
	sc, err := parseAirportOrGate(scope)
	if err != nil {
		return Reopening{}, err
	}
	if o.Canary < 0 || o.Canary > MaxCanary {
		return Reopening{}, fmt.Errorf("%w: a canary of %d: want 1 to %d", ErrName, o.Canary, MaxCanary)
	}
	marker, err := g.bk.HasExchange(ctx, g.ns.BornExchange(sc))
	if err != nil {
		return Reopening{}, classed(err)
	}
	// What waits is counted before: afterwards it flies.
	waiting, adopted, parked := Unread, Unread, Unread
	if desk, err := g.desk(ctx, sc); err == nil {
		waiting, adopted, parked = g.waits(ctx, sc, desk.Gates())
	}
	for {
		desk, err := g.desk(ctx, sc)
		if err != nil {
			return Reopening{}, err
		}
		r, err := desk.Reopen(ctx, sc.Gate, o.Canary, g.actor(o.Actor), wire.CleanEvidence(o.Reason), marker)
		if err != nil {
			return Reopening{}, classed(err)
		}
		switch r.Result {
		case store.NotYet:
			// A birth is under way, or the living have five seconds to say what
			// they remember of a store that lost its memory.
			if !sleep(ctx, 250*time.Millisecond) {
				return Reopening{}, fmt.Errorf("%w: %s is being declared, or waits for what living workers remember; try again", ErrRefused, sc)
			}
			continue
		case store.Absent:
			return Reopening{}, fmt.Errorf("%s: %w: nobody has declared it in namespace %s", sc, ErrNotFound, g.ns)
		case store.NeedAirport:
			return Reopening{}, fmt.Errorf("%w: %s was lost with its airport: reopen %s first", ErrRefused, sc, sc.Airport)
		}
		if !marker {
			// A status without a marker would be born open at the next loss.
			if err := g.declareMarker(ctx, sc); err != nil {
				return Reopening{}, err
			}
		}
		if r.Was == wire.Removing && sc.Gate != "" {
			// A removal that ended half-way has unbound its queues.
			if err := g.declare(ctx, common(g.ns), gateTopology(g.ns, sc)); err != nil {
				return Reopening{}, err
			}
		}
		st, _ := desk.Last(sc.Gate)
		out := Reopening{Scope: sc.String(), Changed: r.Result == store.Done || r.Result == store.Ended, Was: r.Was, State: st.Shown(r.Now), Incident: r.Incident, Epoch: r.Epoch}
		if !r.Since.IsZero() && out.Changed {
			out.Stood = r.Now.Sub(r.Since)
		}
		out.Waiting, out.Adopted, out.Parked = waiting, adopted, parked
		if sc.Gate == "" {
			out.Gates = notFree(desk, r.Now)
		}
		return out, nil
	}
}

// notFree lists the gates that their airport's reopen does not let fly.
func notFree(desk *store.Airport, now time.Time) []GateState {
	var out []GateState
	for _, gate := range desk.Gates() {
		if st, ok := desk.Last(gate); ok {
			switch state := st.Shown(now); state {
			case Stopped, Paused, Canary, Delayed:
				out = append(out, GateState{st.Scope.String(), state})
			}
		}
	}
	return out
}

// waits counts what waits on runways and hold, what waits in the queues that are
// adopted, and what is parked; Unread where the broker does not answer, or others have
// some of it in hand.
func (g *Governor) waits(ctx context.Context, sc wire.Scope, gates []string) (waiting, adopted, parked int) {
	sn, err := g.st.Snapshots(ctx, sc.Airport)
	if err != nil {
		return Unread, Unread, Unread
	}
	if sc.Gate != "" {
		gates = []string{sc.Gate}
	}
	for _, gate := range gates {
		s := wire.Scope{Airport: sc.Airport, Gate: gate}
		r, _, err := g.bk.Depth(ctx, g.ns.Runway(s))
		if err != nil {
			return Unread, Unread, Unread
		}
		waiting += r + sn[0].Holding[gate]
		for _, st := range sn[0].Gates {
			if st.Scope.Gate == gate {
				waiting += handWaiting(sn[0], st)
				n, _ := g.adoptedAt(ctx, st.Adopts)
				adopted = sum(adopted, n)
			}
		}
		parked = sum(parked, g.counted(ctx, g.ns.Parked(s)))
	}
	return waiting, adopted, parked
}

func parseAirportOrGate(scope string) (wire.Scope, error) {
	sc, err := wire.ParseScope(scope)
	if err != nil {
		return sc, err
	}
	if sc.Run != "" {
		return sc, fmt.Errorf("scope %q: want an airport or a gate: %w", scope, ErrName)
	}
	return sc, nil
}

// Pause stops a scope without a fault: an operator's ground stop. It returns when
// every process that beats has seen it, or names those that had not when ctx was
// about to end. Its work stays where it is. Reopen ends it.
func (g *Governor) Pause(ctx context.Context, scope string, o PauseOptions) (Pausing, error) {
	sc, err := parseAirportOrGate(scope)
	if err != nil {
		return Pausing{}, err
	}
	if strings.TrimSpace(o.Reason) == "" {
		return Pausing{}, fmt.Errorf("%w: a pause needs a reason: it is shown to everyone who asks why nothing flies", ErrRefused)
	}
	desk, err := g.desk(ctx, sc)
	if err != nil {
		return Pausing{}, err
	}
	actor, reason := g.actor(o.Actor), wire.CleanEvidence(o.Reason)
	out := Pausing{Scope: sc.String()}
	for again := false; ; again = true {
		result, epoch, err := desk.Pause(ctx, sc.Gate, actor, reason, again)
		if err != nil {
			if again {
				out.Unseen = []string{"the store: " + err.Error()}
				return out, nil
			}
			return Pausing{}, classed(err)
		}
		switch result {
		case store.Absent:
			if again {
				if !sleep(ctx, 250*time.Millisecond) {
					return out, nil
				}
				continue
			}
			return Pausing{}, fmt.Errorf("%s: %w: nobody has declared it in namespace %s", sc, ErrNotFound, g.ns)
		case store.NotYet:
			if !sleep(ctx, 250*time.Millisecond) {
				return out, fmt.Errorf("%w: %s is being declared; try again", ErrRefused, sc)
			}
			continue
		}
		if !again {
			out.Changed = result == store.Done
		}
		out.Epoch = epoch
		gone, err := g.seenByAll(ctx, sc, &out)
		if err != nil || !gone {
			return out, err
		}
	}
}

// seenByAll waits until all that beat have seen the pause. gone: the store lost it,
// and it is to be written again.
func (g *Governor) seenByAll(ctx context.Context, sc wire.Scope, out *Pausing) (gone bool, err error) {
	for {
		sn, err := g.st.Snapshots(ctx, sc.Airport)
		if err != nil {
			out.Unseen = []string{"the store did not answer: " + err.Error()}
			return false, nil
		}
		st := sn[0].Airport
		if sc.Gate != "" {
			st = wire.Status{State: wire.Unknown}
			for _, x := range sn[0].Gates {
				if x.Scope.Gate == sc.Gate {
					st = x
				}
			}
		}
		if st.State == wire.Unknown || st.Epoch < out.Epoch {
			return true, nil
		}
		if !st.Paused {
			return false, fmt.Errorf("%w: somebody reopened %s meanwhile", ErrRefused, sc)
		}
		out.Unseen = nil
		for _, b := range sn[0].Beats {
			if seen, serves := b.Seen[sc.Gate]; serves && seen < out.Epoch && b.Kind != store.TowerOnly && !b.Leaving {
				out.Unseen = append(out.Unseen, b.Worker())
			}
		}
		if len(out.Unseen) == 0 {
			return false, nil
		}
		if d, ok := ctx.Deadline(); ok && time.Until(d) < time.Second || !sleep(ctx, 100*time.Millisecond) {
			return false, nil
		}
	}
}

// TestNotify puts a test notification in the outbox and returns when a tower's
// hooks have taken it. ErrUnreachable: none did before ctx ended. scope is an
// airport or a gate; "" takes any airport.
func (g *Governor) TestNotify(ctx context.Context, scope string) (Notification, error) {
	if scope == "" {
		ids, err := g.st.Airports(ctx)
		if err != nil {
			return Notification{}, classed(err)
		}
		if len(ids) == 0 {
			return Notification{}, fmt.Errorf("no airport in namespace %s: %w: start a worker first", g.ns, ErrNotFound)
		}
		slices.Sort(ids)
		scope = ids[0]
	}
	sc, err := parseAirportOrGate(scope)
	if err != nil {
		return Notification{}, err
	}
	if gates, exists, err := g.st.GatesOf(ctx, sc.Airport); err != nil {
		return Notification{}, classed(err)
	} else if !exists || sc.Gate != "" && !slices.Contains(gates, sc.Gate) {
		return Notification{}, fmt.Errorf("%s: %w: nobody has declared it in namespace %s", sc, ErrNotFound, g.ns)
	}
	n := wire.Notice{Key: sc.String() + "/" + newFlightID() + "/TEST", Type: testNotice, Scope: sc.String(), Reason: "a test", Actor: g.actor("")}
	if err := g.st.AddNotice(ctx, sc.Airport, n); err != nil {
		return Notification{}, classed(err)
	}
	if err := g.st.AddAudit(ctx, sc.Airport, wire.AuditEntry{Actor: n.Actor, Action: "notify test", Scope: n.Scope, Result: "sent"}); err != nil {
		return Notification{}, classed(err)
	}
	for {
		waits, err := g.st.HasNotice(ctx, sc.Airport, n.Key)
		if err != nil {
			return Notification{}, classed(err)
		}
		if !waits {
			return g.notification(ctx, n), nil
		}
		if !sleep(ctx, 100*time.Millisecond) {
			end, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
			defer cancel()
			if err := g.st.RemoveNotice(end, sc.Airport, n.Key); err != nil {
				return Notification{}, classed(err)
			}
			return Notification{}, fmt.Errorf("%w: no tower's hook took the test; is a worker with a tower running, and does its webhook answer 2xx?", ErrUnreachable)
		}
	}
}

const testNotice = "TEST"
