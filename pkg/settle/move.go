package settle

import "time"

// Settlement is one of the four ways a flight leaves a worker.
type Settlement uint8

const (
	// Land acknowledges the flight: it is done.
	Land Settlement = iota + 1
	// Hold sends it to a hold queue; it comes back after the delay.
	Hold
	// Park sends it to the gate's parked queue, where it waits for a human.
	Park
	// Defer sends it to the runway's tail; nothing is spent.
	Defer
)

// String gives the settlement's name as reports carry it.
func (s Settlement) String() string {
	switch s {
	case Land:
		return "land"
	case Hold:
		return "hold"
	case Park:
		return "park"
	case Defer:
		return "defer"
	}
	return "none"
}

// Landing says how a landed flight ended: done, refused, or passed over.
type Landing uint8

const (
	// AsLanded: the call did its work.
	AsLanded Landing = iota
	// AsRejected: a bad record, kept on the gate's rejected queue.
	AsRejected
	// AsSkipped: its run was aborted; it never flew.
	AsSkipped
)

// Reason says why a flight is parked. It travels with the parked copy.
type Reason string

// The reasons of a parked flight.
const (
	ReasonGateFault     Reason = "GATE_FAULT"
	ReasonHoldBudget    Reason = "HOLD_BUDGET"
	ReasonInternal      Reason = "INTERNAL"
	ReasonGateStopped   Reason = "GATE_STOPPED"
	ReasonMalformed     Reason = "MALFORMED"
	ReasonPoisonPill    Reason = "POISON_PILL"
	ReasonDeliveryLimit Reason = "DELIVERY_LIMIT"
	ReasonCharterLost   Reason = "CHARTER_LOST"
)

// Tells reports whether the first flight parked for this reason on a gate is
// worth a PARKING notification. The others are told by the incident that caused
// them.
func (r Reason) Tells() bool {
	switch r {
	case ReasonHoldBudget, ReasonInternal, ReasonMalformed, ReasonDeliveryLimit:
		return true
	}
	return false
}

// Move is one settlement with what it needs to be carried out.
type Move struct {
	Settlement Settlement
	Landing    Landing       // for Land
	Delay      time.Duration // for Hold
	Holds      Holds         // for Hold and Park: the budget spent, this hold included
	HeldFor    HoldReason    // for Hold
	Reason     Reason        // for Park
}

// Name gives the move's name in reports: landed, rejected, skipped, hold, park
// or defer.
func (m Move) Name() string {
	if m.Settlement != Land {
		return m.Settlement.String()
	}
	switch m.Landing {
	case AsRejected:
		return "rejected"
	case AsSkipped:
		return "skipped"
	}
	return "landed"
}
