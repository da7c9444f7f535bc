package scopeverb

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/traction-go/traction/internal/cli/advice"
	"github.com/traction-go/traction/internal/cli/exit"
	"github.com/traction-go/traction/internal/cli/form"
	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/governor"
)

// watcher is what a wait looks at.
type watcher interface {
	Airport(ctx context.Context, id string) (governor.AirportInfo, error)
}

// sight is one look at a scope.
type sight struct {
	state    governor.State
	reason   string
	evidence string
	landed   int64
	workers  int
	above    governor.State     // of a gate's airport; "" for an airport
	idle     *governor.GateInfo // what waits, waits for the workers of this one
	left     int                // what waits and what is in the air
	holds    []advice.Hold      // neighbours that may keep a gate from being fed
}

func look(ctx context.Context, w watcher, scope string) (sight, error) {
	s, err := wire.ParseScope(scope)
	if err != nil {
		return sight{}, err
	}
	a, err := w.Airport(ctx, s.Airport)
	if err != nil {
		return sight{}, err
	}
	at := sight{state: a.State, reason: a.Reason, evidence: a.Evidence, landed: a.Landed, workers: a.Workers, idle: idle(a.Gates)}
	at.left = total(a.Runway, a.Holding, a.Adopted, a.InAir)
	if s.IsGate() {
		i := slices.IndexFunc(a.Gates, func(g governor.GateInfo) bool { return g.Gate == s.String() })
		if i < 0 {
			return sight{}, fmt.Errorf("gate %s: %w", s, governor.ErrNotFound)
		}
		g := a.Gates[i]
		at.landed, at.above, at.idle, at.workers = g.Landed, a.State, idle(a.Gates[i:i+1]), len(g.Processes)
		at.left = total(g.Runway, g.Holding, g.Adopted, g.InAir)
		if g.Runway == 0 && g.InAir == 0 {
			at.holds = advice.Holds(g, a)
		}
		// A gate under a stopped airport does not fly either.
		if !holds(a.State) {
			at.state, at.reason, at.evidence = g.State, g.Reason, g.Evidence
		}
	}
	return at, nil
}

// total adds counts; what could not be read makes it unread.
func total(counts ...int) int {
	n := 0
	for _, c := range counts {
		if c == governor.Unread {
			return governor.Unread
		}
		n += c
	}
	return n
}

// idle gives the gate whose workers an operator has taken away, where nothing else of
// what is looked at can land.
func idle(gates []governor.GateInfo) *governor.GateInfo {
	var first *governor.GateInfo
	for i, g := range gates {
		switch {
		case g.InAir != 0 || !g.Idle() && !holds(g.State) && g.Waiting() != 0:
			return nil
		case first == nil && g.Idle() && !holds(g.State) && g.Waiting() != 0:
			first = &gates[i]
		}
	}
	return first
}

func holds(s governor.State) bool { return s == wire.Stopped || s == wire.Paused }

// emptyLooks is how many looks in a row must find nothing before nothing is left: what
// is moved from an adopted queue is counted nowhere for a moment.
const emptyLooks = 10

// verdict is what one look after a reopen means.
type verdict uint8

const (
	keepLooking  verdict = iota
	landed               // the first flight landed
	stoppedAgain         // a fault stopped the scope again
	pausedAgain          // a human paused it meanwhile
	airportHolds         // the gate is open, and its airport was not to begin with
	nobodyFlies          // no live worker serves it: waiting is pointless
	noWorkers            // an operator has left what waits without workers
	nothingLeft          // what waited has ended otherwise, or went to another gate
)

func judge(before, now sight) verdict {
	switch {
	case now.landed > before.landed:
		return landed
	case holds(now.above) && now.above == before.above:
		return airportHolds
	case now.state == wire.Stopped:
		return stoppedAgain
	case now.state == wire.Paused:
		return pausedAgain
	case now.workers == 0:
		return nobodyFlies
	case now.idle != nil:
		return noWorkers
	}
	return keepLooking
}

// follow looks until there is a verdict or the context ends. One look that fails
// is told and not the end: the scope is open already.
func follow(ctx context.Context, opts *ReopenOptions, w watcher, before sight, r governor.Reopening) error {
	if r.Waiting == 0 && r.Adopted == 0 {
		opts.Notef("nothing waits: not waiting for a landing\n")
		return nil
	}
	opts.Notef("waiting for the first landing (Ctrl-C stops waiting, %s stays open)\n", opts.Scope)
	start := opts.Now()
	failing, told, empty := false, false, 0
	for {
		bound, cancel := opts.Bound(ctx)
		now, err := look(bound, w, opts.Scope)
		cancel()
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil && exit.Code(err) != exit.Unreachable:
			return err
		case err != nil:
			if !failing {
				opts.Notef("%s is reopened, but cannot be followed now: %s\n", opts.Scope, wire.Visible(wire.Mask(err.Error())))
			}
			failing = true
		default:
			failing = false
			if empty++; now.left != 0 {
				empty = 0
			}
			v := judge(before, now)
			if v == keepLooking && empty == emptyLooks {
				v = nothingLeft
			}
			if v != keepLooking {
				return conclude(opts, v, now, opts.Now().Sub(start))
			}
			if len(now.holds) > 0 && !told {
				told = true
				h := now.holds[0]
				opts.Notef("it may wait for %s, which is %s: %s\n", wire.Visible(h.Gate), h.Is, strings.Join(h.Next, "; "))
			}
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(opts.Every):
		}
	}
}

func conclude(opts *ReopenOptions, v verdict, now sight, after time.Duration) error {
	switch v {
	case landed:
		opts.Notef("the first flight landed after %s\n", after.Round(100*time.Millisecond))
		return nil
	case pausedAgain:
		opts.Notef("%s was paused meanwhile: %s\n", opts.Scope, wire.Visible(now.reason))
		return nil
	case airportHolds:
		airport, _, _ := strings.Cut(opts.Scope, "/")
		opts.Notef("%s is open, but its airport is %s (%s): nothing flies before %s\n",
			opts.Scope, now.above, wire.Visible(now.reason), advice.Reopen(airport))
		return nil
	case nobodyFlies:
		opts.Notef("NO WORKER serves %s: it is open, and flies when one starts: %s\n", opts.Scope, advice.Start)
		return nil
	case nothingLeft:
		opts.Notef("nothing waits any more, and nothing landed at %s: see %s\n", opts.Scope, advice.Show(opts.Scope))
		return nil
	case noWorkers:
		g := *now.idle
		return exit.WithHint(fmt.Errorf("%s is open, and what waits there does not fly: %s: %s was scaled to no workers %s",
			opts.Scope, governor.ReasonNoWorkers, wire.Visible(g.Gate), form.ScaledBy(g, opts.Now())),
			"%s", advice.Staff(g.Gate, g.WorkersDeclared))
	}
	why := wire.Visible(now.reason)
	if now.evidence != "" {
		why += ": " + wire.Visible(now.evidence)
	}
	when := "at once"
	if after >= 100*time.Millisecond {
		when = "after " + after.Round(100*time.Millisecond).String()
	}
	return exit.WithHint(fmt.Errorf("%s stopped again %s: %s", opts.Scope, when, why),
		"the cause is still there; see tractionctl incident show %s", opts.Scope)
}
