// Package charter holds the books of a bulk run: what became of each seat, when a
// run is complete, and how another source under the same run is recognized.
//
// # The model
//
// A charter is opened with an expected count. Each flight has a seat, its position
// in the source. A seat has one [State], which moves only in the steps below, in
// the store, in the same atomic step in which the flight settles; so a late or
// doubled report changes nothing, and the counts can be counted again from the
// seats at any time.
//
//	dispatch   empty -> dispatched, after the broker confirmed it
//	settle     any but landed -> landed, rejected, skipped, parked (the note's owner)
//	landing    any -> landed, which is final (whoever reports it)
//	discard    parked, rejected -> discarded, before the acknowledgement
//	abort      empty -> skipped
//	replay     moves none: the next settlement does
//
// # Who owns what, and what happens if the process dies right there
//
// The store owns the seats; the broker owns the flights. A dispatcher that dies
// after the confirm and before the seat is marked leaves the seat empty: the next
// dispatch of the same source sends the flight again, under the same id, and the
// two copies are one flight. An operator that dies between discarding a seat and
// the acknowledgement leaves a copy whose seat is discarded; running the command
// again finishes it.
//
// The package is pure: no I/O, no clock, no state of its own.
package charter
