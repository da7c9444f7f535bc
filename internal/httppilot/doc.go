// Package httppilot makes flights into HTTP calls: the pilot of workers that are
// configured rather than programmed, and the reporter that reads the answers.
//
// # The model
//
// [Pilot] makes one request per flight and decides nothing. The body is the
// payload, byte for byte. What came back is its error: nil for a success that
// nothing could reinterpret, an [*Answer] for any other answer, a [*CallError]
// where there was none. [Outcomes] is the reporter: it reads that error by the
// rules of the configuration, then by governor.StatusOutcome.
//
// # Headers
//
// Idempotency-Key, Traction-Business-Id, Traction-Flight, Traction-Attempt and
// Traction-Deadline tell the vendor which flight it is. A business id may hold
// anything; what a header cannot carry is percent-encoded, % included. A call of
// [Batch] has Traction-Flights in place of the flight and business ids: the flights'
// idempotency keys in the order of the array, separated by commas, with an
// Idempotency-Key made of them all.
//
// # Who owns what
//
// The governor owns the flight; the pilot owns its connections. A process that
// dies during the call leaves the flight with the broker, which hands it out
// again under the same Idempotency-Key.
//
// # What stays inside
//
// An answer is read up to 64 KiB and kept to 1 KiB. Errors carry the method and
// the host, never the rest of the URL, and are masked with the secrets of the
// headers as they were sent.
package httppilot
