package charter

import "github.com/traction-go/traction/pkg/settle"

// State is what became of a seat. The numbers are the four bits in the store.
type State uint8

// The states of a seat.
const (
	Empty      State = 0 // not dispatched yet
	Dispatched State = 1 // on its way
	Landed     State = 2 // done; final
	Rejected   State = 3 // a bad record, kept on the rejected queue
	Skipped    State = 4 // its run was aborted
	Parked     State = 5 // waits for a human
	Discarded  State = 6 // dropped by a human
)

// States lists them in the order of their numbers.
func States() []State {
	return []State{Empty, Dispatched, Landed, Rejected, Skipped, Parked, Discarded}
}

// String gives the state's word in books and reports.
func (s State) String() string {
	switch s {
	case Empty:
		return "empty"
	case Dispatched:
		return "dispatched"
	case Landed:
		return "landed"
	case Rejected:
		return "rejected"
	case Skipped:
		return "skipped"
	case Parked:
		return "parked"
	case Discarded:
		return "discarded"
	}
	return "unknown"
}

// Ended reports whether the seat is in the balance: nothing more is expected of it
// unless a human acts.
func (s State) Ended() bool { return s >= Landed && s <= Discarded }

// Step is what moves a seat.
type Step uint8

const (
	// Dispatch marks a flight that the broker has confirmed.
	Dispatch Step = iota
	// Land records a landing, by the note's owner or anybody else.
	Land
	// Reject, Skip and Park record what the note's owner settled.
	Reject
	Skip
	Park
	// Discard drops what waits for a human.
	Discard
	// Abort ends what has not been dispatched.
	Abort
	// Replay sends what waits for a human back to the runway; it moves no seat.
	Replay
)

// Move gives the state after a step, and whether the step moves a seat that stands
// at from.
func Move(from State, s Step) (State, bool) {
	switch s {
	case Dispatch:
		return Dispatched, from == Empty
	case Land:
		return Landed, from != Landed
	case Reject:
		return Rejected, from != Landed && from != Rejected
	case Skip:
		return Skipped, from != Landed && from != Skipped
	case Park:
		return Parked, from != Landed && from != Parked
	case Discard:
		return Discarded, from == Parked || from == Rejected
	case Abort:
		return Skipped, from == Empty
	}
	return from, false
}

// StepOf gives the step that a worker's move means for its flight's seat; false
// where the flight goes on (a hold, a defer).
func StepOf(m settle.Move) (Step, bool) {
	switch m.Settlement {
	case settle.Park:
		return Park, true
	case settle.Land:
		switch m.Landing {
		case settle.AsRejected:
			return Reject, true
		case settle.AsSkipped:
			return Skip, true
		}
		return Land, true
	}
	return 0, false
}
