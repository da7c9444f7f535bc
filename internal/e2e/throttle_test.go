//go:build unix

package e2e

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/traction-go/traction/internal/wire"
)

func TestMany429sAreOneThrottleOffBudget(t *testing.T) {
	t.Parallel()
	s := newSite(t, "", "")
	s.holds = []string{"200ms"}
	// Eight race into a 429 that asks for an hour; then four records are asked to
	// wait another three times each, more often than the budget of one hold.
	const ceiling = time.Second
	racing := make(chan struct{})
	var mu sync.Mutex
	seen := 0
	s.vendor.saying(func(c call) answer {
		mu.Lock()
		defer mu.Unlock()
		seen++
		switch {
		case seen <= 8:
			if seen == 8 {
				close(racing)
			}
			return answer{status: 429, header: map[string]string{"Retry-After": "3600"}, wait: racing}
		case c.business >= "c0" && c.business <= "c3" && len(c.business) == 2 && c.nth <= 4:
			return answer{status: 429}
		}
		return ok
	})
	file := s.config("traction.yaml", `
  crm:acme:
    slots: 100/300ms
    max_retry_after: 1s
    holds: {transient: [200ms], internal: [200ms]}
    gates:
      contacts: {workers: 4, timeout: 20s, http: {url: "VENDOR/contacts"}}
`)
	s.start(2, file)
	throttles := watchThrottle(s)
	s.dispatch(contacts, "c", 0, 30)
	s.vendor.lands(t, 30)
	list := throttles()
	var first []time.Time
	for _, c := range s.vendor.all() {
		if len(first) <= 8 {
			first = append(first, c.at)
		}
	}
	// The eight have one throttle: nothing came for the capped time, and then it did.
	if gap := first[8].Sub(first[7]); gap < ceiling*9/10 || gap > 20*time.Second {
		t.Errorf("the ninth call came %v after the eighth, want the ceiling of %v", gap, ceiling)
	}
	if len(list) == 0 || list[0] < ceiling-10*time.Millisecond || list[0] > ceiling {
		t.Errorf("throttles %v, want the first to be %v", list, ceiling)
	}
	// Four records of three 429s each can share windows, and not more than that.
	if len(list) > 1+12 {
		t.Errorf("%d throttles: %v", len(list), list)
	}
	for _, d := range list[1:] {
		if d > 300*time.Millisecond {
			t.Errorf("a throttle of %v without Retry-After, want one slot window", d)
		}
	}
	// Nothing took the ten-second hold of a flight that is another's.
	all := s.vendor.all()
	last := map[string]time.Time{}
	for _, c := range all {
		if was, ok := last[c.business]; ok && c.at.Sub(was) > 9500*time.Millisecond {
			t.Errorf("%s came back after %v, want a second of throttle or a slot window", c.business, c.at.Sub(was))
		}
		last[c.business] = c.at
	}
	if all := s.incidents(); len(all) != 0 {
		t.Errorf("incidents: %+v", all)
	}
	b := s.close(true)
	if len(b.landed) != 30 {
		t.Errorf("%d landed, want 30", len(b.landed))
	}
	for _, w := range s.workers {
		if strings.Contains(w.log.String(), "HOLD_BUDGET") {
			t.Error("a 429 used up the hold budget")
		}
	}
}

// watchThrottle looks for throttles, and gives the length of each one seen.
func watchThrottle(s *site) func() []time.Duration {
	s.t.Helper()
	opts, err := redis.ParseURL(s.redis)
	if err != nil {
		s.t.Fatal(err)
	}
	rdb := redis.NewClient(opts)
	key := wire.Namespace(s.ns).Keys(airport).Airport()
	var wg sync.WaitGroup
	var list []time.Duration
	stop := make(chan struct{})
	wg.Go(func() {
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		last := int64(0)
		for {
			var v struct {
				Since int64 `redis:"throttled_since"`
				Until int64 `redis:"throttled_until"`
			}
			if err := rdb.HMGet(s.t.Context(), key, "throttled_since", "throttled_until").Scan(&v); err == nil && v.Since != last {
				last = v.Since
				if v.Since > 0 {
					list = append(list, time.Duration(v.Until-v.Since)*time.Millisecond)
				}
			}
			select {
			case <-stop:
				return
			case <-tick.C:
			}
		}
	})
	return sync.OnceValue(func() []time.Duration {
		close(stop)
		wg.Wait()
		_ = rdb.Close()
		return list
	})
}

func TestTwoGatesShareTheSlotsAndNeitherStarves(t *testing.T) {
	t.Parallel()
	s := newSite(t, "", "")
	const deals = airport + "/deals"
	s.gates = append(s.gates, deals)
	const slots, window = 60, 400 * time.Millisecond
	file := s.config("traction.yaml", `
  crm:acme:
    slots: 60/400ms
    gates:
      contacts: {workers: 4, timeout: 20s, http: {url: "VENDOR/contacts"}}
      deals: {workers: 4, timeout: 20s, http: {url: "VENDOR/deals"}}
`)
	s.start(2, file)
	s.do("airport", "pause", airport, "--reason", "loading")
	s.dispatch(contacts, "c", 0, 300)
	s.dispatch(deals, "d", 0, 300)
	clock := watchSlots(s, slots, window)
	s.reopen()
	s.vendor.lands(t, 600)
	clock()
	// While both have a backlog each has its share.
	by := map[string]int{}
	for _, c := range s.vendor.all()[:400] {
		by[c.path]++
	}
	t.Logf("of the first 400 calls: %v", by)
	if by["/contacts"] < 120 || by["/deals"] < 120 {
		t.Errorf("of the first 400 calls %v, want 120 at least for each", by)
	}
	s.close(true)
}
