// Package store keeps what processes must agree on: statuses, slots, notes,
// streaks, incidents and the outbox, in Redis or Valkey. The rules run there, as
// scripts, in the same atomic step in which a flight settles; each script has one
// Go method. The scripts' own comments are their contract.
//
// # Who owns what
//
// The store owns every status. A process keeps a memory of what it has seen
// ([Airport] holds it): the highest tick, epochs and fences, which it sends with
// every call, so that a store that forgot or went back is noticed; and the last
// status of each scope, which it offers after a loss.
//
// # What happens when a process dies, or a reply is lost
//
// A script runs whole or not at all as far as other processes can see. A call
// whose reply was lost is repeated with the same number by the same lane, and gets
// the first answer. A call that was never answered leaves at most notes behind,
// which their owner removes within ten seconds, or a tower when the owner is gone.
//
// # Loss
//
// A missing status is unknown, never open. It is written BIRTH, then OPEN or
// STATE_LOST, by whoever finds that the broker does not, or does, remember the
// scope. Nothing that was stopped reopens itself.
//
// An Airport's methods may be called from any goroutine. Errors that say that the
// store did not answer wrap ErrUnreachable.
package store
