package governor

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// solo is the process's session of flying suspects: flights that were in the air when
// a worker died. While it lasts nothing else is cleared anywhere in this process:
// everything that is in the air, at all airports, finishes first and has its
// settlement answered; then the suspects of one airport fly one by one, with nothing
// else in the air, the next after the last one's answer. If this process dies now,
// it is known which flight killed it.
//
//	idle -> draining   a clearance answered solo: the airport's lease is ours
//	draining -> flying nothing else is in the air or unanswered
//	flying -> ending   the last suspect has been answered
//	ending -> idle     the lease is given up, with the notes of suspects that did
//	                   not fly; until that is answered nothing is cleared
//
// A drain that lasts longer than the longest timeout plus ten seconds is given up;
// the suspects wait on the ten-second hold.
//
// What a flight is to the store, who owns it, and what if that one dies there:
//
//	noted      "N <incarnation>": that process alone may fly it. It dies: whoever asks
//	           waits ten seconds at a time until five of its intervals have passed in
//	           silence, under beats of the asker unbroken for ten; then the note
//	           becomes a death, unless the process was leaving.
//	suspect    one death. No note stands; whoever asks is told solo, where it takes the
//	           airport's lease, or to wait. It dies with the lease: the lease is free
//	           when it counts as dead, and that is no death of the flight.
//	alone      a suspect with a note, written by the answer it is asked for alone, after
//	           the drain. It dies: the second death.
//	acquitted  the owner's settlement, whatever it was, has removed the deaths. It dies
//	           before the acknowledgement: the flight is like any other.
//	convicted  two deaths. Whoever asks parks it: incident and notification are written
//	           by the settle script, once. It dies before the copy: the next one parks
//	           it, under the same incident. An operator's replay, discard or clear
//	           ends that.
type solo struct {
	g      *Governor
	active atomic.Bool

	mu       sync.Mutex
	s        *station // whose suspects fly; nil: idle
	turn     *job     // asked for, or in the air
	suspects map[*job]bool
	session  uint64    // grows with each
	seen     []string  // flight ids of the session, for its end
	since    time.Time // of the drain: since when nobody has had a turn
	ending   bool

	ends sync.WaitGroup // sessions whose end is not answered
	live context.Context
}

// begin is Run's first word: sessions end, answered or not, when live does.
func (o *solo) begin(live context.Context) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.live = live
}

// finish waits a moment for a session's end to be answered. A lease that stays is free
// when this process counts as dead.
func (o *solo) finish() {
	done := make(chan struct{})
	go func() { o.ends.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(2 * time.Second):
	}
}

// enter begins a session for a suspect of s, or joins it. false: another airport's
// suspects fly now.
func (o *solo) enter(s *station, j *job) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.s != nil && (o.s != s || o.ending) {
		return false
	}
	if o.s == nil {
		o.s, o.since = s, time.Now()
		o.session++
		o.suspects = map[*job]bool{}
		o.seen = nil
		o.active.Store(true)
		s.log.Info("suspects fly alone now: everything else in this process finishes first")
	}
	o.suspects[j] = true
	o.seen = append(o.seen, j.flight.ID)
	return true
}

// at reports whether the session is at this airport.
func (o *solo) at(s *station) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.s == s
}

// take gives the suspect its turn when nothing else is in the air.
func (o *solo) take(j *job) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.s == nil || o.ending || o.turn != nil || !o.g.nothingInTheAir() {
		return false
	}
	o.turn = j
	return true
}

// late reports whether the drain has lasted too long.
func (o *solo) late() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.s == nil || o.turn != nil {
		return false
	}
	longest := time.Duration(0)
	for _, s := range o.g.served() {
		for _, l := range s.lanes {
			longest = max(longest, l.spec.Timeout)
		}
	}
	return time.Since(o.since) > longest+10*time.Second
}

// answered ends a suspect's turn; it may be asked for again.
func (o *solo) answered(j *job) {
	o.mu.Lock()
	if o.turn == j {
		o.turn = nil
		o.since = time.Now()
	}
	o.mu.Unlock()
	o.g.wakeAll()
}

// left takes a suspect out of the session. The last one ends it.
func (o *solo) left(j *job) {
	o.mu.Lock()
	if o.turn == j {
		o.turn = nil
		o.since = time.Now()
	}
	if o.suspects[j] {
		delete(o.suspects, j)
	}
	end := o.s != nil && len(o.suspects) == 0 && !o.ending
	if end {
		o.ending = true
	}
	s, session, seen, live := o.s, o.session, o.seen, o.live
	if end {
		o.ends.Go(func() { o.end(live, s, session, seen) })
	}
	o.mu.Unlock()
	o.g.wakeAll()
}

// end gives up the lease, and asks until it is answered.
func (o *solo) end(live context.Context, s *station, session uint64, seen []string) {
	b := newBackoff(50*time.Millisecond, 2*time.Second)
	for {
		err := s.hold.EndSolo(live, session, seen)
		if err == nil || live.Err() != nil {
			break
		}
		if s.g.quiet("solo "+s.spec.ID, 10*time.Second) {
			s.log.Warn("giving up the solo lease failed; nothing is cleared until it is answered", "error", err)
		}
		b.wait(live)
	}
	o.mu.Lock()
	o.s, o.ending, o.suspects, o.seen = nil, false, nil, nil
	o.active.Store(false)
	o.mu.Unlock()
	s.log.Info("suspects have flown; everything flies again")
	o.g.wakeAll()
}

// nothingInTheAir reports whether no lane of the process has a flight in the air, a
// call outstanding or a settlement unanswered.
func (g *Governor) nothingInTheAir() bool {
	for _, s := range g.served() {
		for _, l := range s.lanes {
			if l.busy.Load() > 0 {
				return false
			}
		}
	}
	return true
}

func (g *Governor) wakeAll() {
	for _, s := range g.served() {
		s.wake()
	}
}

// flySuspects asks for the next suspect alone, where its turn has come.
func (l *lane) flySuspects(now time.Time, sooner func(time.Time)) {
	if len(l.suspects) == 0 {
		return
	}
	o := &l.s.g.solo
	if l.shouldStay(now) {
		for _, j := range l.suspects {
			o.left(j)
			l.giveBack(j)
		}
		l.suspects = nil
		return
	}
	if o.late() {
		l.log.Warn("what else is in the air does not end: the suspects wait", "flights", len(l.suspects))
		for _, j := range l.suspects {
			o.left(j)
			l.holdTen(j)
		}
		l.suspects = nil
		return
	}
	if l.calling {
		return // its reply wakes the lane
	}
	for _, t := range []time.Time{l.notBefore, l.callAfter, l.suspects[0].notBefore} {
		if now.Before(t) {
			sooner(t)
			return
		}
	}
	if _, wait, ok := l.s.incs.clears(now); !ok {
		sooner(now.Add(wait))
		return
	}
	j := l.suspects[0]
	l.busy.Store(l.load())
	if l.s.unsettled.Load() > 0 || !o.take(j) {
		sooner(now.Add(200 * time.Millisecond)) // others wake nobody when they end
		return
	}
	l.suspects = l.suspects[1:]
	j.alone = true
	l.queue = append([]*job{j}, l.queue...)
}

// backToSuspects puts a suspect back whose turn brought no answer about it.
func (l *lane) backToSuspects(j *job) {
	j.alone = false
	j.step = suspected
	l.suspects = append([]*job{j}, l.suspects...)
	l.s.g.solo.answered(j)
}
