package governor

import (
	"time"

	"github.com/traction-go/traction/internal/store"
	"github.com/traction-go/traction/internal/wire"
)

// told takes in what the beats of the living tell of a gate, and the pace from the
// store's totals.
func (g *GateInfo) told(sn store.Snapshot, st wire.Status) {
	name := st.Scope.Gate
	var loads []store.Load
	for _, b := range latestBeats(sn.Beats) {
		if l, ok := b.Loads[name]; ok {
			loads = append(loads, l)
		}
	}
	g.Fresh, g.Scars = marksOf(loads)
	g.SlotEach = st.SlotEach
	var calls time.Duration
	callers := 0
	oldest := func(at *time.Time, s int64) {
		if made := time.Unix(s, 0).UTC(); s > 0 && (at.IsZero() || made.Before(*at)) {
			*at = made
		}
	}
	for _, l := range loads {
		if l.Call > 0 {
			calls += l.Call
			callers++
		}
		oldest(&g.Oldest, l.Oldest)
		oldest(&g.AdoptedOldest, l.Adopted)
	}
	if callers > 0 {
		g.Call = calls / time.Duration(callers)
	}
	left := sn.Left[name]
	g.Pace = paceOf(sn.Now, left, time.UnixMilli(max(st.Fence, sn.Airport.Fence)))
}

// latestBeats keeps one beat of each process: one that took a new incarnation beats for
// the old ones too while something of theirs stands.
func latestBeats(all []store.Beat) []store.Beat {
	var out []store.Beat
	at := map[string]int{}
	for _, b := range all {
		i, ok := at[b.Worker()]
		switch {
		case !ok:
			at[b.Worker()] = len(out)
			out = append(out, b)
		case b.Last.After(out[i].Last):
			out[i] = b
		}
	}
	return out
}

// forecast says when what waits will be done, once it is known how much that is.
func forecast(a *AirportInfo) {
	for i := range a.Gates {
		g := &a.Gates[i]
		g.Ceiling = ceilingOf(*a, *g)
		switch {
		case !flies(a.State) || !flies(g.State) || g.Scaled && g.WorkersWanted == 0:
		case g.WorkersActual == 0 && g.Waiting() != 0:
			g.Drain = Unknown // nobody is there to fly it
		default:
			g.Drain = drainAt(g.Waiting(), g.Pace)
		}
		if g.Runway == 0 {
			g.Oldest = time.Time{}
		}
		if g.Adopted == 0 {
			g.AdoptedOldest = time.Time{}
		}
		if g.Drain == Unknown || a.Drain == Unknown {
			a.Drain = Unknown
		} else {
			a.Drain = max(a.Drain, g.Drain)
		}
		if g.Pace.Known() {
			a.Pace.PerSecond += g.Pace.PerSecond
			a.Pace.Over = max(a.Pace.Over, g.Pace.Over)
		}
	}
}
