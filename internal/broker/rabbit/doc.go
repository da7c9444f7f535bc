// Package rabbit is the transport that speaks AMQP 0-9-1 to RabbitMQ.
//
// # Model
//
// Two supervised connections, one to publish and one for everything else: under a
// memory alarm the broker stops reading from whoever publishes, and an
// acknowledgement on that connection would hang with it. Each is redialled by a
// goroutine of its own, over all endpoints, with backoff and jitter; the library's
// recovery is never used, since it acknowledges unprocessed messages.
//
//   - Publishing: a few pipelines, each a confirming channel owned by one
//     goroutine. A batch goes to one pipeline whole, so its order is kept. A
//     return is matched to its publishing before the confirm is believed: the
//     broker confirms what it could not route.
//   - Consuming: a host is a channel, which subscriptions share where there are more
//     than a hundred, since a broker allows some 2,000 channels a connection. One goroutine makes its synchronous
//     calls. A subscription has one goroutine: it consumes, moves deliveries into
//     the subscription's buffer, and consumes again after a loss.
//   - Everything else runs on throw-away channels: an error of the broker closes
//     the channel it happened on, and must not take a neighbour along.
//
// # What dies
//
// When a channel or connection dies, its sessions are over: their deliveries
// answer ErrStale and the broker hands the messages out again. A publishing whose
// confirm had not come yet fails with ErrUnreachable, and a copy may exist. When
// the process dies the broker sees the connections close, which is the same.
//
// # Bounds
//
// Every call ends with its context, and at the latest with Config.CallTimeout or
// Config.ConfirmTimeout. A channel whose call was not answered in time is closed,
// and if even that hangs, its connection.
package rabbit
