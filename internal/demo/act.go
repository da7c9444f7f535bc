package demo

import (
	"context"
	"errors"
	"time"

	"github.com/traction-go/traction/internal/cli/render"
	"github.com/traction-go/traction/pkg/governor"
)

// act is a governed scenario as it goes on: a fleet that flies, a pager, and the
// operator's desk.
type act struct {
	*stage
	n       int
	airport string
	pager   *pager
	desk    *governor.Governor // it runs nothing
	res     *Result
}

func newAct(st *stage, name string) *act {
	return &act{stage: st, n: st.Flights, airport: airportID, pager: &pager{narrator: st.Narrator}, res: &Result{Scenario: name, Label: name}}
}

// play starts the fleet, takes each step while it goes on, and closes the books
// when the fleet has drained: what is in hand is settled and given back by then.
func (a *act) play(ctx context.Context, airport governor.Airport, books func(context.Context) error, steps ...func(context.Context) (on bool, err error)) (res *Result, err error) {
	if a.desk, err = a.field.governor(ctx, governor.Config{Name: "tractionctl", NoTower: true, Actor: a.Actor, Logger: a.log()}); err != nil {
		return nil, err
	}
	defer func() {
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), closing)
		defer cancel()
		err = errors.Join(err, a.desk.Close(end))
	}()
	fleet, err := startFleet(ctx, a.stage, airport, a.pager)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, fleet.end(ctx)) }()
	if on, err := a.ready(ctx, len(airport.Gates)*processes*workers); err != nil || !on {
		return a.res, err
	}
	for _, step := range steps {
		if on, err := step(ctx); err != nil {
			return nil, err
		} else if !on {
			return a.res, nil // what differs stands in the result
		}
	}
	if err := fleet.end(ctx); err != nil {
		return nil, err
	}
	return a.res, books(ctx)
}

// look reads what an operator would see. An airport that nobody has declared yet is
// empty.
func (a *act) look(ctx context.Context) (governor.AirportInfo, error) {
	info, err := a.desk.Airport(ctx, a.airport)
	if errors.Is(err, governor.ErrNotFound) {
		return governor.AirportInfo{}, nil
	}
	return info, err
}

// gate picks one gate of what look gave.
func gate(a governor.AirportInfo, scope string) governor.GateInfo {
	for _, g := range a.Gates {
		if g.Gate == scope {
			return g
		}
	}
	return governor.GateInfo{}
}

// ready waits until so many flights can be in the air.
func (a *act) ready(ctx context.Context, want int) (bool, error) {
	able := 0
	ok, err := watch(ctx, a.stage, func(ctx context.Context) (int, bool, error) {
		info, err := a.look(ctx)
		able = 0
		for _, g := range info.Gates {
			able += g.WorkersActual
		}
		return able, info.State == governor.OpenState && able == want, err
	})
	a.res.check(ok, "flights that can be in the air: %d, want %d", able, want)
	return ok && err == nil, err
}

// stray counts what hit a delivery limit or found no way back.
func (a *act) stray(ctx context.Context) (n int, err error) {
	for _, q := range []string{a.field.ns.LimitQueue(), a.field.ns.UnroutableQueue()} {
		depth, _, err := a.field.bk.Depth(ctx, q)
		if err != nil {
			return 0, unreachable(err)
		}
		n += depth
	}
	return n, nil
}

// done counts the operator's commands: a replay stands in the audit when it begins
// and when it has ended.
func (a *act) done(ctx context.Context) (n int, err error) {
	list, err := a.desk.Audit(ctx, governor.AuditFilter{Scope: a.airport})
	for _, e := range list {
		if e.Result != "begun" {
			n++
		}
	}
	return n, err
}

// shell shows a command as it would be typed.
func (a *act) shell(line string) { a.Narrator.Say("    $ tractionctl %s", line) }

func seconds(since time.Time) string { return render.Rough(time.Since(since)) }
