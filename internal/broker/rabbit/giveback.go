package rabbit

import (
	"context"
	"slices"
	"time"
)

// A quorum queue of RabbitMQ 3 keeps the order of what is returned only within one
// command of at most 32 messages (beyond that it walks an unordered map), and a
// channel joins its commands once 32 of them are under way. So returns are sent in
// order, a lot at a time, each after the one before is back in the queue.
const (
	lot     = 24 // commands at a time; a few others may be under way
	perNack = 32 // messages in a command that returns several
	lotWait = 50 * time.Millisecond
	gather  = time.Millisecond // returns come in bursts
)

// nack is one command: all up to tag, count messages, or tag alone.
type nack struct {
	tag   uint64
	count int
}

// giveBack sends nacks in lots. Where the queue does not fill up by them within wait,
// somebody else is taking them, and there is no order left to keep.
func (h *host) giveBack(queue string, nacks []nack, wait time.Duration) error {
	paced := len(nacks) > lot
	base, _, err := 0, false, error(nil)
	if paced {
		base, _, err = h.t.Depth(context.Background(), queue)
		paced = err == nil
	}
	for len(nacks) > 0 {
		n := min(lot, len(nacks))
		for _, k := range nacks[:n] {
			if err := h.ch.Nack(k.tag, k.count > 1, true); err != nil {
				return err
			}
			base += k.count
		}
		if nacks = nacks[n:]; len(nacks) > 0 && paced {
			paced = h.arrived(queue, base, wait)
		}
	}
	return nil
}

func (h *host) arrived(queue string, want int, within time.Duration) bool {
	end := time.Now().Add(within)
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for time.Now().Before(end) {
		ready, _, err := h.t.Depth(context.Background(), queue)
		if err != nil || ready >= want {
			return err == nil
		}
		select {
		case <-tick.C:
		case <-h.dead:
			return false
		}
	}
	return false
}

// singly makes a nack of each tag, in order.
func singly(tags []uint64) []nack {
	slices.Sort(tags)
	out := make([]nack, len(tags))
	for i, t := range tags {
		out[i] = nack{t, 1}
	}
	return out
}

// giveBackSoon queues a return; a goroutine that lives as long as a burst of them
// sends them. Under s.mu.
func (s *session) giveBackSoon(tag uint64) {
	s.back = append(s.back, tag)
	if s.backing == nil {
		s.backing = make(chan struct{})
		go s.giveBackAll()
	}
}

func (s *session) giveBackAll() {
	timer := time.NewTimer(gather)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-s.hurry:
	case <-s.h.dead:
	}
	for {
		s.mu.Lock()
		tags := s.back
		s.back = nil
		if len(tags) == 0 {
			close(s.backing)
			s.backing = nil
			s.mu.Unlock()
			return
		}
		s.mu.Unlock()
		// An error: the channel is gone, and they go back by themselves.
		_ = s.h.giveBack(s.queue, singly(tags), lotWait)
	}
}

// settled waits until all returns so far are sent.
func (s *session) settled() {
	s.mu.Lock()
	backing := s.backing
	s.mu.Unlock()
	if backing == nil {
		return
	}
	select {
	case s.hurry <- struct{}{}:
	default:
	}
	<-backing
}
