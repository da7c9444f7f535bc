package governor

import (
	"context"
	"errors"
	"time"

	"github.com/traction-go/traction/internal/broker"
	"github.com/traction-go/traction/internal/store"
	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/settle"
)

// settleFlown asks what becomes of a flight that flew.
func (l *lane) settleFlown(j *job) {
	if j.report.Outcome == settle.Conflict {
		j.report.Outcome = settle.Transient
	}
	if j.report.Outcome != settle.Landed {
		j.ev = evidence(j.report.Err, l.s.spec.Secrets)
	}
	j.report.After = min(max(j.report.After, 0), l.s.spec.MaxRetryAfter)
	j.plan = settle.Decide(j.report.Outcome, j.flight.Holds, l.s.spec.Holds)
	if j.died != "" {
		j.plan = deathPlan(j.flight.Holds)
	}
	j.step = settling
	l.settles = append(l.settles, j)
}

// verdict carries out what the script said of one settlement.
func (l *lane) verdict(j *job, v store.Verdict, now time.Time) {
	switch v {
	case store.Unborn, store.Late:
		// The scope has no status: it is born, then the settlement is asked again,
		// still unanswered for the airport.
		signal(l.s.bear)
		j.notBefore = now.Add(askAgain)
		if j.counted {
			l.s.unsettled.Add(1) // the caller takes this call's off
		}
		l.settles = append(l.settles, j)
		return
	}
	j.noted = false
	l.release(j)
	switch v {
	case store.Make:
		l.told(j, j.plan.Move, true)
		l.move(j, j.plan.Move)
	case store.Otherwise:
		l.told(j, j.plan.Otherwise, true)
		l.move(j, j.plan.Otherwise)
	case store.Landed:
		l.ack(j, false)
		l.forget(j)
	case store.HeldBy:
		l.holdTen(j)
	case store.NotYours, store.Gone:
		l.nack(j) // gone: the broker may have handed it out again since it was asked
	}
}

// told reports a settled flight to whoever listens.
func (l *lane) told(j *job, m settle.Move, applied bool) {
	l.s.g.stats.settled(l.gate, m, j.took && j.finding == "")
	l.s.g.reports.add(j, m, applied)
	j.permit = false // it is used up
	l.s.g.flown(j, m)
}

// move carries out a settlement: a landing is acknowledged, anything else is
// published, confirmed, and then acknowledged.
func (l *lane) move(j *job, m settle.Move) {
	j.move = m
	if m.Settlement == settle.Land && (m.Landing != settle.AsRejected || l.spec.DropRejected) {
		l.ack(j, m.Landing == settle.AsLanded)
		l.forget(j)
		return
	}
	if j.dead && (m.Settlement == settle.Hold || m.Settlement == settle.Defer) {
		l.forget(j) // the copy that the broker hands out again goes on
		return
	}
	j.step = moving
	l.unsent = append(l.unsent, j)
}

// ack acknowledges. marked says that a landing mark of ours is to be removed once
// the acknowledgement is known to have arrived.
func (l *lane) ack(j *job, marked bool) {
	if j.dead {
		return
	}
	session := j.d.Session()
	if err := j.d.Ack(); err != nil {
		if !errors.Is(err, broker.ErrStale) {
			l.log.Debug("acknowledging failed; the broker hands the flight out again", "flight", j.flight.ID, "error", err)
		}
		return
	}
	if !marked {
		return
	}
	if l.ackedIn != session {
		l.acked = nil // of a session that is over
		l.ackedIn = session
	}
	l.acked = append(l.acked, j.flight.ID)
}

type synced struct {
	session uint64
	flights []string
	err     error
}

// sync asks the broker, on the acking channel, whether the acks have arrived.
func (l *lane) sync() {
	l.syncing = true
	l.lastSync = time.Now()
	s := synced{session: l.ackedIn, flights: l.acked}
	l.acked = nil
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		s.err = l.sub.Sync(ctx, s.session)
		l.synced <- s
	}()
}

func (l *lane) confirmAcks(s synced) {
	l.syncing = false
	if s.err == nil {
		l.marks = append(l.marks, s.flights...)
	}
	// Otherwise it is not known that the acks arrived: the marks stay, and a tower
	// sweeps them after a day.
}

type published struct {
	jobs []*job
	errs []error
}

// resend publishes the copies of moves, those that failed before included.
func (l *lane) resend(now time.Time, sooner func(time.Time)) {
	if len(l.unsent) == 0 {
		return
	}
	var send, later []*job
	for _, j := range l.unsent {
		if now.Before(j.notBefore) {
			sooner(j.notBefore)
			later = append(later, j)
			continue
		}
		send = append(send, j)
	}
	l.unsent = later
	if len(send) == 0 {
		return
	}
	msgs := make([]broker.Publishing, len(send))
	for i, j := range send {
		msgs[i] = l.copyOf(j, now)
	}
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		l.published <- published{send, l.s.g.bk.Publish(ctx, msgs)}
	}()
	l.publishing++
}

// copyOf makes the message that a move publishes.
func (l *lane) copyOf(j *job, now time.Time) broker.Publishing {
	f := j.flight
	f.Holds = j.move.Holds
	f.Worker = l.s.g.id
	if j.took && j.finding == "" {
		f.Evidence = ""
		if j.died != "" {
			f.Evidence = j.ev.String() // for its parked copy, should it be convicted
		}
	}
	n, key := l.s.g.ns, l.gate.String()
	p := broker.Publishing{Key: key}
	switch j.move.Settlement {
	case settle.Hold:
		p.Exchange = n.Hold(j.move.Delay)
		if j.move.HeldFor != "" {
			f.HoldReason = string(j.move.HeldFor)
		}
	case settle.Park:
		p.Exchange = n.ParkedExchange()
		f.ParkedReason, f.Evidence, f.ParkedAt = j.move.Reason, j.ev.String(), l.s.now().UTC()
	case settle.Defer:
		p.Exchange = n.RunwayExchange()
	case settle.Land:
		p.Exchange = n.RejectedExchange()
		f.Evidence, f.ParkedAt = j.ev.String(), l.s.now().UTC()
	}
	if j.bare {
		f.Msg.Headers = nil
	}
	p.Message = f.Message()
	if p.Message.Timestamp.IsZero() {
		p.Message.Timestamp = now.UTC().Truncate(time.Second)
	}
	return p
}

// confirmed takes in the answers to published copies.
func (l *lane) confirmed(p published) {
	l.publishing--
	now := time.Now()
	for i, j := range p.jobs {
		err := p.errs[i]
		if err == nil {
			l.ack(j, false)
			l.forget(j)
			continue
		}
		if j.dead || l.draining && now.After(l.giveUpAt) {
			l.nack(j) // the original goes on
			continue
		}
		switch {
		case errors.Is(err, broker.ErrUnroutable):
			signal(l.s.bear) // its queue is gone: it is declared again
		case errors.Is(err, broker.ErrInvalid):
			j.bare = true // a foreign header cannot travel: without them, rather than not at all
		}
		if l.s.g.quiet("publish "+l.gate.String(), 10*time.Second) {
			l.log.Warn("a copy was not confirmed; it is published again, and the original stays until it is",
				"to", j.move.Name(), "flight", wire.Visible(j.flight.ID), "error", err)
		}
		j.tries++
		j.notBefore = now.Add(min(time.Duration(j.tries)*200*time.Millisecond, 5*time.Second))
		l.unsent = append(l.unsent, j)
	}
}
