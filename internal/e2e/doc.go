// Package e2e holds the product to its promises from outside: the built binaries,
// in processes of their own, on a real broker and a real store, against a vendor
// that fails in the ways vendors do. It has tests only, and no code of its own.
//
// # What a test is made of
//
// A site is a namespace on a broker and a store, a simulated vendor, a receiver of
// webhooks and a configuration file. Workers are traction-worker processes, ended
// with SIGTERM or SIGKILL; the operator is tractionctl. Tests that break a service
// start their own; the others share one and keep to their namespace. Tests that break
// the network put wires, a proxy in the test, between the workers and a service; the
// test itself and tractionctl go past them.
//
// # Who owns what when a process dies
//
// The vendor and the hook live in the test and remember every call, so that the
// truth about what was called is never in a process that is killed. The books are
// read last, from the broker's own queues, after all workers have ended:
//
//	dispatched business ids = landed (as the vendor says) + rejected + parked + still queued
//
// as sets. What was killed may leave a flight in two of them: landed at the vendor
// and still queued, because the process died before it could settle. Tests that
// kill nothing demand that no id is in two, and that every landing is one call.
//
// TRACTION_TEST_SHELVED says how many flights the tests of replays and discards put
// on a shelf; 40000 is a bad night, and the default of 8000 is in the middle of a move
// for long enough.
//
// A watcher process ends the workers if the test binary dies before its cleanups.
package e2e
