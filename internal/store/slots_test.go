package store_test

import (
	"context"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/traction-go/traction/internal/store"
)

// ledger is the ring's rule, said plainly: the times of the newest n slots taken.
type ledger struct {
	n     int
	per   int64
	taken []int64 // oldest first, n entries
}

func (l *ledger) fill(at int64) {
	l.taken = nil
	for range l.n {
		l.taken = append(l.taken, at)
	}
}

func (l *ledger) resize(n int) {
	for len(l.taken) < n {
		l.taken = append([]int64{0}, l.taken...)
	}
	l.taken, l.n = l.taken[len(l.taken)-n:], n
}

func (l *ledger) take(now int64, want int) int {
	if l.taken[l.n-1] > now {
		l.fill(now) // the clock was set back
	}
	got := 0
	for got < min(want, l.n) && now-l.taken[got] > l.per {
		got++
	}
	l.taken = l.taken[got:]
	for range got {
		l.taken = append(l.taken, now)
	}
	return got
}

func (l *ledger) used(now int64) (n int) {
	for _, t := range l.taken {
		if now-t <= l.per {
			n++
		}
	}
	return n
}

// The ring is exact through resizes, wrap-around, a lost ring and clocks set back.
func TestSlotRingIsExact(t *testing.T) {
	rounds := 5
	onBoard(t, store.Slots{}, func(b *board) {
		for seed := range uint64(rounds) {
			rng := rand.New(rand.NewPCG(seed, 7))
			l := &ledger{n: 1 + rng.IntN(9), per: int64(1000 + rng.IntN(3000))}
			b.forget(b.keys.Slots())
			b.at(1)
			stamp := b.now
			declare := func() {
				stamp++
				if _, _, mine, err := b.a.Declare(context.Background(), "", stamp, map[string]string{
					"slots_n": strconv.Itoa(l.n), "slots_per": strconv.FormatInt(l.per, 10)}); err != nil || !mine {
					b.t.Fatal(mine, err)
				}
			}
			declare()
			l.fill(0)
			missing := true // a missing ring is full as of when it is looked for
			for step := range 60 {
				switch r := rng.IntN(20); r {
				case 0:
					n := 1 + rng.IntN(12)
					l.resize(n)
					declare()
				case 1:
					b.forget(b.keys.Slots())
					missing = true
				case 2:
					b.now -= int64(rng.IntN(3000))
					b.d.setTime(b.now)
					b.beat()
				default:
					d := int64(rng.IntN(900))
					b.now += d
					b.d.setTime(b.now)
					b.beat()
				}
				k := 1 + rng.IntN(12)
				var ask []string
				for i := range k {
					ask = append(ask, "s"+strconv.Itoa(int(seed))+"-"+strconv.Itoa(step)+"-"+strconv.Itoa(i))
				}
				r := b.clear(ask...)
				got := 0
				for _, c := range r.Clearance {
					if c.Answer == store.Cleared {
						got++
					} else if wait := c.Until.UnixMilli() - b.now; wait <= 0 || wait > l.per+1 {
						b.t.Fatalf("seed %d step %d: told to wait %d ms", seed, step, wait)
					}
				}
				if missing {
					l.fill(b.now)
					missing = false
				}
				if w := l.take(b.now, k); got != w {
					b.t.Fatalf("seed %d step %d: %d of %d cleared, want %d; ledger %+v at %d", seed, step, got, k, w, l, b.now)
				}
				if used, err := b.a.SlotsUsed(context.Background()); err != nil || used != l.used(b.now) {
					b.t.Fatalf("seed %d step %d: %d used, want %d, %v", seed, step, used, l.used(b.now), err)
				}
				b.call(store.FlightCall{Returns: ask})
			}
		}
	})
}

// A refused flight is told the moment from which a slot is free.
func TestTheWaitForASlotIsExact(t *testing.T) {
	onBoard(t, store.Slots{N: 2, Per: 10 * time.Second, Stamp: 1}, func(b *board) {
		b.take(1)
		b.at(3000)
		b.take(1)
		b.at(1000)
		until := b.clear("x").Clearance[0].Until.UnixMilli()
		b.at(until - b.now - 1)
		want(b.t, b.clear("x"), store.Wait)
		b.at(1)
		want(b.t, b.clear("x", "y"), store.Cleared, store.Wait)
	})
}

// A ring that was lost is full: what was taken from it is not known.
func TestAMissingRingIsFullAsOfNow(t *testing.T) {
	onBoard(t, store.Slots{N: 2, Per: 10 * time.Second, Stamp: 1}, func(b *board) {
		b.forget(b.keys.Slots())
		want(b.t, b.clear("x"), store.Wait)
		b.at(10001)
		b.beat()
		want(b.t, b.clear("x", "y", "z"), store.Cleared, store.Cleared, store.Wait)
	})
}
