package governor

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/traction-go/traction/internal/store"
	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/settle"
)

// outgoing is one call to the store with the jobs it is about. Until it is
// answered it is repeated as it was, under the same number.
type outgoing struct {
	call    store.FlightCall
	settles []*job
	gives   []*job
	clears  []*job
	calls   []int // how many of clears fly in each call; nil: one
	counted int64
	sent    time.Time
	again   bool
}

type reply struct {
	out *outgoing
	r   store.FlightReply
	err error
}

// call sends what there is to send: settlements, flights to give back, marks to
// remove, then clearances for as many flights as pilots will take at once. It
// returns how long there is nothing to ask for, or 0.
func (l *lane) call(now time.Time) (wait time.Duration) {
	out := l.repeat
	if out == nil {
		out, wait = l.compose(now)
		if out == nil {
			return wait
		}
		l.seq++
		out.call.Seq = l.seq
	}
	l.repeat = nil
	for i, j := range out.settles {
		out.call.Settle[i].Gone = j.dead // each try says whether the delivery still lives
	}
	out.sent = now
	for _, j := range out.clears {
		j.step, j.asked = asking, now
	}
	l.calling = true
	go func() {
		r, err := l.s.hold.Flight(context.Background(), l.spec.ID, out.call)
		l.replied <- reply{out, r, err}
	}()
	return 0
}

// compose makes the next call, or nil where there is nothing to say.
func (l *lane) compose(now time.Time) (*outgoing, time.Duration) {
	out := &outgoing{}
	var later []*job
	for _, j := range l.settles {
		if len(out.settles) == maxPerCall || now.Before(j.notBefore) {
			later = append(later, j)
			continue
		}
		out.settles = append(out.settles, j)
		if j.counted {
			out.counted++
		}
	}
	wait := time.Duration(0)
	if len(later) > 0 {
		wait = askAgain
	}
	n := min(len(l.gives), maxPerCall)
	out.gives = l.gives[:n]
	marks := min(len(l.marks), 2*maxPerCall)

	inc, room := "", 0
	turn := len(l.queue) > 0 && l.queue[0].alone
	if len(l.queue) > 0 && !l.shouldStay(now) && !l.grounded() {
		var w time.Duration
		l.busy.Store(l.load() + 1) // before looking: whoever flies suspects looks at this
		if l.s.g.solo.active.Load() && !turn {
			l.busy.Store(l.load())
		} else if inc, room, w = l.mayAsk(now, out.counted); w > 0 && (wait == 0 || w < wait) {
			wait = w
		}
	}
	if turn {
		room = min(room, 1)
	}
	var w time.Duration
	if l.spec.Batch != nil {
		out.clears, out.calls, w = l.group(now, room)
	} else {
		out.clears, w = l.single(now, room)
	}
	if w > 0 && (wait == 0 || w < wait) {
		wait = w
	}
	if len(out.settles)+len(out.gives)+marks+len(out.clears) == 0 {
		return nil, wait
	}
	l.settles = later
	l.gives = append([]*job(nil), l.gives[n:]...)
	if inc == "" {
		inc = l.s.incs.current()
	}
	a := l.s.spec
	out.call = store.FlightCall{
		Incarnation: inc, Mode: string(a.Mode),
		Limits: store.Limits{AirportFault: a.Streaks.AirportFault, GateFault: a.Streaks.GateFault, RecordFault: a.Streaks.RecordFault,
			Transient: a.Streaks.Transient, Window: a.Streaks.Window},
		Slots: store.Slots{N: a.Slots.N, Per: a.Slots.Per, Stamp: l.s.stamp.Load()},
		Steps: a.Holds.Transient,
		Marks: append([]string(nil), l.marks[:marks]...),
	}
	if a.Mode == Observe && a.TellObserved {
		out.call.Mode = "observe-told"
	}
	l.marks = append([]string(nil), l.marks[marks:]...)
	for _, j := range out.settles {
		out.call.Settle = append(out.call.Settle, j.settlement())
	}
	for _, j := range out.gives {
		out.call.Returns = append(out.call.Returns, j.flight.ID)
	}
	for _, j := range out.clears {
		out.call.Clear = append(out.call.Clear, store.Request{Flight: j.flight.ID, Run: j.flight.Charter, Seat: j.flight.Seat, Alone: j.alone, Slot: j.slot})
	}
	return out, 0
}

// single picks from the queue what is asked for now, each for a call of its own, and
// says how long the next is not due.
func (l *lane) single(now time.Time, room int) (asked []*job, wait time.Duration) {
	var keep []*job
	for i, j := range l.queue {
		if len(asked) >= room {
			keep = append(keep, l.queue[i:]...)
			break
		}
		if now.Before(j.notBefore) || !l.takePermit(j) {
			keep = append(keep, j)
			if d := j.notBefore.Sub(now); d > 0 && (wait == 0 || d < wait) {
				wait = d
			}
			continue
		}
		asked = append(asked, j)
	}
	l.queue = keep
	return asked, wait
}

// mayAsk says for how many flights a clearance may be asked for now, and with
// which incarnation; or how long not.
func (l *lane) mayAsk(now time.Time, counted int64) (inc string, room int, wait time.Duration) {
	if l.s.unsettled.Load() > counted {
		return "", 0, 0 // woken when they are answered
	}
	if now.Before(l.notBefore) {
		return "", 0, l.notBefore.Sub(now)
	}
	inc, wait, ok := l.s.incs.clears(now)
	if !ok {
		return "", 0, wait
	}
	if l.halted.Load() {
		return inc, maxPerCall, 0 // the gate is stopped: they will be parked
	}
	room = l.wanted() - l.aloft
	if l.spec.Batch == nil && l.flight > 0 && l.flight < freshFor/2 {
		// Quick pilots take more than one within the ten milliseconds.
		room += min(int(float64(l.wanted())*float64(freshFor/2)/float64(l.flight)), maxPerCall/2)
	}
	return inc, min(max(room, 0), maxPerCall, maxAloft-l.aloft), 0
}

// answer takes in a reply.
func (l *lane) answer(r reply) {
	l.calling = false
	now := time.Now()
	if r.err != nil {
		l.unanswered(r, now)
		return
	}
	l.callFails.reset()
	l.failing = time.Time{}
	d := now.Sub(r.out.sent)
	if l.rtt == 0 {
		l.rtt = d
	}
	l.rtt += (min(d, 4*l.rtt+time.Millisecond) - l.rtt) / 8
	l.rttNow.Store(int64(l.rtt))
	l.s.g.stats.clearance(d)
	l.s.clock(r.r.Now, r.out.sent)
	for i, j := range r.out.settles {
		if d := r.r.Deaths[i]; d != "" {
			j.flight.Deaths = strings.Split(d, ",")
		}
		l.verdict(j, r.r.Verdicts[i], now)
	}
	l.s.settled(r.out.counted)
	for _, j := range r.out.gives {
		l.nack(j)
	}
	var back []*job
	for at, nth := 0, 0; at < len(r.out.clears); nth++ {
		end := at + 1
		if r.out.calls != nil {
			end = at + r.out.calls[nth]
		}
		var off []*job
		for ; at < end; at++ {
			switch j := r.out.clears[at]; l.cleared(j, r.r.Clearance[at], r.out, r.r, now) {
			case fliesNow:
				off = append(off, j)
			case asksAgain:
				back = append(back, j)
			}
		}
		l.launch(off)
	}
	l.requeue(back)
}

// unanswered keeps the call for a repeat. What was asked for may have a note now.
func (l *lane) unanswered(r reply, now time.Time) {
	if errors.Is(r.err, store.ErrUnreachable) {
		l.s.storeAway(r.err)
	} else if l.s.g.quiet("script "+l.gate.String(), time.Minute) {
		l.log.Error("the store refused a call; it is repeated, and nothing is cleared meanwhile", "error", r.err)
	}
	if l.failing.IsZero() {
		l.failing = now
	}
	l.callAfter = now.Add(l.callFails.delay())
	for _, j := range r.out.clears {
		j.noted = true
		l.adopt(j, r.out.call.Incarnation) // it is beaten for while its note may stand
	}
	l.requeue(r.out.clears)
	r.out.clears, r.out.call.Clear = nil, nil
	r.out.again = true
	l.repeat = r.out
}

// requeue puts jobs back at the queue's head; those whose delivery was lost
// meanwhile are given up.
func (l *lane) requeue(jobs []*job) {
	var live []*job
	for _, j := range jobs {
		j.step = queued
		if j.alone && !j.dead {
			l.backToSuspects(j)
			continue
		}
		if j.dead {
			l.giveBack(j)
			continue
		}
		live = append(live, j)
	}
	if len(live) > 0 {
		l.queue = append(live, l.queue...)
	}
}

// next is what a clearance's answer means for the flight.
type next uint8

const (
	asksAgain next = iota // it goes back to the queue
	fliesNow
	goesElsewhere // it is settled, held or given up
)

// cleared takes in the answer to one request.
func (l *lane) cleared(j *job, c store.Clearance, out *outgoing, r store.FlightReply, now time.Time) next {
	if c.Answer != store.Cleared && c.Answer != store.Again {
		j.noted = false // any other answer removed it
		l.release(j)
		l.returnPermit(j)
	}
	switch c.Answer {
	case store.Cleared:
		j.noted = true
		l.adopt(j, out.call.Incarnation)
		j.epochA, j.epochG, j.start = r.EpochA, r.EpochG, r.Start
		if j.dead {
			return asksAgain
		}
		return fliesNow
	case store.GateStopped:
		if l.spec.OnStop == settle.ParkOnStop {
			l.unflown(j, settle.FoundGateStopped)
			return goesElsewhere
		}
	case store.Solo:
		if !l.s.g.solo.enter(l.s, j) {
			l.holdTen(j) // another airport's suspects fly; the next beat frees the lease
			return goesElsewhere
		}
		if j.dead {
			l.s.g.solo.left(j)
			return asksAgain
		}
		j.alone, j.step = false, suspected
		l.suspects = append(l.suspects, j)
		l.s.g.solo.answered(j)
		return goesElsewhere
	case store.Suspect:
		l.holdTen(j)
		return goesElsewhere
	case store.Convicted:
		l.unflown(j, settle.FoundConvicted)
		return goesElsewhere
	case store.CharterLost:
		l.unflown(j, settle.FoundCharterLost)
		return goesElsewhere
	case store.Aborted:
		l.unflown(j, settle.FoundAborted)
		return goesElsewhere
	case store.NoSeat:
		j.ev = wire.Evidence{Class: string(settle.ReasonMalformed), Excerpt: fmt.Sprintf("%s: seat %d is beyond what charter %s expects", wire.HeaderSeat, j.flight.Seat, j.flight.Charter)}
		l.unflown(j, settle.FoundMalformed)
		return goesElsewhere
	case store.LandedAlready:
		l.ack(j, false)
		l.forget(j)
		l.s.g.stats.skipped(l.gate, 1)
		return goesElsewhere
	case store.Held:
		l.holdTen(j)
		return goesElsewhere
	case store.Throttled, store.Wait:
		until := l.s.local(c.Until)
		if until.Sub(now) > settle.MaxWait {
			l.longUntil = until
		} else if j.alone && until.Sub(now) > aloneWait {
			l.holdTen(j) // the whole process would stand still for it
			return goesElsewhere
		} else if !l.notBefore.After(now) || until.Before(l.notBefore) {
			l.notBefore = until
		}
	case store.Unknown:
		signal(l.s.bear)
		l.notBefore = now.Add(askAgain)
	case store.Lapsed:
		l.s.incs.lapsed(out.call.Incarnation)
		signal(l.s.beatUp)
		l.notBefore = now.Add(askAgain)
	case store.AirportStops, store.GateStays:
		l.notBefore = now.Add(askAgain) // it is returned, unless it flies again by then
	}
	return asksAgain
}

// holdTen has the flight wait ten seconds, off budget: another may be flying it.
func (l *lane) holdTen(j *job) {
	l.move(j, settle.Find(settle.FoundHeld, l.spec.OnStop, j.flight.Holds).Move)
}

// adopt notes under which incarnation the flight is cleared.
func (l *lane) adopt(j *job, inc string) {
	if j.inc != "" {
		l.s.incs.release(j.inc)
	}
	j.inc = inc
	l.s.incs.use(inc)
}

func (l *lane) release(j *job) {
	if j.inc != "" {
		l.s.incs.release(j.inc)
		j.inc = ""
	}
}
