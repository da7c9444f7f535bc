package settle

import "time"

// Policy is a gate's patience: how long each hold of each budget lasts. The
// number of holds is the length of the list; what fails after the last is parked.
type Policy struct {
	Transient []time.Duration // default 30 s, 2 min, 10 min
	Internal  []time.Duration // default 30 s
}

// DefaultPolicy gives a blip three holds and a bug of our own one.
func DefaultPolicy() Policy {
	return Policy{
		Transient: []time.Duration{30 * time.Second, 2 * time.Minute, 10 * time.Minute},
		Internal:  []time.Duration{30 * time.Second},
	}
}

// Plan is what a worker sends to the settle script: the move it wants, and the
// one to make when the script answers that the first does not fit.
type Plan struct {
	Move Move
	// Otherwise is taken when, for AIRPORT_FAULT and RATE_LIMIT, the airport was
	// left neither stopped nor throttled (observe mode, a higher threshold), and
	// for TRANSIENT, when the gate is delayed. Its Settlement is 0 where the
	// script has no choice.
	Otherwise Move
}

// Decide is the settle table for a flight that flew. A CONFLICT reaches it only
// after its retries in place are spent, and is then a TRANSIENT.
func Decide(o Outcome, spent Holds, p Policy) Plan {
	deferred := Move{Settlement: Defer, Holds: spent}
	switch o {
	case Landed:
		return Plan{Move: Move{Settlement: Land, Landing: AsLanded}}
	case FlightFault:
		return Plan{Move: Move{Settlement: Land, Landing: AsRejected, Holds: spent}}
	case GateFault:
		return Plan{Move: Move{Settlement: Park, Reason: ReasonGateFault, Holds: spent}}
	case AirportFault, RateLimit:
		return Plan{Move: deferred, Otherwise: hold(HoldTransient, p.Transient, spent, ReasonHoldBudget)}
	case Transient, Conflict:
		return Plan{Move: hold(HoldTransient, p.Transient, spent, ReasonHoldBudget), Otherwise: deferred}
	}
	// INTERNAL, and whatever a reporter made up: our bug.
	return Plan{Move: hold(HoldInternal, p.Internal, spent, ReasonInternal)}
}

// hold spends one hold of a budget, or parks when it is used up. A count below
// zero is nobody's honest budget: it parks too.
func hold(why HoldReason, delays []time.Duration, spent Holds, past Reason) Move {
	n := spent.Of(why)
	if n < 0 || n >= len(delays) {
		return Move{Settlement: Park, Reason: past, Holds: spent}
	}
	return Move{Settlement: Hold, Delay: delays[n], HeldFor: why, Holds: spent.Add(why)}
}
