package governor

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/traction-go/traction/internal/broker"
	"github.com/traction-go/traction/internal/wire"
)

// An intake takes over the messages of an adopted queue: it gives each an id and
// headers and moves it to a runway, where it is a flight like any other. Only as
// many are moved as the runway needs for now; the rest stays where it was.
//
// # Who owns a message, and what happens if the process dies right there
//
//	waiting  the adopted queue does. It stays, in its place.
//	in hand  the adopted queue does, unacknowledged. It goes back to it.
//	moved    both: the copy on the runway is confirmed, the original is not
//	         acknowledged yet. It goes back and is moved once more, under another
//	         flight id and the same idempotency key: at least once, never none.
//	acked    the runway does.
//
// # How it stops
//
// It cancels the consumer, moves what it has in hand, acknowledges it, and returns
// nothing: on a queue with a delivery limit (20, where RabbitMQ 4 is told none) each
// return counts, and the one over the limit is dropped. So it can stop any number of
// times. Only a process that is killed, or whose grace ends while the broker takes
// no copies, returns something.
//
// # How much it moves
//
// The consumer's prefetch bounds what is in hand. Before that is acknowledged, which
// makes the broker hand out as much again, the runways are looked at: what is in
// hand must still fit. Otherwise the consumer is cancelled first, and starts again
// when the runways have half run dry.
type intake struct {
	s    *station
	gate wire.Scope // that adopts
	spec Adoption
	read reading
	log  *slog.Logger
	sub  broker.Subscription
	wake chan struct{}
	fed  []*fedLane

	// owned by the intake's goroutine
	lost    uint64 // sessions up to this one are over
	stood   bool   // it was told that the intake stands still
	unflown int64  // flights settled without a call before this run
}

// fedLane is a lane that the intake feeds.
type fedLane struct {
	*lane
	pace rate  // of its calls here
	seen int64 // calls
}

// newIntakes makes the intakes of a station whose lanes stand.
func newIntakes(s *station) []*intake {
	var all []*intake
	for _, g := range s.spec.Gates {
		if g.Adopt == nil {
			continue
		}
		in := &intake{s: s, gate: wire.Scope{Airport: s.spec.ID, Gate: g.ID}, spec: *g.Adopt,
			read: newReading(g.Adopt, g.ID), wake: make(chan struct{}, 1)}
		in.log = s.g.log.With("scope", in.gate.String(), "queue", wire.Visible(g.Adopt.Queue))
		for _, id := range g.Adopt.fed(g.ID) {
			for _, l := range s.lanes {
				if l.spec.ID == id {
					in.fed = append(in.fed, &fedLane{lane: l})
				}
			}
		}
		all = append(all, in)
	}
	return all
}

const (
	// maxIntake is the most that is in hand. It is no more than a subscription
	// buffers whatever its first prefetch, so that a cancelled consumer never has to
	// return what does not fit.
	maxIntake  = broker.MinBuffer
	intakeTick = 250 * time.Millisecond
	// startedLate is how long a consumer that is being started has after a stop.
	startedLate = 5 * time.Second
)

// run moves messages until stop has ended and what was in hand is moved; hard is
// the moment to give that up.
func (in *intake) run(stop, hard context.Context) {
	defer in.close()
	for _, l := range in.fed {
		for !l.born.Load() {
			if !in.pause(stop, time.Minute) {
				return
			}
		}
	}
	in.unflown = in.unflownNow()
	b := newBackoff(100*time.Millisecond, 5*time.Second)
	for {
		n, wait := in.mayTake(stop)
		switch {
		case stop.Err() != nil:
			return
		case n == 0:
			if !in.pause(stop, wait) {
				return
			}
			continue
		}
		if err := in.start(stop, hard, n); err != nil {
			in.warn(stop, "consuming the adopted queue failed; it is tried again", err)
			if !in.pause(stop, b.delay()) {
				return
			}
			continue
		}
		b.reset()
		if !in.take(stop, hard, n) {
			return
		}
	}
}

// pause waits for d or a wake-up; false when ctx has ended.
func (in *intake) pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-in.wake:
	case <-t.C:
	}
	return ctx.Err() == nil
}

// start consumes, with n messages in hand at most. A stop in the middle does not cut it
// off at once: the broker may have handed messages out with its answer, which would go
// back to the adopted queue.
func (in *intake) start(stop, hard context.Context, n int) error {
	ctx, cancel := context.WithTimeout(hard, 15*time.Second)
	defer cancel()
	defer context.AfterFunc(stop, func() { time.AfterFunc(startedLate, cancel) })()
	if in.sub != nil {
		return in.sub.Resume(ctx, n)
	}
	sub, err := in.s.g.bk.Subscribe(ctx, in.spec.Queue, n)
	if errors.Is(err, broker.ErrNoQueue) {
		return errors.Join(err, errors.New("an adopted queue is never declared here: declare it, or remove adopt"))
	}
	if err == nil {
		in.sub = sub
	}
	return err
}

// take moves what is handed out until the intake has to stand still, and returns
// with the consumer cancelled and nothing in hand; false when hard ended before.
func (in *intake) take(stop, hard context.Context, n int) bool {
	var room int // since the last look
	tick := time.NewTicker(intakeTick)
	defer tick.Stop()
	for {
		var first broker.Delivery
		select {
		case d, ok := <-in.sub.Deliveries():
			if !ok {
				return false
			}
			first = d
		case <-stop.Done():
			return in.stand(hard, nil)
		case <-hard.Done():
			return false
		case <-in.wake:
		case <-tick.C:
		}
		if first == nil {
			in.s.g.stats.dry(in.gate) // it consumes, and nothing was handed out
			if !in.open() {
				return in.stand(hard, nil)
			}
			continue
		}
		moved, ok := in.move(hard, in.atHand(first, n))
		if !ok {
			return false
		}
		// Acknowledging it lets the broker hand out as much again.
		if room -= len(moved); room < n {
			a := in.allowed(stop)
			room = a.room
			if a.atOnce() > 2*n {
				room = 0 // it keeps up: start again with more in hand
			}
		}
		if stop.Err() != nil || room < n || !in.open() {
			return in.stand(hard, moved)
		}
		in.ack(moved)
	}
}

// atHand gives the delivery and those that are buffered behind it.
func (in *intake) atHand(first broker.Delivery, n int) []broker.Delivery {
	batch := []broker.Delivery{first}
	for len(batch) < n {
		select {
		case d, ok := <-in.sub.Deliveries():
			if ok {
				batch = append(batch, d)
				continue
			}
		default:
		}
		break
	}
	return batch
}

// stand cancels the consumer, moves what is in hand and acknowledges it together
// with moved. Nothing is returned.
func (in *intake) stand(hard context.Context, moved []broker.Delivery) bool {
	b := newBackoff(100*time.Millisecond, 2*time.Second)
	var rest []broker.Delivery
	for {
		paused := make(chan error, 1)
		ctx, cancel := context.WithTimeout(hard, 15*time.Second)
		go func() { paused <- in.sub.Pause(ctx) }()
		var err error
		for waiting := true; waiting; {
			select {
			case d, ok := <-in.sub.Deliveries():
				if ok {
					rest = append(rest, d)
				}
			case err = <-paused:
				waiting = false
			}
		}
		cancel()
		if err == nil || errors.Is(err, broker.ErrClosed) {
			break
		}
		in.warn(hard, "the consumer of the adopted queue could not be cancelled; it is tried again", err)
		if !b.wait(hard) {
			return false
		}
	}
	for len(in.sub.Deliveries()) > 0 {
		rest = append(rest, <-in.sub.Deliveries())
	}
	in.ack(moved)
	moved, ok := in.move(hard, rest)
	in.ack(moved)
	return ok
}

// close ends the consumer. What is still in hand, which is nothing after an orderly
// end, goes back to its queue.
func (in *intake) close() {
	if in.sub == nil {
		return
	}
	ctx, cancel := contextWithin(10 * time.Second)
	defer cancel()
	if err := in.sub.Close(ctx); err != nil {
		in.log.Warn("closing the consumer of the adopted queue failed; the broker gives its messages back when the connection ends", "error", err)
	}
}

func (in *intake) warn(ctx context.Context, what string, err error) {
	if ctx.Err() == nil && in.s.g.quiet(what+" "+in.gate.String(), 10*time.Second) {
		in.log.Warn(what, "error", err)
	}
}
