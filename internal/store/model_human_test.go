package store_test

import (
	"context"
	"strconv"
	"strings"

	"github.com/traction-go/traction/internal/store"
	"github.com/traction-go/traction/internal/wire"
)

// operator is a fresh command: it remembers nothing.
func (w *world) operator() *store.Airport {
	return w.procs[0].st.Airport(modelAirport, "dana", w.gates...)
}

// verb runs a human's script at once; a human's reply may be lost too.
func (w *world) verb(f func(ctx context.Context, a *store.Airport) error, then func(ok bool)) {
	w.after(1+w.n(3), func() {
		if w.now < w.awayU {
			w.after(500, func() { then(false) })
			return
		}
		w.disk.setTime(w.storeNow())
		if err := f(context.Background(), w.operator()); err != nil {
			w.bad("a verb failed: %v", err)
			return
		}
		lost := !w.calm && w.one(50)
		w.after(1, func() { then(!lost) })
	})
}

// reopen tries until it is not told to wait.
func (w *world) reopen(gate string, canary, tries int, then func(result string)) {
	var result store.Result
	w.verb(func(ctx context.Context, a *store.Airport) error {
		was := w.stored(gate)
		r, err := a.Reopen(ctx, gate, canary, "dana", "fixed", w.markers[gate])
		if err != nil {
			return err
		}
		result = r.Result
		if result != store.Done {
			return nil
		}
		w.log("a human reopens %q, canary %d, was %s", gate, canary, r.Was)
		w.human(gate)
		if gate == "" && was.Lost {
			for _, g := range w.gates {
				if st := w.stored(g); st.State == wire.Open || st.State == wire.Canary {
					if !st.Paused {
						w.truth[g].stopped, w.truth[g].paused = false, false // told that the store lost its memory
					}
				}
			}
		}
		return nil
	}, func(ok bool) {
		switch {
		case ok && result == store.NotYet && tries < 60:
			w.after(500, func() { w.reopen(gate, canary, tries+1, then) })
		case then == nil:
		case !ok:
			then("unreachable")
		default:
			then(string(result))
		}
	})
}

// pause is done when all who beat have seen it; it is written again if it is gone.
func (w *world) pause(gate string) {
	var epoch int64
	tries := 0
	var write, wait func()
	write = func() {
		if tries++; tries > 20 {
			return
		}
		var r store.Result
		w.verb(func(ctx context.Context, a *store.Airport) (err error) {
			var e int64
			if r, e, err = a.Pause(ctx, gate, "dana", "looking", epoch > 0); e > epoch {
				epoch = e
			}
			w.log("a human pauses %q: %s @%d", gate, r, e)
			return err
		}, func(ok bool) {
			if ok && (r == store.Done || r == store.PausedSo) {
				w.after(500, wait)
			} else if !ok || r == store.NotYet {
				w.after(500, write)
			}
		})
	}
	wait = func() {
		if tries++; tries > 20 {
			return
		}
		st := w.stored(gate)
		switch {
		case w.now < w.awayU:
			w.after(500, wait)
		case st.Epoch < epoch:
			w.after(500, write)
		case !st.Paused: // resumed
		case !w.seenByAll(gate, epoch):
			w.after(500, wait)
		default:
			g := w.truth[gate]
			if !g.shut() {
				g.epoch = epoch
			}
			g.paused = true
			w.log("the pause of %q @%d is seen by all", gate, epoch)
		}
	}
	write()
}

// seenByAll reads the beats of the living for the epoch they have seen.
func (w *world) seenByAll(gate string, epoch int64) bool {
	beats, err := w.raw.HGetAll(context.Background(), w.keys.Beats()).Result()
	w.must(err)
	n := 0
	for _, raw := range beats {
		part := strings.SplitN(raw, " ", 6)
		if last, _ := strconv.ParseInt(part[0], 10, 64); w.storeNow()-last > 10*second {
			continue
		}
		n++
		for _, kv := range strings.Split(part[5], ",") {
			if i := strings.LastIndexByte(kv, '='); kv[:i] == gate {
				if seen, _ := strconv.ParseInt(kv[i+1:], 10, 64); seen < epoch {
					return false
				}
			}
		}
	}
	return n > 0
}

func (w *world) newFlight(gate string) {
	w.flights++
	w.runway[gate] = append(w.runway[gate], "f"+strconv.Itoa(100000+w.flights))
}

// trouble is what befalls the fleet, again and again until the calm.
func (w *world) trouble() {
	if w.calm {
		return
	}
	w.after(300+w.n(5*second), w.trouble)
	scope := w.scopes()[w.n(int64(len(w.gates))+1)]
	if !w.people {
		switch w.n(8) {
		case 0, 1:
			w.loss()
		case 2:
			w.away()
		}
		return
	}
	switch r := w.n(20); {
	case r < 6:
		w.mode = []string{"well", "airport fault", "gate fault", "records", "transient", "rate limit"}[w.n(6)]
		w.log("the vendor: %s", w.mode)
	case r < 11:
		canary := 0
		if w.one(2) {
			canary = 1 + int(w.n(3))
		}
		w.reopen(scope, canary, 0, nil)
	case r < 12:
		w.pause(scope)
	case r < 14:
		w.procs[w.n(int64(len(w.procs)))].crash()
	case r < 15 && w.one(3):
		for _, p := range w.procs {
			p.crash()
		}
	case r < 15:
		p := w.procs[w.n(int64(len(w.procs)))]
		p.cutU = w.now + w.n(20*second)
		w.log("%s is cut off for %d ms", p.id, p.cutU-w.now)
	case r < 16:
		w.away()
	case r < 19:
		w.loss()
	default:
		w.replay()
	}
}

// loss makes the store lose something, unless it is calm.
func (w *world) loss() {
	if len(w.losses) > 0 && !w.calm {
		w.lose(w.losses[w.n(int64(len(w.losses)))])
	}
}

func (w *world) away() {
	w.awayU = w.now + w.n(15*second)
	w.log("the store is out of reach for %d ms", w.awayU-w.now)
}
