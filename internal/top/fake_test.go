package top

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/traction-go/traction/internal/cli/clitest"
	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/charter"
	"github.com/traction-go/traction/pkg/governor"
	"github.com/traction-go/traction/pkg/settle"
)

// fake is an installation that does as it is told. It counts what it is asked.
type fake struct {
	mu       sync.Mutex
	airports []governor.AirportInfo
	err      error // of every reading
	ownErr   error // of the tables' own readings
	refuse   error // of every verb
	asked    []string
	did      []string
	pace     int64         // landings that each reading finds
	hold     chan struct{} // a replay takes it when it has begun, then waits for its context
}

func newFake() *fake { return &fake{airports: clitest.Airports()} }

func (f *fake) ask(what string) error {
	f.asked = append(f.asked, what)
	return f.err
}

func (f *fake) Airports(context.Context) ([]governor.AirportInfo, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.ask("airports"); err != nil {
		return nil, err
	}
	out := make([]governor.AirportInfo, 0, len(f.airports))
	for i := range f.airports {
		a := &f.airports[i]
		if a.State == wire.Open {
			a.Landed += f.pace
			for j := range a.Gates {
				a.Gates[j].Landed += f.pace
			}
		}
		c := *a
		c.Gates = append([]governor.GateInfo(nil), a.Gates...)
		out = append(out, c)
	}
	return out, nil
}

func (f *fake) Processes(context.Context) ([]governor.ProcessInfo, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return clitest.Processes(), f.ask("processes")
}

func (f *fake) own(what string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.ask(what); err != nil {
		return err
	}
	return f.ownErr
}

func ago(d time.Duration) time.Time { return clitest.Now.Add(-d) }

func (f *fake) Incidents(_ context.Context, o governor.IncidentFilter) ([]governor.Incident, error) {
	return []governor.Incident{
		{ID: o.Scope + "@1", Scope: o.Scope, Kind: wire.GroundStop, Reason: "AIRPORT_FAULT", OpenedAt: ago(14 * time.Minute), Evidence: clitest.Evil,
			Records: []string{"7\u202e", "8"}, Workers: []string{"w1"}, Faults: 3, NotifiedAt: ago(13 * time.Minute)},
		{ID: o.Scope + "@0", Scope: o.Scope, Kind: wire.GroundDelay, Reason: "TRANSIENT", OpenedAt: ago(30 * time.Hour), ClosedAt: ago(29 * time.Hour),
			ClosedBy: "probe", Evidence: "503", Faults: 5},
	}, f.own("incidents " + o.Scope)
}

func (f *fake) Shelved(_ context.Context, shelf governor.Shelf, scope string, o governor.ParkedFilter) ([]governor.ParkedFlight, error) {
	gate := scope
	if sc, err := wire.ParseScope(scope); err == nil && !sc.IsGate() {
		gate += "/contact-sync"
	}
	return []governor.ParkedFlight{
		{Flight: "01956a3e-0001", BusinessID: "7\u202e", Gate: gate, Reason: settle.ReasonHoldBudget, Evidence: "503", ParkedAt: ago(2 * time.Hour),
			Holds: settle.Holds{Transient: 3}, Replays: 1, Size: 512},
		{Flight: "01956a3e-0002", Gate: gate, Reason: settle.ReasonGateFault, Evidence: clitest.Evil, Charter: "run-1", ParkedAt: ago(time.Hour)},
	}, f.own(fmt.Sprintf("%s %s %d", shelf, scope, o.Limit))
}

func (f *fake) Charters(_ context.Context, scope string) ([]governor.CharterInfo, error) {
	return []governor.CharterInfo{{Charter: "crm:acme/contact-sync/run-1", State: governor.CharterOpen, OpenedAt: ago(time.Hour), OpenedBy: "ops@desk",
		Books: charter.Books{Expected: 2000, Dispatched: 700, Landed: 1200, Rejected: 3, Parked: 4}, ETA: 11 * time.Minute}}, f.own("charters " + scope)
}

func (f *fake) do(what string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.did = append(f.did, what)
	return f.refuse
}

func (f *fake) Reopen(_ context.Context, scope string, o governor.ReopenOptions) (governor.Reopening, error) {
	if err := f.do("reopen " + scope + " by " + o.Actor); err != nil {
		return governor.Reopening{}, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range f.airports {
		if a := &f.airports[i]; a.Airport == scope {
			a.State, a.Reason, a.Evidence, a.Incident = wire.Open, "", "", ""
		}
	}
	return governor.Reopening{Scope: scope, Changed: true, Was: wire.Stopped, State: wire.Open, Stood: 14 * time.Minute, Waiting: 996, Parked: 4}, nil
}

func (f *fake) Pause(_ context.Context, scope string, o governor.PauseOptions) (governor.Pausing, error) {
	return governor.Pausing{Scope: scope, Changed: true, Unseen: []string{"w2"}}, f.do("pause " + scope + ": " + o.Reason)
}

func (f *fake) Replay(ctx context.Context, shelf governor.Shelf, scope string, o governor.MoveOptions) (governor.MoveResult, error) {
	if err := f.do(fmt.Sprintf("replay %s %s %q", shelf, scope, o.Filter.Flight)); err != nil {
		return governor.MoveResult{}, err
	}
	o.Progress(governor.MoveResult{Planned: 4, Moved: 1, Left: 3})
	if f.hold != nil {
		f.hold <- struct{}{}
		<-ctx.Done()
		return governor.MoveResult{Planned: 4, Moved: 1, Left: 3}, fmt.Errorf("%w: %w", governor.ErrPartial, context.Cause(ctx))
	}
	return governor.MoveResult{Planned: 4, Moved: 4}, nil
}

// fails sets what every reading answers.
func (f *fake) fails(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.err = err
}

func (f *fake) edit(do func(a []governor.AirportInfo)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	do(f.airports)
}

func (f *fake) log() (asked, did []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]string(nil), f.asked...), append([]string(nil), f.did...)
}

var errAway = errors.New("the store did not answer: unreachable \x1b[2J")
