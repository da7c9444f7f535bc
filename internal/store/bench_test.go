package store_test

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/traction-go/traction/internal/store"
	"github.com/traction-go/traction/internal/testsvc"
	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/settle"
)

// BenchmarkFlight is the hot path on one lane: every call settles what the last
// one cleared, removes the landing marks before that and clears as many again.
func BenchmarkFlight(b *testing.B) {
	for _, n := range []int{1, 30, 60} {
		for _, slots := range []int{0, 1_000_000} {
			b.Run(fmt.Sprintf("per-call=%d/slots=%d", n, slots), func(b *testing.B) {
				s, err := store.Open(store.Config{URLs: []string{testsvc.SharedRedis(b)}, Namespace: wire.Namespace(testsvc.Namespace(b))})
				if err != nil {
					b.Fatal(err)
				}
				b.Cleanup(func() { _ = s.Close() })
				before := cpuOf(b, s)
				benchFlight(b, s, n, slots)
				b.ReportMetric((cpuOf(b, s)-before)*1e6/float64(b.N*n), "store-cpu-µs/flight")
			})
		}
	}
}

// cpuOf is the time that the store has computed, in seconds: beside other work on the
// machine it says more than the clock.
func cpuOf(b *testing.B, s *store.Store) (total float64) {
	info, err := store.Client(s).Info(context.Background(), "cpu").Result()
	if err != nil {
		b.Fatal(err)
	}
	for line := range strings.Lines(info) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		if name == "used_cpu_sys" || name == "used_cpu_user" {
			n, err := strconv.ParseFloat(value, 64)
			if err != nil {
				b.Fatal(err)
			}
			total += n
		}
	}
	return total
}

func benchFlight(b *testing.B, s *store.Store, n, slots int) {
	ctx := context.Background()
	l := newLane(b, s, "w1")
	l.bear(store.Slots{N: slots, Per: 1, Stamp: 1})
	l.beatEvery = 1000
	var reply store.FlightReply
	var marks, air []string
	next := 0
	for b.Loop() {
		l.keepBeating()
		c := l.with(store.FlightCall{Marks: marks})
		for _, f := range air {
			c.Settle = append(c.Settle, l.settled(reply, f, f, settle.Landed))
		}
		marks, air = air, nil
		for range n {
			next++
			f := fmt.Sprintf("0190b5d2-7c3e-7a51-9f0e-%012d", next)
			air = append(air, f)
			c.Clear = append(c.Clear, store.Request{Flight: f})
		}
		r, err := l.a.Flight(ctx, "contacts", c)
		if err != nil {
			b.Fatal(err)
		}
		for i := range r.Clearance {
			if r.Clearance[i].Answer != store.Cleared {
				b.Fatalf("clearance %d: %+v", i, r.Clearance[i])
			}
		}
		reply = r
	}
	b.ReportMetric(float64(b.N*n)/b.Elapsed().Seconds(), "flights/s")
}
