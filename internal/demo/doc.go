// Package demo plays one outage against a simulated vendor, with and without
// Traction, and holds each run to what it claims.
//
// # Model
//
// A scenario is a function in the table of scenarios. It gets a stage: the
// services it runs on, a narrator and how fast to go. It starts a vendor, sends
// contacts through queues, watches, and gives a Result: facts that were measured,
// and differences from what the scenario claims. One difference fails the run.
//
// The vendor is a real HTTP server on the loopback with books of its own: what it
// refused and how often each contact was written. The batch scenario has a database in
// its place, in this process, whose rows are guarded by locks that its transactions
// really fight over. A result is read from the books of one of the two, the queues and
// the store, never from what a consumer believes; error lines are counted where they
// are written.
//
// # Whose data it is
//
// By default broker and store are in this process and are gone with it: for
// looking, not for production. On real services a run owns a namespace that was
// empty when it began. Every queue and exchange goes through a ledger before it is
// declared, and the run deletes what stands there, and every key of the namespace,
// when it ends: by success, by failure or by a signal. A run that is killed leaves
// its namespace behind, under the name that it printed first; a later run in that
// namespace is refused.
package demo
