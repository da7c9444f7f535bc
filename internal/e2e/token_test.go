//go:build unix

package e2e

import (
	"encoding/binary"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/governor"
)

// inHand is what one worker may have taken and be giving back, the most that it takes
// where there are slots: its beats tell of it, so for a moment it counts neither as
// waiting nor as in hand.
const inHand = 600

func TestADeadTokenCostsTwelveCallsAndOneCommand(t *testing.T) {
	t.Parallel()
	s := newSite(t, "", "")
	s.vendor.saying(dead)
	s.token(deadToken)
	const slots, window = 250, time.Second
	file := s.config("traction.yaml", `
  crm:acme:
    slots: 250/1s
    gates:
      contacts: {workers: 4, timeout: 20s, http: {url: "VENDOR/contacts", TOKEN}}
`)
	s.start(3, file)
	s.dispatch(contacts, "c", 0, 1000)
	s.becomes(governor.Stopped)
	s.hook.tells(t, 1, wire.GroundStop)
	s.waits(1000)
	before := s.vendor.count()
	if before < 1 || before > 12 {
		t.Errorf("%d calls into a dead credential, want 1 to 12", before)
	}
	open := s.incidents("--open")
	if len(open) != 1 || open[0].Kind != "GROUND_STOP" || open[0].Scope != airport || !strings.Contains(open[0].Evidence, "token expired") ||
		len(open[0].Records) == 0 || len(open[0].Workers) == 0 || open[0].NotifiedAt == "" {
		t.Errorf("open incidents: %+v", open)
	}

	// A worker that starts into a stop calls nothing.
	s.start(1, file)
	s.until("the fourth worker to beat", func() bool { return s.look().Workers == 4 })
	s.waits(1000)
	if n := s.vendor.count(); n != before {
		t.Errorf("%d calls during the stop", n-before)
	}

	s.token(goodToken)
	clock := watchSlots(s, slots, window)
	if r := s.reopen(); !r.Changed || r.Was != "STOPPED" || r.State != "OPEN" || r.Waiting < 1000-inHand || r.Waiting > 1000 || r.Parked != 0 {
		t.Errorf("the reopen says %+v", r)
	}
	s.vendor.lands(t, 1000)
	clock()
	var at []time.Time
	for _, c := range s.vendor.all()[before:] {
		at = append(at, c.at)
	}
	if len(at) != 1000 {
		t.Errorf("%d calls for 1,000 flights after the reopen", len(at))
	}
	// The vendor sees the clearances with the jitter of this machine: two windows'
	// worth of calls never come within one.
	if d := apart(at, 2*slots); d < window {
		t.Errorf("%d calls reached the vendor within %v, with %d slots in %v", 2*slots, d, slots, window)
	}
	if d := at[len(at)-1].Sub(at[0]); d < 3*window*9/10 {
		t.Errorf("1,000 flights in %v, with %d slots in %v", d, slots, window)
	}
	s.until("an empty runway", func() bool { a := s.look(); return a.Runway == 0 && a.InAir == 0 })
	if list := s.incidents(); len(list) != 1 || list[0].State != "closed" || list[0].ClosedBy != "dana" {
		t.Errorf("incidents: %+v", list)
	}
	s.close(true)
	s.hook.once(t, wire.GroundStop, 1)
}

// watchSlots reads the ring of slots over and over until the returned function is
// called: no slot may be taken again before the window has passed, by the store's
// own clock.
func watchSlots(s *site, n int, window time.Duration) func() {
	s.t.Helper()
	opts, err := redis.ParseURL(s.redis)
	if err != nil {
		s.t.Fatal(err)
	}
	rdb := redis.NewClient(opts)
	key := wire.Namespace(s.ns).Keys(airport).Slots()
	var wg sync.WaitGroup
	stop := make(chan struct{})
	looks, taken, worst := 0, 0, time.Duration(1<<63-1)
	wg.Go(func() {
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		var had []byte
		for {
			ring, err := rdb.Get(s.t.Context(), key).Bytes()
			if err == nil && len(ring) == 16+8*n {
				looks++
				for i := 16; had != nil && i < len(ring); i += 8 {
					was, is := binary.BigEndian.Uint64(had[i:]), binary.BigEndian.Uint64(ring[i:])
					if is != was {
						taken++
						worst = min(worst, time.Duration(is-was)*time.Millisecond)
					}
				}
				had = ring
			}
			select {
			case <-stop:
				return
			case <-tick.C:
			}
		}
	})
	return sync.OnceFunc(func() {
		s.t.Helper()
		close(stop)
		wg.Wait()
		_ = rdb.Close()
		s.t.Logf("slots: %d looks saw %d taken, none sooner than %v after it was taken before", looks, taken, worst)
		if taken < n || worst <= window {
			s.t.Errorf("slots: of %d taken one was taken again after %v, want more than %v", taken, worst, window)
		}
	})
}

// barrier answers 401 to the first n calls, all at once when the n-th is there;
// later calls are fine. The last of them waits for late, if that is not nil.
func barrier(n int, late <-chan struct{}) func(call) answer {
	var mu sync.Mutex
	seen, all := 0, make(chan struct{})
	return func(call) answer {
		mu.Lock()
		defer mu.Unlock()
		seen++
		a := answer{status: 401, body: "token expired", wait: all}
		switch {
		case seen == n && late != nil:
			close(all)
			a.wait = late
		case seen == n:
			close(all)
		case seen > n:
			return ok
		}
		return a
	}
}

func TestRacing401sAreOneStopAndALateOneIsNone(t *testing.T) {
	t.Parallel()
	s := newSite(t, "", "")
	late := make(chan struct{})
	release := sync.OnceFunc(func() { close(late) })
	t.Cleanup(release)
	s.vendor.saying(barrier(11, late))
	s.holds = []string{"200ms"}
	file := s.config("traction.yaml", `
  crm:acme:
    holds: {transient: [200ms]}
    gates:
      contacts: {workers: 6, timeout: 60s, http: {url: "VENDOR/contacts"}}
`)
	s.start(2, file)
	s.dispatch(contacts, "c", 0, 40)
	s.becomes(governor.Stopped)
	s.hook.tells(t, 1, wire.GroundStop)
	// Ten have raced; at most one more had been in the air and was let in.
	s.until("the late call alone in the air", func() bool { return s.vendor.air() == 1 })
	s.until("all others back", func() bool { a := s.look(); return a.Runway+len(s.vendor.landed()) == 39 })
	if n := s.vendor.count(); n > 12 {
		t.Errorf("%d calls, want 12 at most", n)
	}
	if list := s.incidents(); len(list) != 1 || list[0].State != "open" {
		t.Errorf("incidents after ten racing faults: %+v", list)
	}
	s.reopen()
	s.vendor.lands(t, 39)
	release()
	s.vendor.lands(t, 40)
	if a := s.look(); a.State != governor.OpenState {
		t.Errorf("the late 401 made it %s %s", a.State, a.Reason)
	}
	if list := s.incidents(); len(list) != 1 || list[0].State != "closed" {
		t.Errorf("incidents at the end: %+v", list)
	}
	b := s.close(true)
	if len(b.landed) != 40 {
		t.Errorf("%d landed, want 40", len(b.landed))
	}
	s.hook.once(t, wire.GroundStop, 1)
}

func TestFiftyStopsAndReopensLoseNothing(t *testing.T) {
	t.Parallel()
	s := newSite(t, "", "")
	s.vendor.saying(dead)
	s.token(deadToken)
	s.start(2, s.config("traction.yaml", oneGate))
	s.dispatch(contacts, "c", 0, 300)
	for range 50 {
		s.becomes(governor.Stopped)
		if _, err := s.gov.Reopen(t.Context(), airport, governor.ReopenOptions{Actor: "dana"}); err != nil {
			t.Fatal(err)
		}
	}
	s.becomes(governor.Stopped)
	s.token(goodToken)
	if r := s.reopen(); !r.Changed || r.State != "OPEN" {
		t.Errorf("the reopen says %+v", r)
	}
	s.vendor.lands(t, 300)
	s.until("an empty runway", func() bool { a := s.look(); return a.Runway == 0 && a.InAir == 0 })
	s.hook.tells(t, 51, wire.GroundStop)
	// Each stop costs what was in the air.
	if n := s.vendor.count(); n > 300+51*8 {
		t.Errorf("%d calls in 51 stops and 300 landings", n)
	}
	s.close(true)
	s.hook.once(t, wire.GroundStop, 51)
}
