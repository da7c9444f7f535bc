//go:build unix

package rabbit_test

import (
	"context"
	"testing"

	"github.com/traction-go/traction/internal/broker"
	"github.com/traction-go/traction/internal/broker/rabbit"
	"github.com/traction-go/traction/internal/testsvc"
	"github.com/traction-go/traction/internal/wire"
)

// BenchmarkTransport fills a queue in one Publish and empties it with single
// acknowledgements.
func BenchmarkTransport(b *testing.B) {
	proc := testsvc.RabbitMQ(b)
	tr := dial(b, rabbit.Config{URLs: []string{proc.URL()}})
	defer tr.Close(context.Background())
	q := testsvc.Namespace(b)
	if err := tr.Declare(b.Context(), broker.Topology{Queues: []broker.Queue{{Name: q}}}); err != nil {
		b.Fatal(err)
	}
	body := make([]byte, 500)
	b.Run("publish", func(b *testing.B) {
		msgs := make([]broker.Publishing, b.N)
		for i := range msgs {
			msgs[i] = broker.Publishing{Key: q, Message: wire.Message{ID: "id", Body: body}}
		}
		b.ResetTimer()
		for _, err := range tr.Publish(context.Background(), msgs) {
			if err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("consume", func(b *testing.B) {
		n, _, err := tr.Depth(context.Background(), q)
		if err != nil {
			b.Fatal(err)
		}
		if n < b.N {
			msgs := make([]broker.Publishing, b.N-n)
			for i := range msgs {
				msgs[i] = broker.Publishing{Key: q, Message: wire.Message{ID: "id", Body: body}}
			}
			tr.Publish(context.Background(), msgs)
		}
		s, err := tr.Subscribe(context.Background(), q, 200)
		if err != nil {
			b.Fatal(err)
		}
		defer s.Close(context.Background())
		b.ResetTimer()
		for range b.N {
			if err := (<-s.Deliveries()).Ack(); err != nil {
				b.Fatal(err)
			}
		}
		b.StopTimer()
	})
}
