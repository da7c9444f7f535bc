package governor

import (
	"context"

	"github.com/traction-go/traction/internal/broker"
)

// shelfHand is what a mover has of a shelf: one consumer, and another for each window
// that is full of what was looked at and left.
type shelfHand struct {
	m    *mover
	subs []broker.Subscription
	shut bool // the last one takes nothing more
}

// open lets flights come: as many as the next step needs where it is slow, and else as
// many as a window has. most is how many there are.
func (h *shelfHand) open(ctx context.Context, slow bool, size, most int) error {
	window := min(most, shelfWindow)
	if slow {
		window = min(most, size)
		if !h.m.o.Filter.all() {
			window = min(most, max(size, moveBatch)) // most of it may not match
		}
	}
	window = max(window, 1)
	full := !slow && len(h.m.held) >= len(h.subs)*shelfWindow-moveBatch && len(h.m.held) > 0
	switch {
	case len(h.subs) == 0 || full && len(h.subs[len(h.subs)-1].Deliveries()) == 0:
		// The windows before it are not quite full: gather reads all of them.
		sub, err := h.m.g.bk.Subscribe(ctx, h.m.shelf.queue(h.m.g.ns, h.m.gate), window)
		if err != nil {
			return classed(err)
		}
		h.subs, h.shut = append(h.subs, sub), false
	case h.shut && waiting(h.subs) == 0:
		// A consumer that begins anew has its whole window, whatever is still in hand.
		if err := h.subs[len(h.subs)-1].Resume(ctx, window); err != nil {
			return classed(err)
		}
		h.shut = false
	}
	return nil
}

// close lets nothing more come, so that nothing takes the place of what is acknowledged.
func (h *shelfHand) close(ctx context.Context) error {
	h.shut = true
	return classed(h.subs[len(h.subs)-1].Pause(ctx))
}

// waiting counts what has come and was not looked at.
func waiting(subs []broker.Subscription) (n int) {
	for _, sub := range subs {
		n += len(sub.Deliveries())
	}
	return n
}
