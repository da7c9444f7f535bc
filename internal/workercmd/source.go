package workercmd

import (
	"context"
	"time"

	"github.com/traction-go/traction/internal/health"
	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/governor"
)

// watched is what health and metrics ask of a governor.
type watched interface {
	Stats() governor.Stats
	Airports(ctx context.Context) ([]governor.AirportInfo, error)
}

// source tells health and metrics of the airports that are served here. Labels
// come from the declarations, so a scope that others serve adds no series.
type source struct {
	gov      watched
	airports []governor.Airport
}

func (s source) Local() health.Local {
	st := s.gov.Stats()
	out := health.Local{Broker: st.Broker && !st.Blocked, Store: true, Clearance: health.Histogram{
		Bounds: st.Clearance.Bounds, Sum: st.Clearance.Sum,
	}}
	for _, n := range st.Clearance.Counts {
		out.Clearance.Counts = append(out.Clearance.Counts, uint64(max(n, 0)))
	}
	for _, a := range s.airports {
		// Until its first beat is answered an airport clears nothing.
		out.Store = out.Store && st.Reachable[a.ID]
		to := health.Airport{ID: a.ID, State: string(st.States[a.ID]), Unsent: health.Unread}
		if n, ok := st.Unsent[a.ID]; ok {
			to.Unsent = n
		}
		for _, g := range a.Gates {
			scope := a.ID + "/" + g.ID
			state := string(st.States[scope])
			if state != "" && !st.Gates[scope].Declared {
				// The status stands before the queues do: a dispatch would find no
				// runway yet.
				state = string(wire.Birth)
			}
			to.Gates = append(to.Gates, gateOf(g, st.Gates[scope], state))
		}
		out.Airports = append(out.Airports, to)
	}
	return out
}

func gateOf(g governor.Gate, st governor.GateStats, state string) health.Gate {
	workers := st.Workers // none at all, where a human scaled it so
	if !st.Declared {
		workers = or(workers, or(g.Workers, governor.DefaultWorkers))
	}
	out := health.Gate{
		ID: g.ID, State: state, Workers: workers,
		Fresh: uint64(max(st.Fresh, 0)), Scars: uint64(max(st.Scars, 0)), Adopts: g.Adopt != nil, Moved: uint64(max(st.Moved, 0)), Call: st.Call,
		InHand: st.InHand, InAir: health.Unread, Leaked: int(st.Leaked),
		Flights: map[string]uint64{"returned": uint64(max(st.Returned, 0)), "already_landed": uint64(max(st.Skipped, 0))},
	}
	for settled, shown := range map[string]string{
		"landed": "landed", "rejected": "rejected", "skipped": "skipped",
		"hold": "held", "park": "parked", "defer": "deferred",
	} {
		out.Flights[shown] = uint64(max(st.Settled[settled], 0))
	}
	return out
}

func fleetGate(id string, g governor.GateInfo, now time.Time) health.FleetGate {
	out := health.FleetGate{
		ID: id, Runway: g.Runway, Holding: g.Holding, Parked: g.Parked, Rejected: g.Rejected, ParkedOldest: health.Unread,
		Landed: g.Landed, Acked: g.Acked, Adopted: health.Unread, Drain: g.Drain,
		Oldest: age(now, g.Oldest, g.Runway), AdoptedOldest: health.Unread,
	}
	if g.Adopts != "" {
		out.Adopted, out.AdoptedOldest = g.Adopted, age(now, g.AdoptedOldest, g.Adopted)
	}
	if g.Drain == 0 && g.Waiting() != 0 {
		out.Drain = health.Unread // nothing flies
	}
	return out
}

// age of the oldest of n that wait: 0 where none does, Unread where it is not known.
func age(now, made time.Time, n int) time.Duration {
	switch {
	case n == 0:
		return 0
	case made.IsZero():
		return health.Unread
	}
	return max(now.Sub(made), 0)
}

func (s source) Fleet(ctx context.Context) ([]health.Fleet, error) {
	infos, err := s.gov.Airports(ctx)
	if err != nil {
		return nil, err
	}
	byID := map[string]governor.AirportInfo{}
	for _, i := range infos {
		byID[i.Airport] = i
	}
	var out []health.Fleet
	for _, a := range s.airports {
		i, ok := byID[a.ID]
		if !ok {
			continue
		}
		to := health.Fleet{ID: a.ID, Slots: i.Slots, SlotsUsed: i.SlotsUsed, Deaths: i.Deaths}
		for _, declared := range a.Gates {
			for _, g := range i.Gates {
				if g.Gate == a.ID+"/"+declared.ID {
					to.Gates = append(to.Gates, fleetGate(declared.ID, g, time.Now()))
				}
			}
		}
		out = append(out, to)
	}
	return out, nil
}
