// Package advice says what to do next about a scope, in commands that can be
// pasted. It is pure: what stands goes in, words come out.
package advice

import (
	"fmt"
	"slices"
	"time"

	"github.com/traction-go/traction/internal/cli/render"
	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/governor"
	"github.com/traction-go/traction/pkg/settle"
)

// Start is the command that starts a worker.
const Start = "traction-worker run -c traction.yaml"

// Reopen is the command that reopens a scope.
func Reopen(scope string) string {
	return "tractionctl " + noun(scope) + " reopen " + wire.Visible(scope)
}

// Remove is the command that removes a scope, or goes on with a removal that ended.
func Remove(scope string) string {
	return fmt.Sprintf("tractionctl %[1]s remove %[2]s --confirm %[2]s", noun(scope), wire.Visible(scope))
}

// Resume is the command that ends a pause.
func Resume(scope string) string {
	return "tractionctl " + noun(scope) + " resume " + wire.Visible(scope)
}

// Show is the command that shows a scope.
func Show(scope string) string { return "tractionctl " + noun(scope) + " show " + wire.Visible(scope) }

// Replay is the command that flies a scope's parked flights again.
func Replay(scope string) string { return "tractionctl parked replay " + wire.Visible(scope) }

// Why is the command that sorts a scope's parked flights by reason.
func Why(scope string) string {
	return "tractionctl parked list " + wire.Visible(scope) + " --group-by reason"
}

// Staff is the command that gives a gate the workers again that its processes declare;
// one each where that is not known. It is no --reset, which would undo also what was set
// of the gate's batches.
func Staff(gate string, declared int) string {
	return fmt.Sprintf("tractionctl gate scale %s --workers %d", wire.Visible(gate), max(declared, 1))
}

// Stays reports whether a stopped gate keeps its flights on the runway.
func Stays(g governor.GateInfo) bool { return g.OnStop == settle.StayOnStop }

func noun(scope string) string {
	if s, err := wire.ParseScope(scope); err == nil && s.IsGate() {
		return "gate"
	}
	return "airport"
}

// Scope is what of an airport or a gate decides what to do next.
type Scope struct {
	Name   string
	State  governor.State
	Until  time.Time // when a throttle ends or a delay's next probe flies
	Canary int
	Landed int // of the canary
	Parked int
	Idle   bool // an operator has left it without workers

	Missing  string // the queue that it adopts, where that is not there
	Declared int    // workers of each process, as the processes have it; 0: not known
}

// OfAirport picks it from an airport.
func OfAirport(a governor.AirportInfo) Scope {
	return Scope{a.Airport, a.State, a.ThrottledUntil, a.Canary, a.CanaryLanded, a.Parked, false, "", 0}
}

// OfGate picks it from a gate.
func OfGate(g governor.GateInfo) Scope {
	missing := ""
	if g.AdoptedMissing {
		missing = g.Adopts
	}
	return Scope{g.Gate, g.State, g.DelayProbeAt, g.Canary, g.CanaryLanded, g.Parked, g.Idle(), missing, g.WorkersDeclared}
}

// State gives the lines that say what to do about the scope's state; none for an
// open one.
func State(s Scope) []string {
	switch s.State {
	case wire.Open:
		if s.Idle {
			return []string{"it has no workers, by an operator: " + Staff(s.Name, s.Declared)}
		}
		return nil
	case wire.Stopped:
		return []string{"fix the cause, then: " + Reopen(s.Name)}
	case wire.Paused:
		return []string{Resume(s.Name)}
	case wire.Canary:
		return []string{fmt.Sprintf("%d of %d canary flights landed; it opens by itself, or now: %s", s.Landed, s.Canary, Reopen(s.Name))}
	case wire.Throttled:
		return []string{"nothing: it goes on by itself at " + render.Stamp(s.Until)}
	case wire.Delayed:
		next := "nothing: it goes on when a probe lands"
		if !s.Until.IsZero() {
			next += "; the next one flies at " + render.Stamp(s.Until)
		}
		return []string{next}
	case wire.Removing:
		again := Remove(s.Name)
		if noun(s.Name) == "gate" {
			again += " (--to QUEUE where flights are left)"
		}
		return []string{"where its removal has ended early, run it again: " + again, "or take it back: " + Reopen(s.Name)}
	}
	return []string{"wait a few seconds, then: " + Show(s.Name)}
}

// Parked gives the lines that say what to do about parked flights. A scope that
// is stopped or paused is put right first: a replay into it parks them again.
func Parked(s Scope) []string {
	if s.Parked <= 0 || s.State == wire.Removing {
		return nil
	}
	if s.State == wire.Stopped || s.State == wire.Paused {
		return []string{"afterwards: " + Replay(s.Name)}
	}
	return []string{"see why: " + Why(s.Name), "once fixed: " + Replay(s.Name)}
}

// Queue gives the lines that say what to do about an adopted queue that is not there.
func Queue(s Scope) []string {
	if s.Missing == "" {
		return nil
	}
	return []string{"declare the queue " + wire.Visible(s.Missing) + ", and it is taken from by itself; or correct its name under adopt, and restart the worker"}
}

// Next gives all three.
func Next(s Scope) []string { return slices.Concat(State(s), Queue(s), Parked(s)) }
