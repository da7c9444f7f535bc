// Package governortest flies airports in a test: in process, with no services, and
// in virtual time, so that a hold of ten minutes passes at once.
//
//	func TestDeadToken(t *testing.T) {
//		field := governortest.New(t, crm(&acme.Client{Err: acme.ErrAuth}))
//		field.Dispatch("crm:acme/contact-sync", Contact{ID: "7"})
//		field.Settle() // until nothing can move
//		if a := field.Airport("crm:acme"); a.State != governor.Stopped || a.Waiting != 1 {
//			t.Fatalf("%+v", a)
//		}
//	}
//
// # Model
//
// A field is one broker, one store and the worker processes on it: the real
// worker, tower, scripts and rules, on the memory broker and an embedded store.
// All of it lives in one bubble of testing/synctest, where the clock moves only
// when nothing else can.
//
// Between two calls on the field the world stands still: no time passes, and
// everything that could happen by now has happened. So a test may read what its
// pilots wrote without a lock. Only Advance and Settle (and New, Start, Pause and
// Process.Stop, which wait for the workers) let time pass.
//
// # What a pilot may do
//
// Pilots, reporters and hooks run inside the bubble. They may sleep, wait for
// their context and talk to each other; their time.Now is the field's. They must
// not wait for the test itself, nor for the network (a client with a RoundTripper
// of its own is the way to test HTTP): the clock would stand still until they are
// done, and a call on the field fails the test after half a minute of real time.
//
// # The end
//
// The field ends with the test: workers drain, every goroutine returns. A pilot
// that never returns fails the test there.
//
// New also works inside a test that runs in a bubble of its own; the field then
// lives in that one.
//
// It is for tests alone: nothing outlives the process.
package governortest
