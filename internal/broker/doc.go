// Package broker is the port through which Traction moves messages, and the
// conformance suite that every transport passes (brokertest). broker/rabbit
// speaks to RabbitMQ; broker/memory is an in-process stand-in for demos and
// tests.
//
// # Who owns a message
//
// A message belongs to the broker until it is acknowledged. A process that moves
// one publishes the copy, waits for its confirm, and only then acknowledges the
// original; dying anywhere in between leaves one copy too many, never one too
// few. The transport never acknowledges on its own.
//
// # Sessions
//
// A subscription outlives connections: when its channel is lost the transport
// reconnects, with backoff, and consumes again under a new session. Delivery tags
// start again with each session, so a delivery belongs to its session: once that
// is over, Ack and Nack do nothing and return ErrStale, and the broker hands the
// message out again. (The AMQP library's own recovery acknowledges unprocessed
// messages exactly here.)
//
// # Bounds
//
// Every call is bounded by its context and by the transport's own limit, since a
// broker under a memory alarm never answers, and a queue without its majority
// never confirms. A publish whose confirm did not come is not published as far as
// its caller is concerned, though a copy may exist.
package broker
