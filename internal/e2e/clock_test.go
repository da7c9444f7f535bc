//go:build unix

package e2e

import (
	"fmt"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"

	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/governor"
)

// TestWorkersWhoseClockIsOff runs fleets whose clocks are half a minute before or after
// the store's: all time that decides anything is the store's, so a hold, a window of
// slots, a stop and its reopen are as long as they are.
func TestWorkersWhoseClockIsOff(t *testing.T) {
	t.Parallel()
	for _, off := range []time.Duration{-30 * time.Second, 30 * time.Second} {
		t.Run(off.String(), func(t *testing.T) {
			t.Parallel()
			m := skewed(t, off)
			s := newSite(t, "", "redis://"+m.Addr()+"/0")
			s.holds = []string{"2s"}
			s.vendor.saying(func(c call) answer {
				if c.business == "held0" && c.nth == 1 {
					return answer{status: 503}
				}
				return dead(c)
			})
			const slots = 40
			s.start(2, s.config("traction.yaml", fmt.Sprintf(`
  crm:acme:
    slots: %d/1s
    holds: {transient: [2s]}
    gates:
      contacts: {workers: 4, timeout: 20s, http: {url: "VENDOR/contacts", TOKEN}}
`, slots)))
			s.dispatch(contacts, "held", 0, 1)
			s.dispatch(contacts, "c", 0, 200)
			s.vendor.lands(t, 201)
			var held []time.Time
			for _, c := range s.vendor.all() {
				if c.business == "held0" {
					held = append(held, c.at)
				}
			}
			if len(held) != 2 || held[1].Sub(held[0]) < 1900*time.Millisecond {
				t.Errorf("a hold of 2s: the calls are at %v", held)
			}
			s.token(deadToken)
			s.dispatch(contacts, "d", 0, 50)
			s.becomes(governor.Stopped)
			s.hook.tells(t, 1, wire.GroundStop)
			s.waits(50)
			before := s.vendor.count()
			s.token(goodToken)
			s.reopen()
			s.vendor.lands(t, 251)
			s.until("an empty runway", func() bool { a := s.look(); return a.State == governor.OpenState && a.Runway == 0 && a.InAir == 0 })
			if n := before - 201 - 1; n > 8 {
				t.Errorf("%d calls into a dead credential, want 8 at most", n)
			}
			s.close(true)
			s.hook.once(t, wire.GroundStop, 1)
			for _, n := range s.hook.of("") {
				if n.Type != wire.GroundStop {
					t.Errorf("told of %+v", n)
				}
			}
		})
	}
}

// skewed is a store whose clock is off ours and goes as fast.
func skewed(t *testing.T, off time.Duration) *miniredis.Miniredis {
	m := miniredis.RunT(t)
	m.SetTime(time.Now().Add(off))
	stop, stopped := make(chan struct{}), make(chan struct{})
	t.Cleanup(func() { close(stop); <-stopped })
	go func() {
		defer close(stopped)
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-stop:
				return
			case <-tick.C:
				m.SetTime(time.Now().Add(off))
			}
		}
	}()
	return m
}
