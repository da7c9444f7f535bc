package governor

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/traction-go/traction/internal/broker"
	"github.com/traction-go/traction/internal/store"
	"github.com/traction-go/traction/internal/wire"
)

// RemoveOptions are the choices of a removal.
type RemoveOptions struct {
	// Confirm must be the scope, exactly.
	Confirm string
	// To is a queue that takes what is left at a gate, with its properties. "":
	// refused where anything is left.
	To     string
	Actor  string
	Reason string
}

// Removal is what a removal did.
type Removal struct {
	Scope string
	Moved int // flights, to RemoveOptions.To, confirmed
}

// Remove forgets an airport or a gate and deletes the gate's queues. Its incidents
// and its audit are kept; the books of its runs are not.
//
// ErrRefused, and nothing was changed: the confirm is not the scope; a worker that
// serves it beats, or something else consumes its queues; an airport has gates; any
// flight is left: waiting, parked, rejected or on hold. With o.To what waits, is
// parked or rejected is moved there; what is on hold has to come back first.
//
// It goes step by step: the scope becomes REMOVING, under which nothing flies and
// nothing is born; the marker goes; the queues' bindings, so that nothing more
// arrives; what is left is moved; the queues; the status. A removal that ends
// half-way (ErrPartial) has lost nothing: run it again, or Reopen the scope, which
// takes it back. When ctx ends, what is on its way is waited for, ten seconds at most,
// so that Moved is true.
//
// Each run stands in the audit when it begins, with how many flights there are to move,
// and when it ends, whatever the end, with how many it has moved. Without o.To it
// counts the scope.
func (g *Governor) Remove(ctx context.Context, scope string, o RemoveOptions) (Removal, error) {
	sc, err := parseAirportOrGate(scope)
	if err != nil {
		return Removal{}, err
	}
	out := Removal{Scope: sc.String()}
	if o.Confirm != scope {
		return out, fmt.Errorf("%w: a removal deletes queues: confirm it with the exact scope %q, not %q", ErrRefused, wire.Visible(scope), wire.Visible(o.Confirm))
	}
	r := &remover{g: g, sc: sc, o: o, out: &out, actor: g.actor(o.Actor), reason: wire.CleanEvidence(o.Reason)}
	if err := r.exists(ctx); err != nil {
		return out, err
	}
	if sc.Gate == "" {
		return out, r.airport(ctx)
	}
	lock, holder, err := g.st.LockGate(ctx, sc, r.actor, "remove", lockFor)
	if err != nil {
		return out, classed(err)
	}
	if holder != nil {
		return out, lockedBy(holder, sc)
	}
	defer func() {
		end, done := context.WithTimeout(context.WithoutCancel(ctx), auditTime)
		defer done()
		if e := lock.Release(end); e != nil {
			g.log.Debug("the lock was not released; it ends by itself", "scope", sc.String(), "error", e)
		}
	}()
	r.lock = lock
	return out, r.gate(ctx)
}

// remover is one removal on its way.
type remover struct {
	g             *Governor
	sc            wire.Scope
	o             RemoveOptions
	out           *Removal
	actor, reason string
	lock          *store.Lock
	left          int // flights, when it began
}

// counted is n flights where flights are moved, else the scope, for the audit.
func (r *remover) counted(n, scope int) int {
	if r.o.To != "" {
		return n
	}
	return scope
}

// queues are the gate's, in the order in which they are emptied and deleted.
func (r *remover) queues() []string {
	n := r.g.ns
	return []string{n.Runway(r.sc), n.Parked(r.sc), n.Rejected(r.sc, wire.DefaultRejectedKeep)}
}

// exists is ErrNotFound where neither the store nor the broker knows the scope.
func (r *remover) exists(ctx context.Context) error {
	gates, known, err := r.g.st.GatesOf(ctx, r.sc.Airport)
	if err != nil {
		return classed(err)
	}
	if r.sc.Gate == "" && known {
		return nil
	}
	for _, gate := range gates {
		if gate == r.sc.Gate {
			return nil
		}
	}
	marker, err := r.g.bk.HasExchange(ctx, r.g.ns.BornExchange(r.sc))
	if err != nil {
		return classed(err)
	}
	if marker {
		return nil
	}
	if r.sc.Gate != "" { // a removal that ended half-way in a store that has since forgotten
		for _, q := range r.queues() {
			if _, exists, err := r.g.bk.Depth(ctx, q); err != nil {
				return classed(err)
			} else if exists {
				return nil
			}
		}
	}
	return fmt.Errorf("%s: %w: nobody has declared it in namespace %s", r.sc, ErrNotFound, r.g.ns)
}

func (r *remover) airport(ctx context.Context) error {
	desk := r.g.st.Airport(r.sc.Airport, r.g.id+"-op")
	if err := r.begin(ctx, desk); err != nil {
		return err
	}
	if err := r.g.bk.DeleteExchange(ctx, r.g.ns.BornExchange(r.sc)); err != nil {
		return r.halfway(ctx, "its marker", err)
	}
	if err := r.finish(ctx, desk, nil); err != nil {
		return err
	}
	if err := r.g.st.DropAirport(ctx, r.sc.Airport); err != nil {
		return r.halfway(ctx, "its place on the list", err)
	}
	return nil
}

func (r *remover) gate(ctx context.Context) error {
	if err := r.mayRemove(ctx); err != nil {
		return err
	}
	desk := r.g.st.Airport(r.sc.Airport, r.g.id+"-op", r.sc.Gate)
	if err := r.begin(ctx, desk); err != nil {
		return err
	}
	if err := r.g.bk.DeleteExchange(ctx, r.g.ns.BornExchange(r.sc)); err != nil {
		return r.halfway(ctx, "its marker", err)
	}
	// From here on a dispatch is told that there is no such gate, and nothing arrives
	// between the last look and the end of a queue.
	if err := r.g.bk.Unbind(ctx, gateTopology(r.g.ns, r.sc).Bindings...); err != nil {
		return r.halfway(ctx, "its bindings", err)
	}
	for _, q := range r.queues() {
		if r.o.To != "" {
			if err := r.move(ctx, q); err != nil {
				return r.halfway(ctx, "queue "+q, err)
			}
		}
		if s, err := r.g.wholeQueue(ctx, q, time.Now().Add(handPatience)); err != nil {
			return r.halfway(ctx, "queue "+q, err)
		} else if s.Ready > 0 {
			return r.halfway(ctx, "queue "+q, fmt.Errorf("%w: %d flights arrived meanwhile", ErrRefused, s.Ready))
		} else if s.Consumers > 0 {
			return r.halfway(ctx, "queue "+q, fmt.Errorf("%w: somebody else may have some of it in hand (a look, a backup or another consumer); wait until that has ended", ErrRefused))
		}
	}
	if ok, err := r.lock.Renew(ctx); err != nil || !ok {
		return r.halfway(ctx, "the queues", fmt.Errorf("the lock of %s was lost: %w", r.sc, or(err, ErrRefused)))
	}
	for _, q := range r.queues() {
		if err := r.g.bk.DeleteQueue(ctx, q); err != nil {
			return r.halfway(ctx, "queue "+q, err)
		}
	}
	charters, err := r.g.st.ChartersOf(ctx, r.sc.Airport, r.sc.Gate)
	if err != nil {
		return r.halfway(ctx, "the status", err)
	}
	return r.finish(ctx, desk, charters)
}

// mayRemove looks at the broker before anything is changed.
func (r *remover) mayRemove(ctx context.Context) error {
	if r.o.To != "" {
		for _, q := range r.queues() {
			if q == r.o.To {
				return fmt.Errorf("%w: queue %q goes with the gate; name another", ErrRefused, r.o.To)
			}
		}
		if _, exists, err := r.g.bk.Depth(ctx, r.o.To); err != nil {
			return classed(err)
		} else if !exists {
			return fmt.Errorf("queue %q: %w at the broker", wire.Visible(r.o.To), ErrNotFound)
		}
	}
	var left []string
	for i, q := range r.queues() {
		s, err := r.g.bk.Standing(ctx, q)
		if err != nil {
			return classed(err)
		}
		r.left += s.Ready
		if s.Ready > 0 {
			left = append(left, fmt.Sprintf("%d %s", s.Ready, [...]string{"on the runway", "parked", "rejected"}[i]))
		}
		if s.Consumers > 0 {
			return fmt.Errorf("%w: %d consumers are on queue %s; end them first", ErrRefused, s.Consumers, q)
		}
	}
	if len(left) > 0 && r.o.To == "" {
		return fmt.Errorf("%w: flights are left at %s: %s; replay or discard them, or name a queue that takes them", ErrRefused, r.sc, strings.Join(left, ", "))
	}
	return nil
}

// begin makes the scope REMOVING, or says what stands in the way.
func (r *remover) begin(ctx context.Context, desk *store.Airport) error {
	// Seen through when ctx ends, as the finish is: what was begun stands in the audit,
	// and its end must, too.
	through, stop := outlive(ctx, auditTime)
	defer stop()
	for {
		a, err := desk.BeginRemove(through, r.sc.Gate, r.actor, r.reason, r.counted(r.left, 1))
		if err != nil {
			return classed(err)
		}
		switch a.Result {
		case store.Done:
			return nil
		case store.NotYet:
			if !sleep(ctx, 250*time.Millisecond) {
				return fmt.Errorf("%w: %s is being declared", ErrRefused, r.sc)
			}
			continue
		case store.Serves:
			return fmt.Errorf("%w: %s is served by %s; stop its workers first (one counts as alive for five heartbeats after its last)", ErrRefused, r.sc, wire.Visible(strings.Join(a.What, ", ")))
		case store.HasGate:
			return fmt.Errorf("%w: %s has gates: %s; remove them first", ErrRefused, r.sc, wire.Visible(strings.Join(a.What, ", ")))
		case store.OnHold:
			return fmt.Errorf("%w: %s flights of %s are on hold until %s; try again then: a hold cannot be emptied", ErrRefused, strings.Join(a.What, ""), r.sc, a.Until.Format(time.RFC3339))
		case store.Aloft:
			return fmt.Errorf("%w: %s flights of %s are in the air", ErrRefused, strings.Join(a.What, ""), r.sc)
		}
		return fmt.Errorf("remove %s: %w: the store answered %q", r.sc, store.ErrScript, wire.Visible(string(a.Result)))
	}
}

func (r *remover) finish(ctx context.Context, desk *store.Airport, charters []string) error {
	through, stop := outlive(ctx, auditTime)
	defer stop()
	a, err := desk.FinishRemove(through, r.sc.Gate, charters, r.actor, r.reason, r.counted(r.out.Moved, 1))
	if err != nil {
		return r.halfway(ctx, "the status", err)
	}
	if a.Result == store.Changed {
		return r.halfway(ctx, "the status", fmt.Errorf("%w: somebody reopened it meanwhile", ErrRefused))
	}
	return nil
}

// halfway says where a removal stopped, here and in the audit.
func (r *remover) halfway(ctx context.Context, at string, err error) error {
	end, done := context.WithTimeout(context.WithoutCancel(ctx), auditTime)
	defer done()
	note := wire.AuditEntry{Actor: r.actor, Action: "remove", Scope: r.sc.String(), Reason: r.reason,
		Result: "ended early: " + wire.CleanEvidence(fmt.Sprintf("at %s: %v", at, err)), Count: r.counted(r.out.Moved, 0)}
	if e := r.g.st.AddAudit(end, r.sc.Airport, note); e != nil {
		r.g.log.Warn("the audit could not be written", "scope", note.Scope, "action", note.Action, "result", note.Result, "error", e)
	}
	moved := ""
	if r.out.Moved > 0 {
		moved = fmt.Sprintf(", after %d flights were moved to queue %s", r.out.Moved, wire.Visible(r.o.To))
	}
	return fmt.Errorf("%w: the removal of %s stopped at %s%s; nothing is lost: run it again, or reopen it to take it back: %w", ErrPartial, r.sc, at, moved, classed(err))
}

// move empties a queue into another: copy, confirm, acknowledge.
func (r *remover) move(ctx context.Context, queue string) error {
	if _, exists, err := r.g.bk.Depth(ctx, queue); err != nil || !exists {
		return err
	}
	sub, err := r.g.bk.Subscribe(ctx, queue, 2*moveBatch)
	if err != nil {
		return err
	}
	err = r.moveAll(ctx, queue, sub)
	end, done := context.WithTimeout(context.WithoutCancel(ctx), auditTime)
	defer done()
	return errors.Join(err, sub.Close(end)) // gives back what was not acknowledged
}

func (r *remover) moveAll(ctx context.Context, queue string, sub broker.Subscription) error {
	renew := time.NewTicker(lockFor / 3)
	defer renew.Stop()
	var session uint64
	for {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		batch, err := r.gather(ctx, queue, sub, renew.C)
		if err != nil {
			return err
		}
		if len(batch) == 0 {
			break
		}
		msgs := make([]broker.Publishing, len(batch))
		for i, d := range batch {
			msgs[i] = broker.Publishing{Key: r.o.To, Message: d.Message().Original()}
		}
		var first error
		// Seen through when ctx ends: a copy that is given up on would be made again.
		through, stop := outlive(ctx, answerTime)
		errs := r.g.bk.Publish(through, msgs)
		stop()
		for i, err := range errs {
			if err != nil {
				first = or(first, err)
				continue
			}
			r.out.Moved++ // it has arrived, whatever becomes of the original
			if err := batch[i].Ack(); err != nil && !errors.Is(err, broker.ErrStale) {
				first = or(first, err)
				continue
			}
			session = batch[i].Session()
		}
		if first != nil {
			return first
		}
	}
	if session == 0 {
		return nil
	}
	if err := sub.Sync(ctx, session); err != nil && !errors.Is(err, broker.ErrStale) {
		return err
	}
	return nil
}

// gather takes what is at hand; nothing once the queue is empty.
func (r *remover) gather(ctx context.Context, queue string, sub broker.Subscription, renew <-chan time.Time) (batch []broker.Delivery, err error) {
	idle := time.NewTimer(shelfIdle)
	defer idle.Stop()
	for len(batch) < moveBatch {
		select {
		case d, ok := <-sub.Deliveries():
			if !ok {
				return batch, broker.ErrClosed
			}
			batch = append(batch, d)
			continue
		default:
		}
		if len(batch) > 0 {
			return batch, nil
		}
		if n, _, err := r.g.bk.Depth(ctx, queue); err != nil {
			return nil, err
		} else if n == 0 && len(sub.Deliveries()) == 0 {
			idle.Reset(100 * time.Millisecond) // one may still be on its way
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case d, ok := <-sub.Deliveries():
			if !ok {
				return nil, broker.ErrClosed
			}
			batch = append(batch, d)
		case <-renew:
			if ok, err := r.lock.Renew(ctx); err != nil || !ok {
				return nil, fmt.Errorf("the lock of %s was lost: %w", r.sc, or(err, ErrRefused))
			}
		case <-idle.C:
			return nil, nil // what came back meanwhile is counted before the queue goes
		}
	}
	return batch, nil
}
