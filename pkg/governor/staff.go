package governor

import (
	"cmp"
	"slices"

	"github.com/traction-go/traction/internal/store"
	"github.com/traction-go/traction/internal/wire"
)

// Staff is what one process has at a gate, as its last beat told.
type Staff struct {
	Process string
	Workers int // calls that it can make at once
	Batch   int // flights in one of its calls at most
}

// Differs reports whether the process has something else than what is wanted.
func (s Staff) Differs(g GateInfo) bool {
	return s.Workers != g.WorkersWanted || s.Batch != g.Batch
}

// ReasonNoWorkers is the reason of an open gate that flies nothing.
const ReasonNoWorkers = "NO_WORKERS"

// ReasonNoQueue is the reason of an open gate that adopts a queue which is not there.
const ReasonNoQueue = "NO_QUEUE"

// Idle reports whether an operator has left the gate without workers.
func (gi GateInfo) Idle() bool { return gi.Scaled && gi.WorkersWanted == 0 }

// staffed fills in who serves the gate with how many workers.
func (gi *GateInfo) staffed(sn store.Snapshot, st wire.Status) {
	gi.WorkersDeclared = st.Workers
	gi.scale = st.Scale
	if gi.Scaled = st.Scale != ""; gi.Scaled {
		gi.ScaledBy, gi.ScaledAt = st.ScaledBy, st.ScaledAt
	}
	if gi.Idle() && gi.State == wire.Open {
		gi.Reason, gi.By, gi.Since = ReasonNoWorkers, gi.ScaledBy, gi.ScaledAt
	}
	for _, b := range latestBeats(sn.Beats) {
		if _, serves := b.Seen[st.Scope.Gate]; !serves || b.Kind == store.TowerOnly || b.Leaving {
			continue
		}
		load := b.Loads[st.Scope.Gate]
		s := Staff{Process: b.Worker(), Workers: st.Workers, Batch: or(load.Batch, 1)}
		if load.Pilots > 0 {
			s.Workers = load.Pilots - 1
		}
		gi.WorkersActual += s.Workers
		gi.Processes = append(gi.Processes, s)
	}
	slices.SortFunc(gi.Processes, func(a, b Staff) int { return cmp.Compare(a.Process, b.Process) })
}
