package brokertest

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/traction-go/traction/internal/broker"
)

func testMany(e *env) {
	const queues, each = 20, 100
	var wg sync.WaitGroup
	for range queues {
		q := e.queue()
		e.fill(q, each)
		for range each {
			wg.Go(func() {
				s, err := e.tr.Subscribe(e.ctx, q, 1)
				if err != nil {
					e.Error(err)
					return
				}
				// Prefetch 1 and as many messages as subscriptions: each gets one.
				select {
				case <-s.Deliveries():
				case <-time.After(e.h.Patience):
					e.Error("a subscription got nothing")
				}
			})
		}
	}
	wg.Wait()
	if err := e.tr.Close(e.ctx); err != nil { // before the queues go
		e.Error(err)
	}
}

func testLost(e *env) {
	q := e.queue()
	e.fill(q, 5)
	s := e.subscribe(q, 3)
	paused := e.subscribe(q, 1)
	if err := paused.Pause(e.ctx); err != nil {
		e.Fatal(err)
	}
	ds := e.take(s, 2)
	e.h.Restart(e.T)
	if got := e.lost(s); got != ds[0].Session() {
		e.Errorf("lost session %d, want %d", got, ds[0].Session())
	}
	if got := e.lost(paused); got == 0 {
		e.Error("a paused subscription lost nothing")
	}
	for _, d := range ds {
		if err := d.Ack(); !errors.Is(err, broker.ErrStale) {
			e.Errorf("an old ack: %v", err)
		}
	}
	seen := map[string]bool{}
	for len(seen) < 5 {
		d := e.next(s)
		if d.Session() <= ds[0].Session() { // lay in the buffer
			if err := d.Ack(); !errors.Is(err, broker.ErrStale) {
				e.Errorf("an old ack: %v", err)
			}
			continue
		}
		if id := d.Message().ID; (id == "0" || id == "1") && !d.Redelivered() {
			e.Errorf("%s was handed out before", id)
		}
		seen[d.Message().ID] = true
		e.ack(d)
	}
	if err := paused.Resume(e.ctx, 1); err != nil {
		e.Fatal(err)
	}
	e.until("two consumers", func() bool { n, err := e.tr.Consumers(e.ctx, q); return err == nil && n == 2 })
	e.untilDepth(q, 0)
}

func testRestart(e *env) {
	q := e.queue()
	var mu sync.Mutex
	confirmed, consumed := map[string]bool{}, map[string]bool{}
	stop := make(chan struct{})
	var pubs, subs sync.WaitGroup
	for g := range 8 {
		pubs.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				batch := make([]broker.Publishing, 10)
				for k := range batch {
					batch[k] = text(fmt.Sprintf("%d/%d/%d", g, i, k), q)
				}
				errs := e.tr.Publish(e.ctx, batch)
				mu.Lock()
				for k, err := range errs {
					if err == nil {
						confirmed[batch[k].Message.ID] = true
					}
				}
				mu.Unlock()
				if errs[0] != nil {
					_ = e.tr.Ping(e.ctx) // waits for the connection; no busy loop
				}
			}
		})
	}
	s := e.subscribe(q, 200)
	subs.Go(func() {
		for d := range s.Deliveries() {
			if err := d.Ack(); err != nil {
				continue
			}
			// An ack may be lost with its channel, the message comes again then.
			mu.Lock()
			consumed[d.Message().ID] = true
			mu.Unlock()
		}
	})
	more := func(n int) func() bool {
		mu.Lock()
		from := len(confirmed)
		mu.Unlock()
		return func() bool { mu.Lock(); defer mu.Unlock(); return len(confirmed) >= from+n && len(consumed) >= n }
	}
	e.until("load", more(500))
	e.h.Restart(e.T)
	e.until("load after the restart", more(500))
	close(stop)
	pubs.Wait()
	e.until("everything confirmed to be consumed", func() bool {
		mu.Lock()
		defer mu.Unlock()
		for id := range confirmed {
			if !consumed[id] {
				return false
			}
		}
		return true
	})
	if err := s.Close(e.ctx); err != nil {
		e.Error(err)
	}
	subs.Wait()
	e.untilDepth(q, 0)
}
