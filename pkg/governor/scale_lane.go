package governor

import (
	"github.com/traction-go/traction/internal/wire"
)

// How many pilots a gate has here, and how many flights they take in one call, is what
// an operator has set for the running fleet, over what this process was told by its
// environment, over what it declares. A change is seen with the gate's status, by
// event or with the next beat; then pilots are hired at once, or dismissed as they
// come back from their call. The beats tell how many there are.

// scaled takes in what stands for the gate. Any goroutine may call it.
func (l *lane) scaled(st wire.Status) {
	l.wantPilots.Store(int64(min(st.Scale.Workers(l.spec.Workers), maxWorkers)))
	if l.spec.Batch == nil {
		return
	}
	declared := or(l.s.g.cfg.BatchSize, l.spec.Batch.Size)
	size := int64(min(max(st.Scale.Batch(declared), 1), MaxBatch))
	if l.wantSize.Swap(size) != size {
		signal(l.s.beatUp) // people see it at once
	}
}

// wanted is how many pilots the gate is to have here. 0: it flies nothing in any
// process.
func (l *lane) wanted() int { return int(l.wantPilots.Load()) }

// size is how many flights one call of the gate takes.
func (l *lane) size() int { return max(int(l.wantSize.Load()), 1) }

// staff hires pilots that are missing and dismisses those that are too many.
func (l *lane) staff() {
	defer l.unmanned()
	want := l.wanted()
	if l.draining || l.grounded() {
		return
	}
	if l.hired != want {
		l.log.Info("workers", "wanted", want, "before", l.hired)
	}
	for ; l.hired < want; l.hired++ {
		select {
		case <-l.dismissed: // one that was to go stays
		default:
			l.hire()
		}
	}
	for ; l.hired > want; l.hired-- {
		l.dismissed <- struct{}{}
	}
}

// unmanned takes back what was handed to pilots that have all gone: the answer to the
// last clearance may come after them, and nobody else would ever fly or return it.
func (l *lane) unmanned() {
	for l.hired == 0 {
		select {
		case <-l.takeoff.ready:
			l.back(l.takeoff.take())
		default:
			return
		}
	}
}
