package demo

import (
	"context"
	"errors"
	"sync"

	"github.com/traction-go/traction/internal/broker"
	"github.com/traction-go/traction/internal/broker/memory"
	"github.com/traction-go/traction/internal/wire"
)

// memoryLine is the plain consumer's line on a memory broker of its own, since the
// limit there is the broker's.
type memoryLine struct {
	bk          broker.Transport
	queue, dead string
}

func newMemoryLine(ctx context.Context, queue, dead string) (line, error) {
	l := &memoryLine{memory.NewBroker(memory.WithDeliveryLimit(retryLimit)).Dial(), queue, dead}
	err := l.bk.Declare(ctx, broker.Topology{
		Exchanges: []broker.Exchange{{Name: queue, Kind: broker.Fanout}, {Name: dead, Kind: broker.Fanout}},
		Queues:    []broker.Queue{{Name: queue, DeadLetterExchange: dead}, {Name: dead}},
		Bindings:  []broker.Binding{{Queue: queue, Exchange: queue}, {Queue: dead, Exchange: dead}},
	})
	if err != nil {
		return nil, errors.Join(err, l.bk.Close(ctx))
	}
	return l, nil
}

func (l *memoryLine) Send(ctx context.Context, bodies [][]byte) error {
	msgs := make([]broker.Publishing, len(bodies))
	for i, b := range bodies {
		msgs[i] = broker.Publishing{Exchange: l.queue, Message: wire.Message{ContentType: "application/json", Body: b}}
	}
	return errors.Join(l.bk.Publish(ctx, msgs)...)
}

func (l *memoryLine) Consume(ctx context.Context, workers int, handle func(context.Context, []byte) error) error {
	sub, err := l.bk.Subscribe(ctx, l.queue, workers)
	if err != nil {
		return err
	}
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for {
				select {
				case <-ctx.Done():
					return
				case d := <-sub.Deliveries():
					// A settlement that fails is a message delivered again: at
					// least once, as ever.
					if handle(ctx, d.Message().Body) == nil {
						_ = d.Ack()
					} else {
						_ = d.Nack()
					}
				}
			}
		})
	}
	wg.Wait()
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), closing)
	defer cancel()
	return sub.Close(end)
}

func (l *memoryLine) Depths(ctx context.Context) (waiting, dead int, err error) {
	waiting, _, err = l.bk.Depth(ctx, l.queue)
	if err != nil {
		return 0, 0, err
	}
	dead, _, err = l.bk.Depth(ctx, l.dead)
	return waiting, dead, err
}

func (l *memoryLine) Remove(ctx context.Context) error {
	return errors.Join(l.bk.DeleteQueue(ctx, l.queue), l.bk.DeleteQueue(ctx, l.dead), l.bk.Close(ctx))
}
