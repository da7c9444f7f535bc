// Package simfleet plays a fleet through crashes and checks that a poison pill costs
// at most two workers, that nobody else is convicted for it, and that nothing is lost.
//
// # Model
//
// A World is one broker, one store and the true story of each flight: who flew it, who
// was in the air with it, whether it landed. Its processes are real ones of
// pkg/governor, on the memory broker and miniredis, in virtual time; only their
// connections and their pilots are the World's. Through these it takes a process away:
// from one instant on nothing the process says reaches anybody, then its messages are
// handed out again, then another one starts in its place. That is kill -9, and it may
// come at each step that shows on a connection: before and after a call to the store,
// a publish, an acknowledgement, at take-off and in the air.
//
// A plan is made from a seed: who serves what, which flights there are, which of them
// kill, and which faults come when (pills, kills, deploys, lost channels, a store that
// is away from all or from one). The seed fixes the plan; the order in which goroutines
// run is the scheduler's, so a replay of a seed is the same story, not always the same
// run.
//
// # What is checked
//
// During the run: a flight is never twice in the air unless one of the two may have
// been presumed dead, and a suspect flies with nothing beside it. At the end: every
// flight landed, was rejected or is parked; what can land did; a pill is parked as
// POISON_PILL and killed at most two workers that were not leaving; whoever else was
// convicted falls under a limit that the documentation names; one notification each.
package simfleet
