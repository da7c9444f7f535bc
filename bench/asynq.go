package main

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/hibiken/asynq"
	"golang.org/x/sync/errgroup"
)

// asynqWorkers is more than the governed side's four: an asynq worker waits for the
// store after each task, so four of them would measure round trips alone.
const asynqWorkers = 64

// governedAgainstAsynq drains the same number of messages with a governed gate and
// with an asynq server on the same store.
func governedAgainstAsynq(ctx context.Context, b *bench) (float64, string, error) {
	return compare(ctx, b, governed, side{"asynq", drainAsynq})
}

func drainAsynq(ctx context.Context, b *bench) (float64, error) {
	n := b.amount(drained)
	conn, err := asynq.ParseRedisURI(b.redis)
	if err != nil {
		return 0, err
	}
	queue := namespace()
	if err := fillAsynq(ctx, conn, queue, n); err != nil {
		return 0, err
	}
	var done atomic.Int64
	all := make(chan struct{})
	srv := asynq.NewServer(conn, asynq.Config{Concurrency: asynqWorkers, Queues: map[string]int{queue: 1}, LogLevel: asynq.FatalLevel})
	begin := time.Now()
	if err := srv.Start(asynq.HandlerFunc(func(context.Context, *asynq.Task) error {
		if done.Add(1) == int64(n) {
			close(all)
		}
		return nil
	})); err != nil {
		return 0, err
	}
	defer srv.Shutdown()
	select {
	case <-ctx.Done():
		return 0, ctx.Err()
	case <-all:
	}
	return float64(n) / time.Since(begin).Seconds(), nil
}

// fillAsynq enqueues, which asynq does one by one, from a few goroutines.
func fillAsynq(ctx context.Context, conn asynq.RedisConnOpt, queue string, n int) error {
	client := asynq.NewClient(conn)
	defer client.Close()
	body := make([]byte, payload)
	var next atomic.Int64
	g, ctx := errgroup.WithContext(ctx)
	for range 16 {
		g.Go(func() error {
			for next.Add(1) <= int64(n) {
				if _, err := client.EnqueueContext(ctx, asynq.NewTask("contact", body), asynq.Queue(queue)); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return g.Wait()
}
