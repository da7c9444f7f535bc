package governor

import (
	"errors"
	"fmt"
	"time"

	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/settle"
)

// Airport declares one governed dependency: one quota, one credential, one
// outage fate. It is a plain value; nothing happens until Run.
type Airport struct {
	// ID names the airport, such as "crm:acme": 1 to 64 characters of
	// A-Z a-z 0-9 . _ : - starting with a letter or digit. Required.
	ID string

	// Gates are the work types on it, each stoppable on its own. At least one is
	// required to run workers.
	Gates []Gate

	// Slots is the rate limit that every process and every gate of the airport
	// shares, kept by the store's clock. Zero: unlimited.
	Slots Slots

	// Reporter says what an outcome means. A gate may have its own. nil:
	// DefaultReporter.
	Reporter Reporter

	// Mode is Enforce, the default, or Observe, which opens incidents marked
	// "would have stopped" and stops nothing.
	Mode Mode

	// TellObserved notifies of what an observed airport would have stopped.
	TellObserved bool

	// Streaks are the thresholds of the stops. Zero fields take the defaults.
	Streaks Streaks

	// Holds are the delays of the hold budgets. Empty lists take the defaults:
	// 30 s, 2 min, 10 min for a transient failure, 30 s for an internal one.
	Holds settle.Policy

	// MaxRetryAfter caps what a vendor may ask for with a Retry-After. Default
	// 15 min.
	MaxRetryAfter time.Duration

	// Secrets are values that are masked wherever they appear in evidence,
	// beside the credentials that are recognized by their form.
	Secrets []string
}

// Gate declares one work type on an airport.
type Gate struct {
	// ID names the gate, such as "contact-sync". Required; rules as for Airport.ID.
	ID string

	// Pilot makes the call and nothing else. It or Batch is required to run workers.
	Pilot Pilot

	// Batch flies several flights in one call. nil: each flies by itself.
	Batch *Batch

	// Reporter replaces the airport's.
	Reporter Reporter

	// Workers is how many flights of this gate are in the air at once in each
	// process. Default 4.
	Workers int

	// Timeout bounds one call. Default 30 s.
	Timeout time.Duration

	// OnStop says what a stopped gate does with its flights: settle.ParkOnStop,
	// the default, or settle.StayOnStop.
	OnStop settle.OnStop

	// Adopt takes the messages of a queue that stands already. nil: flights come by
	// Dispatch alone.
	Adopt *Adoption

	// DropRejected drops rejected records instead of keeping them.
	DropRejected bool

	// MaxPayload is the largest payload that is flown, in bytes; a larger one is
	// parked as MALFORMED. Default 1 MiB.
	MaxPayload int
}

// Slots is a rate limit: in any window of Per, at most N clearances.
type Slots struct {
	N   int           // 0: unlimited; at most 1,000,000
	Per time.Duration // required with N
}

// Mode says whether an airport's rules act.
type Mode string

// The modes.
const (
	Enforce Mode = "enforce"
	Observe Mode = "observe"
)

// Streaks are the thresholds of the stops, each a number of distinct records.
type Streaks struct {
	AirportFault int           // AIRPORT_FAULTs that stop the airport. Default 1
	GateFault    int           // GATE_FAULTs that stop the gate. Default 3
	RecordFault  int           // FLIGHT_FAULTs, INTERNALs and MALFORMEDs, together, that stop the gate. Default 5
	Transient    int           // TRANSIENTs with no landing between that delay the gate. Default 5
	Window       time.Duration // within which the faults count; the transient streak has none. Default 5 min
}

// The defaults of a spec.
const (
	DefaultWorkers       = 4
	DefaultTimeout       = 30 * time.Second
	DefaultMaxPayload    = 1 << 20
	DefaultMaxRetryAfter = 15 * time.Minute
	DefaultWindow        = 5 * time.Minute

	maxSlots   = 1_000_000
	maxWorkers = 1_000
)

// ErrSpec is the class of a refused declaration.
var ErrSpec = errors.New("invalid declaration")

// SpecError names the field that was refused. It wraps ErrSpec.
type SpecError struct {
	Field string
	Why   string
}

// Error names the field first.
func (e *SpecError) Error() string { return e.Field + ": " + e.Why }

// Unwrap makes errors.Is(err, ErrSpec) true.
func (e *SpecError) Unwrap() error { return ErrSpec }

func badSpec(field, format string, args ...any) error {
	return &SpecError{field, fmt.Sprintf(format, args...)}
}

// withDefaults fills what the caller left zero.
func (a Airport) withDefaults() Airport {
	if a.Reporter == nil {
		a.Reporter = DefaultReporter
	}
	a.Mode = or(a.Mode, Enforce)
	a.Streaks.AirportFault = or(a.Streaks.AirportFault, 1)
	a.Streaks.GateFault = or(a.Streaks.GateFault, 3)
	a.Streaks.RecordFault = or(a.Streaks.RecordFault, 5)
	a.Streaks.Transient = or(a.Streaks.Transient, 5)
	a.Streaks.Window = or(a.Streaks.Window, DefaultWindow)
	d := settle.DefaultPolicy()
	if len(a.Holds.Transient) == 0 {
		a.Holds.Transient = d.Transient
	}
	if len(a.Holds.Internal) == 0 {
		a.Holds.Internal = d.Internal
	}
	a.MaxRetryAfter = or(a.MaxRetryAfter, DefaultMaxRetryAfter)
	gates := make([]Gate, len(a.Gates))
	for i, g := range a.Gates {
		if g.Reporter == nil {
			g.Reporter = a.Reporter
		}
		g.Workers = or(g.Workers, DefaultWorkers)
		g.Timeout = or(g.Timeout, DefaultTimeout)
		g.MaxPayload = or(g.MaxPayload, DefaultMaxPayload)
		g.OnStop = g.onStop()
		gates[i] = g
	}
	a.Gates = gates
	return a
}

func or[T comparable](v, def T) T {
	var zero T
	if v == zero {
		return def
	}
	return v
}

// Validate says what is wrong with the declaration, naming the field. It wraps
// ErrSpec. Run calls it too.
func (a Airport) Validate() error {
	if err := wire.CheckName("airport", a.ID); err != nil {
		return badSpec("ID", "%v", err)
	}
	at := "airport " + a.ID
	if a.Slots.N < 0 || a.Slots.N > maxSlots {
		return badSpec(at+": Slots.N", "%d: want 0 (unlimited) to %d", a.Slots.N, maxSlots)
	}
	if a.Slots.N > 0 && a.Slots.Per < time.Millisecond {
		return badSpec(at+": Slots.Per", "%v: want a window of at least 1ms", a.Slots.Per)
	}
	if a.Mode != "" && a.Mode != Enforce && a.Mode != Observe {
		return badSpec(at+": Mode", "%q: want enforce or observe", a.Mode)
	}
	for name, n := range map[string]int{
		"AirportFault": a.Streaks.AirportFault, "GateFault": a.Streaks.GateFault,
		"RecordFault": a.Streaks.RecordFault, "Transient": a.Streaks.Transient,
	} {
		if n < 0 {
			return badSpec(at+": Streaks."+name, "%d: want 1 or more", n)
		}
	}
	if a.Streaks.Window < 0 || a.MaxRetryAfter < 0 {
		return badSpec(at+": Streaks.Window, MaxRetryAfter", "want a positive duration")
	}
	for _, d := range append(append([]time.Duration{}, a.Holds.Transient...), a.Holds.Internal...) {
		if d < time.Millisecond || d > 30*24*time.Hour || d%time.Millisecond != 0 {
			return badSpec(at+": Holds", "%v: want whole milliseconds, 1ms to 30 days", d)
		}
	}
	seen := map[string]bool{}
	for _, g := range a.Gates {
		if err := g.validate(at); err != nil {
			return err
		}
		if seen[g.ID] {
			return badSpec(at+": Gates", "gate %q is declared twice", g.ID)
		}
		seen[g.ID] = true
	}
	return a.checkAdopted()
}

func (g Gate) validate(at string) error {
	if err := wire.CheckName("gate", g.ID); err != nil {
		return badSpec(at+": Gates.ID", "%v", err)
	}
	at += ", gate " + g.ID
	switch {
	case g.Workers < 0 || g.Workers > maxWorkers:
		return badSpec(at+": Workers", "%d: want 1 to %d", g.Workers, maxWorkers)
	case g.Timeout < 0:
		return badSpec(at+": Timeout", "%v: want a positive duration", g.Timeout)
	case g.MaxPayload < 0:
		return badSpec(at+": MaxPayload", "%d: want a positive size", g.MaxPayload)
	case g.Pilot == nil && g.Batch == nil:
		return badSpec(at+": Pilot", "is required")
	}
	if g.Batch != nil {
		if err := g.Batch.validate(at); err != nil {
			return err
		}
	}
	if g.Adopt != nil {
		if err := g.Adopt.validate(at); err != nil {
			return err
		}
	}
	if p, ok := g.Pilot.(*execPilot); ok {
		return p.validate(at)
	}
	return nil
}
