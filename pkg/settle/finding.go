package settle

import "time"

// Finding is why a flight was not flown.
type Finding uint8

const (
	// FoundAirportStopped: the airport takes no work.
	FoundAirportStopped Finding = iota + 1
	// FoundGateStopped: a fault or a human stopped the gate.
	FoundGateStopped
	// FoundGatePaused: a human paused the gate; its work stays where it is.
	FoundGatePaused
	// FoundWait: throttled, delayed, or no slot free; it flies later.
	FoundWait
	// FoundHeld: another worker may be flying it, or it waits its turn as a suspect.
	FoundHeld
	// FoundLanded: it landed already.
	FoundLanded
	// FoundAborted: its run was aborted.
	FoundAborted
	// FoundCharterLost: the store no longer knows its run.
	FoundCharterLost
	// FoundMalformed: it cannot be read.
	FoundMalformed
	// FoundConvicted: it killed two workers.
	FoundConvicted
)

// OnStop says what a stopped gate does with its flights.
type OnStop uint8

const (
	// ParkOnStop parks them for a replay after the fix. The default.
	ParkOnStop OnStop = iota
	// StayOnStop leaves them on the runway in their order.
	StayOnStop
)

// HeldDelay is the hold of a flight that another worker may still be flying. It
// uses up no budget.
const HeldDelay = 10 * time.Second

// MaxWait is how long a flight may wait in a worker's hand for a slot, a throttle
// or a delay; anything longer is returned to the runway.
const MaxWait = time.Minute

// Step is what to do with a flight that was not flown: make a move, return it to
// the runway in its place, or keep it in hand.
type Step struct {
	Move   Move // Settlement 0: none
	Return bool // nack: it keeps its place, and the consumer pauses
	Wait   bool // keep it in hand, up to MaxWait
}

// Find is the settle table for a flight that did not fly.
func Find(f Finding, onStop OnStop, spent Holds) Step {
	park := func(r Reason) Step {
		return Step{Move: Move{Settlement: Park, Reason: r, Holds: spent}}
	}
	switch f {
	case FoundAirportStopped, FoundGatePaused:
		return Step{Return: true}
	case FoundGateStopped:
		if onStop == StayOnStop {
			return Step{Return: true}
		}
		return park(ReasonGateStopped)
	case FoundWait:
		return Step{Wait: true}
	case FoundHeld:
		return Step{Move: Move{Settlement: Hold, Delay: HeldDelay, Holds: spent}}
	case FoundLanded:
		return Step{Move: Move{Settlement: Land, Landing: AsLanded}}
	case FoundAborted:
		return Step{Move: Move{Settlement: Land, Landing: AsSkipped}}
	case FoundCharterLost:
		return park(ReasonCharterLost)
	case FoundMalformed:
		return park(ReasonMalformed)
	case FoundConvicted:
		return park(ReasonPoisonPill)
	}
	return Step{Return: true}
}
