//go:build unix

package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/traction-go/traction/internal/testsvc"
	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/governor"
)

// keys lists what the store holds of the site.
func (s *site) keys(c *redis.Client) []string {
	s.t.Helper()
	list, err := c.Keys(s.t.Context(), s.ns+":*").Result()
	if err != nil {
		s.t.Fatal(err)
	}
	slices.Sort(list)
	return list
}

// TestAnyOneKeyMayBeEvicted takes each key away once, under load and in a stop:
// nothing is lost, nothing that was stopped flies, and what was open comes back.
func TestAnyOneKeyMayBeEvicted(t *testing.T) {
	t.Parallel()
	testsvc.Need(t)
	store := testsvc.Redis(t)
	s := newSite(t, "", store.URL())
	opt, err := redis.ParseURL(store.URL())
	if err != nil {
		t.Fatal(err)
	}
	c := redis.NewClient(opt)
	defer c.Close()
	s.vendor.saying(paced(5 * time.Millisecond))
	s.start(2, s.config("traction.yaml", strings.Replace(oneGate, "gates:", "slots: 1000/1s\n    gates:", 1)))
	s.dispatch(contacts, "c", 0, 20)
	s.vendor.lands(t, 20)
	gone := 0
	for i, key := range s.keys(c) {
		s.dispatch(contacts, fmt.Sprintf("k%02d-", i), 0, 40)
		if err := c.Del(t.Context(), key).Err(); err != nil {
			t.Fatal(err)
		}
		gone++
		s.vendor.lands(t, len(s.sent))
		s.until("an open airport without "+key, func() bool {
			a := s.look()
			return a.State == governor.OpenState && a.Runway == 0 && a.InAir == 0
		})
	}
	for _, n := range s.hook.of("") {
		if n.Type != wire.StateLost {
			t.Errorf("told of %+v", n)
		}
	}

	s.vendor.saying(func(call) answer { return answer{status: 401} })
	s.dispatch(contacts, "stopped", 0, 40)
	s.becomes(governor.Stopped)
	s.waits(40)
	before := s.vendor.count()
	k := wire.Namespace(s.ns).Keys(airport)
	for _, key := range []string{k.Airport(), k.Gate("contacts"), k.Tick(), k.Slots(), k.Flying(), k.Beats(), k.Replies(), k.Incidents(), k.Outbox()} {
		if err := c.Del(t.Context(), key).Err(); err != nil {
			t.Fatal(err)
		}
		// What is not known is never open.
		s.stays("no call without "+key, time.Second, func() bool {
			return s.look().State != governor.OpenState && s.vendor.count() == before
		})
		s.becomes(governor.Stopped)
	}
	s.vendor.saying(paced(time.Millisecond))
	s.reopen()
	s.until("all to land", func() bool { return len(s.vendor.landed()) == len(s.sent) })
	s.until("an empty runway", func() bool { a := s.look(); return a.Runway == 0 && a.InAir == 0 })
	// What was in the air when its note or its mark went may fly once more.
	s.close(false).twice(t, 8*gone)
}

// A failover to a replica that lagged: the store is back where it was before the stop.
func TestAStoreThatWentBackToBeforeAStop(t *testing.T) {
	t.Parallel()
	testsvc.Need(t)
	store := testsvc.Redis(t)
	s := newSite(t, "", store.URL())
	s.vendor.saying(dead)
	s.start(2, s.config("traction.yaml", oneGate))
	s.dispatch(contacts, "c", 0, 20)
	s.vendor.lands(t, 20)
	store.Save()
	s.token(deadToken)
	s.dispatch(contacts, "d", 0, 60)
	s.becomes(governor.Stopped)
	s.hook.tells(t, 1, wire.GroundStop)
	s.waits(60)
	before := s.vendor.count()
	store.Restart()
	s.stays("no call", restoreAfter, func() bool { return s.vendor.count() == before })
	s.becomes(governor.Stopped)
	s.token(goodToken)
	s.reopen()
	s.vendor.lands(t, 80)
	s.until("an empty runway", func() bool { a := s.look(); return a.State == governor.OpenState && a.Runway == 0 && a.InAir == 0 })
	s.close(true)
	s.hook.once(t, wire.GroundStop, 1)
}

// A store that comes back with nothing, under load: the fleet stands still, what was
// open comes back from what the workers remember, and all of the load lands.
func TestAStoreComesBackEmptyUnderLoad(t *testing.T) {
	t.Parallel()
	testsvc.Need(t)
	store := testsvc.Redis(t)
	s := newSite(t, "", store.URL())
	s.vendor.saying(paced(20 * time.Millisecond))
	s.start(3, s.config("traction.yaml", oneGate))
	s.dispatch(contacts, "c", 0, 300)
	s.vendor.lands(t, 50)
	store.Kill()
	s.until("the air to be clear", func() bool { return s.vendor.air() == 0 })
	s.dispatch(contacts, "c", 300, 600) // needs the broker alone
	store.Start()
	s.vendor.lands(t, 600)
	s.until("an empty runway", func() bool { a := s.look(); return a.State == governor.OpenState && a.Runway == 0 && a.InAir == 0 })
	s.close(false).twice(t, inTheAir)
	s.hook.once(t, wire.StateLost, 1)
	if n := len(s.hook.of("")); n != 1 {
		t.Errorf("told of %+v", s.hook.of(""))
	}
}
