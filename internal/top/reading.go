package top

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/governor"
)

// maxParked bounds the parked flights that are looked at: to see one means to
// take it in hand for a moment.
const maxParked = 500

// parkedEvery is how often a parked shelf is looked at while it is shown. Looking
// competes with a replay for the flights, and nothing there changes by itself
// from one second to the next.
const parkedEvery = 10 * time.Second

// fleet is what every screen needs: the airports with their gates, and who is
// alive.
type fleet struct {
	airports  []governor.AirportInfo
	processes []governor.ProcessInfo
}

// reading is what one look brought back.
type reading struct {
	at       time.Time // when it came back
	fleet    fleet
	fleetErr error

	place   place // whose own data was read as well
	own     bool  // whether it was
	entries []entry
	ownErr  error

	broken error // the reading itself broke: a bug
}

// read takes one picture: the fleet, and what the place has of its own.
func read(ctx context.Context, r Reader, at place, own bool, now func() time.Time) (out reading) {
	out.place, out.own = at, own
	defer func() {
		if v := recover(); v != nil {
			out.broken = fmt.Errorf("the reading panicked: %v\n%s", v, debug.Stack())
		}
		out.at = now()
	}()
	out.fleet, out.fleetErr = readFleet(ctx, r)
	if own {
		out.entries, out.ownErr = readOwn(ctx, r, at)
	}
	return out
}

func readFleet(ctx context.Context, r Reader) (fleet, error) {
	airports, err := r.Airports(ctx)
	if err != nil {
		return fleet{}, err
	}
	processes, err := r.Processes(ctx)
	if err != nil {
		return fleet{}, err
	}
	return fleet{airports, processes}, nil
}

func readOwn(ctx context.Context, r Reader, at place) ([]entry, error) {
	switch at.tab {
	case tabIncidents:
		list, err := r.Incidents(ctx, governor.IncidentFilter{Scope: at.scope})
		return each(list, incidentEntry), err
	case tabParked:
		list, err := r.Shelved(ctx, governor.ParkedShelf, at.scope, governor.ParkedFilter{Limit: maxParked})
		return each(list, parkedEntry), err
	case tabCharters:
		list, err := r.Charters(ctx, at.scope)
		return each(list, charterEntry), err
	}
	return nil, nil
}

func each[T any](list []T, f func(T) entry) []entry {
	out := make([]entry, len(list))
	for i, v := range list {
		out[i] = f(v)
	}
	return out
}

// hasOwn reports whether a tab has data beside the fleet's.
func hasOwn(t tab) bool { return t == tabIncidents || t == tabParked || t == tabCharters }

// facts are what of a scope decides what a verb would do.
type facts struct {
	scope    string
	state    wire.State
	reason   string
	evidence string
	since    time.Time
	waiting  int
	parked   int
	known    bool
}

// facts finds a scope in the fleet.
func (f fleet) facts(scope string) facts {
	for _, a := range f.airports {
		if a.Airport == scope {
			return facts{scope, a.State, a.Reason, a.Evidence, a.Since, plus(plus(a.Runway, a.Holding), a.Adopted), a.Parked, true}
		}
		for _, g := range a.Gates {
			if g.Gate == scope {
				return facts{scope, g.State, g.Reason, g.Evidence, g.Since, g.Waiting(), g.Parked, true}
			}
		}
	}
	return facts{scope: scope}
}

// plus keeps "could not be read": a sum with a hole in it is no sum.
func plus(a, b int) int {
	if a < 0 || b < 0 {
		return governor.Unread
	}
	return a + b
}
