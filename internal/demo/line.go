package demo

import (
	"context"
	"errors"

	"github.com/traction-go/traction/internal/wire"
)

// retryLimit is the plain consumer's: how often a message is redelivered before it
// is dead-lettered. So each is delivered four times in all.
const retryLimit = 3

// line is what the plain consumer works on: one queue with a retry limit and a
// dead-letter queue behind it.
type line interface {
	// Send puts messages on the queue, confirmed.
	Send(ctx context.Context, bodies [][]byte) error
	// Consume gives each message to handle, on so many goroutines; nil acknowledges
	// it, an error returns it to the queue. It ends when ctx does.
	Consume(ctx context.Context, workers int, handle func(context.Context, []byte) error) error
	// Depths counts what is ready on the queue and on the dead-letter queue.
	Depths(ctx context.Context) (waiting, dead int, err error)
	// Remove deletes both queues.
	Remove(ctx context.Context) error
}

func (f *field) plainQueue() string { return string(f.ns) + ".plain" }
func (f *field) deadQueue() string  { return string(f.ns) + ".plain.dead" }

// line declares the plain consumer's queues.
func (f *field) line(ctx context.Context) (line, error) {
	if f.Embedded() {
		return newMemoryLine(ctx, f.plainQueue(), f.deadQueue())
	}
	return dialRabbitLine(ctx, f.AMQP, f.plainQueue(), f.deadQueue())
}

// consume declares the plain consumer's queues and starts it on them. end stops it
// and deletes them.
func (st *stage) consume(ctx context.Context, handle func(context.Context, []byte) error) (l line, end func() error, err error) {
	if l, err = st.field.line(ctx); err != nil {
		return nil, nil, err
	}
	working, stop := context.WithCancel(ctx)
	consumed := make(chan error, 1)
	go func() { consumed <- l.Consume(working, processes*workers, handle) }()
	return l, func() error {
		stop()
		err := <-consumed
		bound, cancel := context.WithTimeout(context.WithoutCancel(ctx), closing)
		defer cancel()
		return errors.Join(err, l.Remove(bound))
	}, nil
}

// sink is where a plain consumer logs.
func (st *stage) sink() *errorLog {
	l := &errorLog{}
	if st.Verbose {
		l.show = st.Narrator
	}
	return l
}

// deadLimit keeps a person's looks from counting against what is dead-lettered.
const deadLimit = wire.DeliveryLimit
