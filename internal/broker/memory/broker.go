package memory

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/traction-go/traction/internal/broker"
	"github.com/traction-go/traction/internal/wire"
)

// Broker is the shared state that transports dial. Its methods may be called
// from any goroutine.
type Broker struct {
	limit int
	wait  time.Duration // how long a call waits for a broker that is blocked

	mu        sync.Mutex
	exchanges map[string]*exchange
	queues    map[string]*queue
	subs      map[*subscription]struct{}
	down      bool
	blocked   string        // why, or ""
	unblocked chan struct{} // closed by Unblock; nil unless blocked
	hook      func(broker.Publishing) Fault
	seq       uint64 // places and sessions
}

// Option changes a Broker.
type Option func(*Broker)

// WithDeliveryLimit sets the delivery limit of every queue; the default is
// wire.DeliveryLimit.
func WithDeliveryLimit(n int) Option { return func(b *Broker) { b.limit = n } }

// WithWait sets how long a Publish waits while the broker is blocked; the
// default is 10 seconds.
func WithWait(d time.Duration) Option { return func(b *Broker) { b.wait = d } }

// NewBroker makes an empty broker.
func NewBroker(opts ...Option) *Broker {
	b := &Broker{
		limit:     wire.DeliveryLimit,
		wait:      10 * time.Second,
		exchanges: map[string]*exchange{},
		queues:    map[string]*queue{},
		subs:      map[*subscription]struct{}{},
	}
	for _, o := range opts {
		o(b)
	}
	return b
}

// Dial connects to the broker, as a process would.
func (b *Broker) Dial() broker.Transport {
	return &transport{b: b, subs: map[*subscription]struct{}{}, done: make(chan struct{})}
}

// Fault is what happens to one publishing.
type Fault int

// The faults a hook can choose from.
const (
	// NoFault publishes and confirms.
	NoFault Fault = iota
	// Refuse does not publish: ErrNotConfirmed, no copy.
	Refuse
	// LoseConfirm publishes and says ErrNotConfirmed: there is a copy.
	LoseConfirm
	// LoseConnection publishes, says ErrUnreachable and drops all connections.
	LoseConnection
)

// OnPublish has f asked before every publishing; nil ends it. f must not call
// the broker.
func (b *Broker) OnPublish(f func(broker.Publishing) Fault) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.hook = f
}

// Stop ends every session and makes the broker unreachable until Start.
func (b *Broker) Stop() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.down = true
	b.loseAll()
}

// Start makes the broker reachable again; subscriptions resume.
func (b *Broker) Start() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.down = false
	b.revive()
}

// DropConnections ends every session, as a quick restart does: what was handed
// out is redelivered under new sessions.
func (b *Broker) DropConnections() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.loseAll()
	if !b.down {
		b.revive()
	}
}

// Block makes publishers wait, as a memory alarm does, until Unblock.
func (b *Broker) Block(reason string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.unblocked == nil {
		b.unblocked = make(chan struct{})
	}
	b.blocked = reason
}

// Unblock ends Block.
func (b *Broker) Unblock() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.unblocked != nil {
		close(b.unblocked)
		b.unblocked = nil
	}
	b.blocked = ""
}

func (b *Broker) loseAll() {
	for s := range b.subs {
		s.lose()
	}
}

// revive gives every subscription that wants one a session.
func (b *Broker) revive() {
	for s := range b.subs {
		s.open()
	}
}

func (b *Broker) next() uint64 {
	b.seq++
	return b.seq
}

var errDown = errors.New("the memory broker is stopped; start it again")

func (b *Broker) reachable() error {
	if b.down {
		return fmt.Errorf("%w: %w", broker.ErrUnreachable, errDown)
	}
	return nil
}
