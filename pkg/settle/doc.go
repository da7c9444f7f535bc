// Package settle holds Traction's decisions about one flight: what an outcome
// means, where the flight goes next, and how much patience it has left.
//
// The package is pure. It does no I/O, reads no clock and keeps no state, so the
// whole settle table can be read, and tested, in one place.
//
// # The model
//
// A reporter turns what a pilot returned into an [Outcome]. [Decide] turns the
// outcome into a [Plan]: the [Move] to make, and the move to make instead when
// the store, which alone knows the state of the whole fleet, says that the first
// one does not fit (an AIRPORT_FAULT that stopped nothing must not go straight
// back; a TRANSIENT of a delayed gate costs no budget). A flight that never flew
// has a [Finding] instead of an outcome; [Find] says what to do with it.
//
// There are four ways a flight leaves a worker, and no fifth: [Land], [Hold],
// [Park] and [Defer]. A flight that did not fly and is not settled is returned:
// it keeps its place on the runway and nothing is spent.
//
// # Who owns the flight
//
// Until a move's copy is confirmed by the broker and the delivery acknowledged,
// the broker owns the flight. A process that dies anywhere in between leaves the
// delivery unacknowledged and the broker hands it out again. A [Plan] is
// computed again from the message alone, so a second try decides the same.
package settle
