package broker

import (
	"context"
	"errors"
	"time"

	"github.com/traction-go/traction/internal/wire"
)

// The classes of errors a transport returns.
var (
	// ErrUnreachable: no connection, or it was lost before the answer.
	ErrUnreachable = errors.New("broker unreachable")
	// ErrUnroutable: no queue takes the message; it was not published.
	ErrUnroutable = errors.New("unroutable")
	// ErrNotConfirmed: the broker refused the message, or its confirm did not
	// come in time. A copy may exist.
	ErrNotConfirmed = errors.New("not confirmed")
	// ErrStale: the delivery's session is over; the broker hands it out again.
	ErrStale = errors.New("stale delivery")
	// ErrNoQueue: the queue does not exist.
	ErrNoQueue = errors.New("no such queue")
	// ErrNoExchange: a binding names an exchange that does not exist.
	ErrNoExchange = errors.New("no such exchange")
	// ErrRefused: the broker's permissions do not allow it.
	ErrRefused = errors.New("refused by the broker")
	// ErrMismatch: it exists with other arguments.
	ErrMismatch = errors.New("declared with other arguments")
	// ErrInvalid: the message or name cannot travel (a header key over 255
	// bytes, invalid UTF-8 in a name); publishing it would close the connection.
	ErrInvalid = errors.New("cannot travel")
	// ErrClosed: the transport was closed.
	ErrClosed = errors.New("closed")
)

// Publishing is one message and where it goes.
type Publishing struct {
	Exchange string
	Key      string
	// Optional lets a message that no queue takes vanish (reports). Everything
	// else is mandatory, and ErrUnroutable when no queue takes it.
	Optional bool
	Message  wire.Message
}

// Publisher publishes persistent messages with confirms.
type Publisher interface {
	// Publish sends all of them at once and waits for every answer. The result
	// has one entry for each: nil when the broker confirmed it and, unless it is
	// Optional, a queue took it. Any number of goroutines may publish.
	Publish(ctx context.Context, msgs []Publishing) []error
}

// Delivery is one message handed out. Its methods may be called from any
// goroutine.
type Delivery interface {
	// Message is the message. It must not be changed.
	Message() wire.Message
	// Queue is the queue it came from.
	Queue() string
	// Redelivered says that it was handed out before.
	Redelivered() bool
	// Session grows with every new channel of its subscription.
	Session() uint64
	// Ack removes the message. nil means that the acknowledgement was sent, not
	// that the broker has it: a channel lost now redelivers it.
	Ack() error
	// Nack returns it to the queue, in its place. Like Ack it does not wait.
	Nack() error
}

// MinBuffer is what a subscription buffers even where its prefetch began small.
const MinBuffer = 256

// Subscription is one consumer on one queue that outlives connections.
type Subscription interface {
	// Deliveries is where messages arrive. It is buffered with the first prefetch,
	// and at least MinBuffer, so that batches form, and closed by Close alone.
	Deliveries() <-chan Delivery
	// Lost gives the number of each session that ended, so that what is in hand
	// from it, and from any with a lower number, can be given up. Should nobody
	// read, old numbers make room for new ones. It is closed by Close alone.
	Lost() <-chan uint64
	// Pause cancels the consumer and returns when no more deliveries will
	// arrive on the channel (what is buffered there is still to be taken). What
	// is in hand can still be acked. Pausing twice is fine.
	Pause(ctx context.Context) error
	// Resume consumes again, with a new prefetch (1 to 65,535). nil also when the
	// connection is down: the consumer comes back with it.
	Resume(ctx context.Context, prefetch int) error
	// Sync returns nil once the broker has handled every Ack made before the
	// call in the given session: a synchronous call on the same channel came
	// back. ErrStale when that session is over.
	Sync(ctx context.Context, session uint64) error
	// Close ends the consumer and gives back what was not acknowledged.
	Close(ctx context.Context) error
}

// Consumer opens subscriptions.
type Consumer interface {
	// Subscribe returns once the consumer runs for the first time, or with
	// ErrNoQueue, or with ErrUnreachable when ctx ends before. Many
	// subscriptions share a channel.
	Subscribe(ctx context.Context, queue string, prefetch int) (Subscription, error)
}

// Queue describes a durable quorum queue. Every queue gets the explicit delivery
// limit wire.DeliveryLimit.
type Queue struct {
	Name string
	// DeadLetterExchange takes what expires or hits the delivery limit, at least
	// once (x-dead-letter-strategy, with x-overflow reject-publish, without which
	// the broker silently falls back and loses). Routing keys are kept.
	DeadLetterExchange string
	TTL                time.Duration // of each message; 0: none
}

// ExchangeKind is direct, fanout or topic.
type ExchangeKind string

// The kinds of exchanges.
const (
	Direct ExchangeKind = "direct"
	Fanout ExchangeKind = "fanout"
	Topic  ExchangeKind = "topic"
)

// Exchange describes a durable exchange.
type Exchange struct {
	Name      string
	Kind      ExchangeKind
	Alternate string // the alternate exchange; "" for none
}

// Binding binds a queue to an exchange.
type Binding struct {
	Queue    string
	Exchange string
	Key      string
}

// Topology is declared in the order exchanges, queues, bindings.
type Topology struct {
	Exchanges []Exchange
	Queues    []Queue
	Bindings  []Binding
}

// Standing is what is known of a queue at one moment. With no consumer, Ready is all
// there is. With one, there may be more in its hands, and nobody can tell how much.
type Standing struct {
	Exists    bool
	Ready     int
	Consumers int // those that were cancelled with something in hand too, and looks
}

// Declarer makes and unmakes topology.
type Declarer interface {
	// Declare is idempotent. ErrMismatch names what exists with other arguments.
	Declare(ctx context.Context, t Topology) error
	// HasExchange looks without declaring.
	HasExchange(ctx context.Context, name string) (bool, error)
	// Depth is the number of messages ready in the queue, and whether the queue
	// exists. Counts of hold queues can be wrong (a message handed to its dead
	// letter target is not counted).
	Depth(ctx context.Context, queue string) (ready int, exists bool, err error)
	// Standing is both numbers of a queue in one answer, so that nothing was taken
	// or given back between them.
	Standing(ctx context.Context, queue string) (Standing, error)
	// Consumers is the number of consumers of the queue. One that was cancelled may
	// count until its deliveries are settled.
	Consumers(ctx context.Context, queue string) (int, error)
	// DeleteQueue removes the queue and whatever is in it; a missing one is fine.
	DeleteQueue(ctx context.Context, queue string) error
	// DeleteExchange removes the exchange; a missing one is fine.
	DeleteExchange(ctx context.Context, name string) error
}

// Browser looks into a queue.
type Browser interface {
	// Browse takes up to max ready messages without acknowledging them, calls
	// see with each in order, and gives them all back to their places. It counts
	// as one delivery of each. see returns false to stop. (RabbitMQ keeps what was
	// ever returned ahead of the rest in the order of its last return: a look at
	// fewer messages than the look before puts those behind the others.)
	Browse(ctx context.Context, queue string, max int, see func(wire.Message) bool) error
}

// Health tells how a transport is doing.
type Health interface {
	// Ping returns nil when the broker answers.
	Ping(ctx context.Context) error
	// Blocked says whether the broker has blocked publishers (a memory or disk
	// alarm), and why.
	Blocked() (reason string, blocked bool)
}

// Transport is a connection to one broker, through whatever failures. Close ends
// its goroutines and connections; it is bounded and may be called twice.
type Transport interface {
	Publisher
	Consumer
	Declarer
	Unbinder
	Browser
	Health
	Close(ctx context.Context) error
}
