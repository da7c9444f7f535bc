package governor

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"time"

	"github.com/traction-go/traction/internal/broker"
	"github.com/traction-go/traction/internal/store"
	"github.com/traction-go/traction/internal/wire"
)

const (
	lockFor     = 30 * time.Second
	moveBatch   = 500              // flights moved in one step
	movePipes   = 3                // steps outstanding
	shelfWindow = 4000             // flights in hand from one consumer
	shelfIdle   = 3 * time.Second  // without a delivery: what is missing was taken by others
	mostHeld    = shelfWindow * 64 // flights looked at and left, in hand at once
	returnFor   = 2 * time.Second  // for what was given back to stand in the queue again
	heardFor    = 10 * time.Second // for the broker to say that it has acknowledgements
)

// moveShelf replays or discards gate by gate.
func (g *Governor) moveShelf(ctx context.Context, shelf Shelf, scope, verb string, o MoveOptions) (MoveResult, error) {
	var res MoveResult
	gates, err := g.gatesOn(ctx, scope)
	if err != nil {
		return res, err
	}
	if o.Canary < 0 || o.Canary > MaxCanary || o.Rate < 0 || o.Filter.Limit < 0 {
		return res, fmt.Errorf("%w: canary, rate and limit must not be negative, and a canary not over %d", ErrName, MaxCanary)
	}
	for _, gate := range gates {
		if _, err := g.shelfDepth(ctx, shelf, gate); err != nil {
			return res, err
		}
	}
	var short error
	deadline := time.Now().Add(handPatience)
	for i, gate := range gates {
		m := &mover{deadline: deadline, g: g, shelf: shelf, gate: gate, verb: verb, o: o, res: &res, actor: g.actor(o.Actor), begin: res}
		err := interrupted(ctx, m.run(ctx))
		if err != nil && goesOn(err) && ctx.Err() == nil {
			short = errors.Join(short, err)
			continue
		}
		if err != nil {
			if err = errors.Join(short, err); res.Moved+res.Unknown > 0 && !errors.Is(err, ErrPartial) {
				err = fmt.Errorf("%w: %d moved, %d left%s: %w", ErrPartial, res.Moved, res.Left, unknown(res), err)
			}
			for _, rest := range gates[i+1:] {
				if n, err := g.shelfDepth(context.WithoutCancel(ctx), shelf, rest); err == nil {
					res.Planned += n
					res.Left += n
				}
			}
			return res, err
		}
	}
	return res, short
}

// errShort is the class of a move that found less on a shelf than there was when it
// began. It is partly done, and says of which gate.
var errShort = fmt.Errorf("%w: not all of it came", ErrPartial)

// shortage says what did not come.
func (m *mover) shortage(missing, planned int) error {
	if len(m.held) >= mostHeld {
		return fmt.Errorf("%w: %d flights of %s were looked at and do not match, which is as many as can be in hand at once; %d were not looked at: move or discard what is in front of them first",
			errShort, len(m.held), m.gate, missing)
	}
	return fmt.Errorf("%w: %d of the %d flights that were %s at %s when it began were not handed out within %v: somebody else took them, or holds them (another consumer of %s)",
		errShort, missing, planned, m.shelf, m.gate, shelfIdle, m.shelf.queue(m.g.ns, m.gate))
}

// mover moves the flights of one gate's shelf.
//
// The broker owns each flight until its copy is confirmed (a replay) or its seat is
// moved (a discard), and the original is acknowledged after that. A mover that dies
// anywhere leaves the rest where it was, and at most the flights of the steps that
// were outstanding twice: under one flight id, with one landing.
type mover struct {
	g     *Governor
	shelf Shelf
	gate  wire.Scope
	verb  string
	o     MoveOptions
	res   *MoveResult
	begin MoveResult // before this gate
	actor string

	deadline time.Time // for others to have nothing in hand

	desk    *store.Airport
	held    []broker.Delivery // looked at and left
	canary  []string          // flights of the canary
	doubled int               // left, with a copy on the runway, or perhaps
	stopped error
	next    time.Time // of the rate
}

func (m *mover) run(ctx context.Context) (err error) {
	if m.o.DryRun {
		return m.count(ctx)
	}
	lock, holder, err := m.g.st.LockGate(ctx, m.gate, m.actor, m.shelf.action(m.verb, m.o), lockFor)
	if err != nil {
		return classed(err)
	}
	if holder != nil {
		return lockedBy(holder, m.gate)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	renewed := make(chan struct{})
	go func() { defer close(renewed); m.keepLock(ctx, lock, cancel) }()
	defer func() {
		cancel(nil)
		<-renewed
		end, done := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer done()
		if e := lock.Release(end); e != nil {
			m.g.log.Debug("the lock was not released; it ends by itself", "scope", m.gate.String(), "error", e)
		}
	}()
	// Counted under the lock: whoever held it before has moved what it counted.
	s, err := m.g.unwatched(ctx, m.shelf, m.gate, m.deadline)
	if err != nil {
		return err
	}
	n := s.Ready
	if m.desk, err = m.g.desk(ctx, m.gate); err != nil {
		return err
	}
	// Two entries: one that begins, so that a command that is killed stands there
	// too, and one that says how it ended.
	begun := "counts all that was " + string(m.shelf) + " then"
	if only := m.only(); only != "" {
		begun += "; moves " + only
	}
	if err := m.audit(ctx, "begun", begun, n); err != nil {
		return err
	}
	if err := m.desk.BeginOperating(ctx, m.gate.Gate); err != nil {
		return classed(err)
	}
	m.res.Planned += n
	err = m.moveAll(ctx, n)
	if err = interrupted(ctx, err); err == nil {
		err = context.Cause(ctx)
	}
	if err == nil && s.Consumers > 0 {
		err = m.g.inHand(context.WithoutCancel(ctx), m.shelf, m.gate, ownLock, "what they hold is not counted")
	}
	if m.doubled > 0 && err != nil {
		err = fmt.Errorf("%w; a copy of %d of those that are left is on the runway of %s, or may be: replayed again, those fly twice, under one id", err, m.doubled, m.gate)
	}
	moved := m.res.Moved - m.begin.Moved
	m.res.Left = m.res.left()
	result := "ok"
	if err != nil {
		result = "ended early: " + wire.CleanEvidence(err.Error()+unknown(*m.res))
	}
	end, done := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer done()
	return errors.Join(err, m.audit(end, result, m.only(), moved))
}

// lockedBy refuses a gate that another operator has, and says when that ends: a lock
// whose holder has died is not renewed.
func lockedBy(h *store.LockHolder, gate wire.Scope) error {
	what := ""
	if h.At > 0 {
		what = fmt.Sprintf(" (%s, since %s)", wire.Visible(h.Action), time.UnixMilli(h.At).UTC().Format(time.RFC3339))
	}
	return fmt.Errorf("%w: %s is moving the flights of %s%s; wait for it to end, or %.0f s where it was killed: its lock ends by itself",
		ErrRefused, wire.Visible(h.Actor), gate, what, lockFor.Seconds())
}

// only says what was chosen; "" for all.
func (m *mover) only() string {
	if s := m.o.Filter.String(); s != "" {
		return "only " + s
	}
	return ""
}

func (m *mover) audit(ctx context.Context, result, reason string, count int) error {
	return classed(m.g.st.AddAudit(ctx, m.gate.Airport, wire.AuditEntry{Actor: m.actor, Action: m.shelf.action(m.verb, m.o), Scope: m.gate.String(),
		Reason: wire.CleanEvidence(reason), Result: result, Count: count}))
}

func (m *mover) keepLock(ctx context.Context, l *store.Lock, lost context.CancelCauseFunc) {
	for sleep(ctx, lockFor/3) {
		ok, err := l.Renew(ctx)
		if err == nil && !ok {
			lost(fmt.Errorf("%w: the lock of %s was lost to another operator", ErrRefused, m.gate))
			return
		}
	}
}

// count is a dry run.
func (m *mover) count(ctx context.Context) error {
	done, err := m.g.lookAlone(ctx, m.shelf, m.gate, m.verb+" --dry-run")
	if err != nil {
		return err
	}
	defer done()
	s, err := m.g.wholeShelf(ctx, m.shelf, m.gate, m.deadline)
	if err != nil {
		return err
	}
	n, seen := s.Ready, 0
	m.res.Planned += n
	now, err := m.g.st.Now(ctx)
	if err != nil {
		return classed(err)
	}
	if n > 0 {
		err = m.g.bk.Browse(ctx, m.shelf.queue(m.g.ns, m.gate), n, func(msg wire.Message) bool {
			seen++
			if !m.o.Filter.takes(m.shelf.flight(msg, m.gate), now) {
				m.res.skip("filter", 1)
			} else if m.more() {
				m.res.Moved++
			}
			return true
		})
		m.g.awaitBack(ctx, m.shelf.queue(m.g.ns, m.gate), n)
	}
	m.res.Left = m.res.left()
	if err == nil && (s.Consumers > 0 || seen < n) {
		return m.g.inHand(ctx, m.shelf, m.gate, ownLook, "what they hold is not looked at")
	}
	return classed(err)
}

// more reports whether the limit allows another flight.
func (m *mover) more() bool { return m.o.Filter.Limit == 0 || m.res.Moved < m.o.Filter.Limit }

// moveAll moves what matches among the first n flights of the shelf.
func (m *mover) moveAll(ctx context.Context, n int) error {
	now, err := m.g.st.Now(ctx)
	if err != nil {
		return classed(err)
	}
	h := &shelfHand{m: m}
	defer func() { m.close(h.subs) }()
	steps := make(chan moveStep, movePipes)
	outstanding := 0
	collect := func(most int) {
		for outstanding > most {
			m.done(<-steps)
			outstanding--
		}
	}
	defer func() { collect(0) }()
	planned := m.res.Moved // moves begun, at the gates before too: the limit is for all
	for seen := 0; seen < n && m.stopped == nil; {
		size := moveBatch
		watch := m.o.Canary > len(m.canary) && m.verb == "replay"
		if watch {
			size = min(size, m.o.Canary-len(m.canary))
		}
		if m.o.Rate > 0 {
			size = min(size, max(1, int(m.o.Rate/10)))
		}
		if limit := m.o.Filter.Limit; limit > 0 {
			if size = min(size, limit-planned); size <= 0 {
				break
			}
		}
		// What has to wait for its turn, or for the canary, waits on the shelf, where
		// others see it.
		slow := watch || m.o.Rate > 0
		if err := m.pace(ctx); err != nil {
			return err
		}
		if err := h.open(ctx, slow, size, n-seen); err != nil {
			return err
		}
		batch, looked, err := m.gather(ctx, h.subs, size, n-seen, now)
		seen += looked
		if err != nil {
			m.held = append(m.held, batch...)
			return err
		}
		if slow {
			if err := h.close(ctx); err != nil {
				m.held = append(m.held, batch...)
				return err
			}
		}
		if looked == 0 {
			collect(0)
			if m.stopped != nil {
				return m.stopped
			}
			return m.shortage(n-seen, n)
		}
		if len(batch) == 0 {
			continue
		}
		m.spent(len(batch))
		planned += len(batch)
		collect(movePipes - 1)
		outstanding++
		subs := h.subs
		go func() { steps <- m.step(ctx, subs, batch, watch) }()
		if slow {
			collect(0)
		}
		if watch {
			for _, d := range batch {
				m.canary = append(m.canary, d.Message().ID)
			}
			if len(m.canary) >= m.o.Canary && m.stopped == nil {
				if err := m.awaitCanary(ctx); err != nil {
					return err
				}
			}
		}
		if m.o.Progress != nil {
			m.o.Progress(m.now())
		}
	}
	collect(0)
	return m.stopped
}

// now is the result as it stands.
func (m *mover) now() MoveResult {
	r := *m.res
	r.Left = r.left()
	return r
}

// gather takes deliveries until it has size that match, or has looked at most many,
// or nothing more comes.
func (m *mover) gather(ctx context.Context, subs []broker.Subscription, size, most int, now time.Time) (batch []broker.Delivery, looked int, err error) {
	idle := time.NewTimer(shelfIdle)
	defer idle.Stop()
	for len(batch) < size && looked < most && len(m.held) < mostHeld {
		d, some := arrived(subs)
		if !some {
			if len(batch) > 0 || looked > 0 {
				return batch, looked, nil // what is there goes on its way
			}
			switch d, err = await(ctx, subs, idle.C); {
			case err != nil:
				return batch, looked, err
			case d == nil:
				return batch, looked, nil
			}
		}
		if d == nil {
			return batch, looked, fmt.Errorf("%w: the consumer was closed", ErrUnreachable)
		}
		looked++
		if !m.o.Filter.takes(m.shelf.flight(d.Message(), m.gate), now) {
			m.res.skip("filter", 1)
			m.held = append(m.held, d)
			continue
		}
		batch = append(batch, d)
	}
	return batch, looked, nil
}

// arrived takes a delivery that is there, of the oldest consumer that has one.
func arrived(subs []broker.Subscription) (d broker.Delivery, some bool) {
	for _, sub := range subs {
		select {
		case d = <-sub.Deliveries():
			return d, true
		default:
		}
	}
	return nil, false
}

// await waits for a delivery of any of the consumers; nil when none comes in time.
func await(ctx context.Context, subs []broker.Subscription, idle <-chan time.Time) (broker.Delivery, error) {
	receive := func(c any) reflect.SelectCase {
		return reflect.SelectCase{Dir: reflect.SelectRecv, Chan: reflect.ValueOf(c)}
	}
	cases := []reflect.SelectCase{receive(ctx.Done()), receive(idle), receive(subs[len(subs)-1].Lost())}
	for _, sub := range subs {
		cases = append(cases, receive(sub.Deliveries()))
	}
	switch i, v, _ := reflect.Select(cases); i {
	case 0:
		return nil, context.Cause(ctx)
	case 1:
		return nil, nil
	case 2:
		return nil, fmt.Errorf("%w: the connection was lost; run it again for the rest", ErrUnreachable)
	default:
		d, ok := v.Interface().(broker.Delivery)
		if !ok {
			return nil, fmt.Errorf("%w: the consumer was closed", ErrUnreachable)
		}
		return d, nil
	}
}

// pace waits until the rate allows more.
func (m *mover) pace(ctx context.Context) error {
	if wait := time.Until(m.next); m.o.Rate > 0 && wait > 0 {
		sleep(ctx, wait)
	}
	return context.Cause(ctx)
}

// spent says that n of what the rate allows are on their way.
func (m *mover) spent(n int) {
	if m.o.Rate <= 0 {
		return
	}
	if now := time.Now(); m.next.Before(now) {
		m.next = now
	}
	m.next = m.next.Add(time.Duration(float64(n) / m.o.Rate * float64(time.Second)))
}

// close makes sure that the acks have arrived, gives back what was only looked at,
// and ends the consumers. It returns when the broker has all of it back, so that
// whoever looks next sees it. The consumers end first: they would get it again.
func (m *mover) close(subs []broker.Subscription) {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	for _, sub := range subs {
		if err := sub.Pause(ctx); err != nil {
			m.g.log.Debug("pausing a consumer failed", "error", err)
		}
		for more := true; more; {
			select {
			case d := <-sub.Deliveries():
				if more = d != nil; more {
					m.held = append(m.held, d)
				}
			default:
				more = false
			}
		}
	}
	sessions := map[uint64]bool{} // one for each consumer, and more where a connection was lost
	for _, d := range m.held {
		sessions[d.Session()] = true
		if err := d.Nack(); err != nil && !errors.Is(err, broker.ErrStale) {
			m.g.log.Debug("giving a flight back failed; it goes back when the consumer ends", "error", err)
		}
	}
	for _, sub := range subs {
		for session := range sessions {
			if err := sub.Sync(ctx, session); err != nil && !errors.Is(err, broker.ErrStale) {
				m.g.log.Debug("the broker did not say that it has the flights back", "error", err)
			}
		}
		if err := sub.Close(ctx); err != nil {
			m.g.log.Warn("closing a consumer failed; its flights go back when the connection ends", "error", err)
		}
	}
	m.awaitReturn(ctx, subs)
}

// awaitReturn waits until nothing of the shelf is in hand any more: a replicated queue
// has what was given back a moment after it took the return, and whoever looks in
// between would find the shelf shorter than it is. Should somebody else have it in
// hand, there is nothing to wait for.
func (m *mover) awaitReturn(ctx context.Context, subs []broker.Subscription) {
	if len(subs) == 0 {
		return
	}
	deadline := time.Now().Add(returnFor)
	if _, err := m.g.wholeShelf(ctx, m.shelf, m.gate, deadline); err != nil {
		m.g.log.Debug("it is not known whether the flights are back on their shelf", "scope", m.gate.String(), "error", err)
	}
}
