// Package throwaway is a namespace on a broker and a store that belongs to one run:
// a demo's or a rehearsal's. It was empty when the run began, and is gone when it has
// ended.
//
// # Whose data it is
//
// Before anything is declared, [Taken] looks for whatever stands there already; a
// namespace in use is refused by the caller, and untouched. From then on the run owns
// it. Every queue and exchange is written into a [Ledger] before it is declared, so
// that it can be removed whatever the topology comes to be, and the ledger forgets
// everything that is outside of its namespace: what is not the run's is never
// deleted, whoever declares it through the same connection.
//
// # What if the process dies
//
// A run that ends by success, by failure or by a signal removes what the ledger has
// and every key of the namespace, and [Ledger.Standing] looks again. One that is
// killed leaves its namespace behind, under a name that says what it was ([Name]).
package throwaway
