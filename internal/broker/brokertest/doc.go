// Package brokertest is the conformance suite of the broker port: what every
// transport does, whatever it speaks. It runs on the in-process transport and on
// a real broker, restarts included.
//
// The suite asks for one broker (Harness) and shares it between its tests, each
// with queues and exchanges of its own names. A test of the suite that needs what
// not every broker can play (a memory alarm, a small delivery limit) belongs to
// that transport's own tests.
package brokertest
