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

// What one client has in hand of a queue, no other client can see or count: a look, a
// backup and a move all hide what they hold, for as long as they hold it. The broker
// tells how many have something in hand, in the same answer as what is ready. With
// nobody there, ready is all; with somebody, what was seen is told as a part.

// handPatience is how long a shelf is waited for that somebody has in hand: most looks
// are shorter.
const handPatience = 2 * time.Second

// countPatience is how long a mere count waits for that: the view of somebody else looks
// at a shelf again and again, a moment each time.
const countPatience = 250 * time.Millisecond

// errInHand is the class of what was done with a part of a shelf, while others had the
// rest of it in hand.
var errInHand = fmt.Errorf("%w: not all of it can be seen at this moment", ErrPartial)

// lookPatience is how long a look waits for another's.
const lookPatience = 5 * time.Second

// lookAlone takes the look at a shelf, or waits for whoever has it: looks that overlap
// hide what they hold from each other, and give it back out of its order. done ends it.
// errInHand: somebody else has it for longer.
func (g *Governor) lookAlone(ctx context.Context, shelf Shelf, gate wire.Scope, action string) (done func(), err error) {
	for deadline := time.Now().Add(lookPatience); ; {
		lock, holder, err := g.st.LockLook(ctx, gate, string(shelf), g.actor(""), action, lockFor)
		if err != nil {
			return nil, classed(err)
		}
		if holder == nil {
			return g.keepLook(ctx, lock), nil
		}
		if time.Now().After(deadline) {
			return nil, g.inHand(ctx, shelf, gate, 0, "nothing of it was looked at")
		}
		if !sleep(ctx, 20*time.Millisecond) {
			return nil, context.Cause(ctx)
		}
	}
}

// keepLook holds a look until its end. One whose holder dies ends by itself.
func (g *Governor) keepLook(ctx context.Context, lock *store.Lock) (done func()) {
	live, stop := context.WithCancel(ctx)
	kept := make(chan struct{})
	go func() {
		defer close(kept)
		for sleep(live, lockFor/3) {
			if _, err := lock.Renew(live); err != nil {
				g.log.Debug("a look was not renewed", "error", err)
			}
		}
	}()
	return func() {
		stop()
		<-kept
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		if err := lock.Release(end); err != nil {
			g.log.Debug("a look was not given up; it ends by itself", "error", err)
		}
	}
}

// backPatience is how long a look waits to see all it gave back: a replicated queue has it
// a moment after it took it back, and of a look that was interrupted even the consumer may
// be there still. What others took meanwhile does not come.
const backPatience = 2 * time.Second

// awaitBack waits, before a look ends, until the next one finds as many as it did.
func (g *Governor) awaitBack(ctx context.Context, queue string, ready int) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), backPatience)
	defer cancel()
	for {
		s, err := g.bk.Standing(ctx, queue)
		if err != nil || s.Ready >= ready || !sleep(ctx, 10*time.Millisecond) {
			return
		}
	}
}

// unwatched is wholeShelf once nobody looks at it. Somebody who does at the deadline
// counts as a consumer: between its own and the broker's word there are moments in which
// what it has is neither ready nor told of.
func (g *Governor) unwatched(ctx context.Context, shelf Shelf, gate wire.Scope, deadline time.Time) (broker.Standing, error) {
	for {
		h, err := g.st.LookHolder(ctx, gate, string(shelf))
		if err != nil {
			return broker.Standing{}, classed(err)
		}
		if h == nil || time.Now().After(deadline) {
			s, err := g.wholeShelf(ctx, shelf, gate, deadline)
			if h != nil {
				s.Consumers = max(s.Consumers, 1)
			}
			return s, err
		}
		if !sleep(ctx, 20*time.Millisecond) {
			return broker.Standing{}, context.Cause(ctx)
		}
	}
}

// wholeShelf is wholeQueue of a gate's shelf. ErrNotFound: the gate has none.
func (g *Governor) wholeShelf(ctx context.Context, shelf Shelf, gate wire.Scope, deadline time.Time) (broker.Standing, error) {
	s, err := g.wholeQueue(ctx, shelf.queue(g.ns, gate), deadline)
	if err != nil {
		return s, classed(err)
	}
	if !s.Exists {
		return s, fmt.Errorf("gate %s: %w: it has no %s queue in namespace %s", gate, ErrNotFound, shelf, g.ns)
	}
	return s, nil
}

// wholeQueue counts a queue as soon as nobody has any of it in hand, or at the deadline
// as it is then.
func (g *Governor) wholeQueue(ctx context.Context, queue string, deadline time.Time) (broker.Standing, error) {
	for {
		s, err := g.bk.Standing(ctx, queue)
		if err != nil || s.Consumers == 0 || time.Now().After(deadline) {
			return s, err
		}
		if !sleep(ctx, 20*time.Millisecond) {
			return s, context.Cause(ctx)
		}
	}
}

// own is what the one who tells of others has himself of a gate.
type own uint8

const (
	ownLook own = iota + 1 // at the shelf
	ownLock                // of the gate
)

// inHand says who has a part of a shelf in hand, and what to do. what is what was not
// seen of it.
func (g *Governor) inHand(ctx context.Context, shelf Shelf, gate wire.Scope, mine own, what string) error {
	who := "somebody else (a look, a backup or another consumer)"
	told := func(h *store.LockHolder) string {
		return fmt.Sprintf("%s (%s, since %s)", wire.Visible(h.Actor), wire.Visible(h.Action), time.UnixMilli(h.At).UTC().Format(time.RFC3339))
	}
	if h, err := g.st.LookHolder(ctx, gate, string(shelf)); err == nil && h != nil && mine != ownLook {
		who = told(h)
	} else if h, err := g.st.GateHolder(ctx, gate); err == nil && h != nil && mine != ownLock && (strings.HasPrefix(h.Action, string(shelf)+" ") || h.Action == "remove") {
		who = told(h)
	}
	return fmt.Errorf("%w: %s has a part of what is %s at %s in hand, or had it meanwhile; %s, and nothing of it is lost: try again when that has ended",
		errInHand, who, shelf, gate, what)
}

// goesOn reports whether a move of several gates goes on with the next one: a part of
// this one was not to be had.
func goesOn(err error) bool { return errors.Is(err, errShort) || errors.Is(err, errInHand) }

// counted is the count of a shelf for those who ask how things stand: Unread where a
// part of it is in somebody's hands.
func (g *Governor) counted(ctx context.Context, queue string) int {
	s, err := g.wholeQueue(ctx, queue, time.Now().Add(countPatience))
	if err != nil || s.Consumers > 0 {
		return Unread
	}
	return s.Ready
}
