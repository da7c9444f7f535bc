// Package governor contains failure for queue consumers that call something they
// do not own. A worker declares its airports and gates, a pilot that makes the
// call and a reporter that says what the outcome means; the rest is done here, on
// the RabbitMQ and the Redis that are already there.
//
// # Who owns a flight, and what happens if the process dies right there
//
//	waiting   the broker owns it, unacknowledged: redelivered in its place.
//	cleared   the store has a note "this process is about to fly it". Redelivered;
//	          whoever asks for it is told "held" until the process counts as dead.
//	flying    as cleared. The call may or may not have been made: at least once.
//	settled   the settle script has counted the outcome and removed the note (or
//	          turned it into a landing mark). Redelivered; a marked flight is
//	          acknowledged without a call, anything else flies again.
//	moved     the copy (hold, park, defer, rejected) is confirmed. Redelivered: there
//	          are two copies, which is harmless for the same reason.
//	acked     the broker has forgotten it. The landing mark is removed after a
//	          synchronous call on the same channel has returned.
//
// # Processes inside the process
//
// A station is one airport in this process: its beats, its births, its memory of
// the store. A lane is one gate: a goroutine that alone owns every flight in hand,
// with one call to the store outstanding at a time; pilots run beside it and give
// their results back to it. The tower tells people and tidies up. Each is started
// by Run and has ended when Run returns.
//
// # When nothing is called
//
// A call starts only under a clearance that is fresh: asked for at most ten
// milliseconds ago (less the usual round trip), with no failure of this process
// unanswered by the settle script, and no stop seen since. In any doubt, the
// clearance is asked for again; without the store there is none, and the flight
// waits.
package governor
