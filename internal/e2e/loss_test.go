//go:build unix

package e2e

import (
	"testing"
	"time"

	"github.com/traction-go/traction/internal/testsvc"
	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/governor"
)

// restoreAfter is how long after a loss a tower may restore, with a margin: what
// has not come back by then does not.
const restoreAfter = 12 * time.Second

func TestAFlushDuringAStopKeepsItStopped(t *testing.T) {
	t.Parallel()
	testsvc.Need(t)
	store := testsvc.Redis(t)
	s := newSite(t, "", store.URL())
	s.vendor.saying(dead)
	s.token(deadToken)
	s.start(2, s.config("traction.yaml", oneGate))
	s.dispatch(contacts, "c", 0, 60)
	s.becomes(governor.Stopped)
	s.hook.tells(t, 1, wire.GroundStop)
	s.waits(60)
	before := s.vendor.count()
	store.FlushAll()
	s.hook.tells(t, 1, wire.StateLost)
	s.stays("stopped, without a call", restoreAfter, func() bool {
		return s.look().State == governor.Stopped && s.vendor.count() == before
	})
	s.token(goodToken)
	if r := s.reopen(); r.State != "OPEN" || r.Waiting != 60 {
		t.Errorf("the reopen says %+v", r)
	}
	s.vendor.lands(t, 60)
	s.close(true)
	s.hook.once(t, wire.StateLost, 1)
	s.hook.once(t, wire.GroundStop, 1)
}

func TestAFlushOfAnOpenFleetPausesItForAWhile(t *testing.T) {
	t.Parallel()
	testsvc.Need(t)
	store := testsvc.Redis(t)
	s := newSite(t, "", store.URL())
	s.start(2, s.config("traction.yaml", oneGate))
	s.dispatch(contacts, "c", 0, 100)
	s.vendor.lands(t, 100)
	store.FlushAll()
	s.becomes(governor.Stopped)
	before := s.vendor.count()
	s.dispatch(contacts, "d", 0, 100)
	// It comes back by itself, and then everything flies. Calls before it is open
	// again would show up here.
	s.until("the restore", func() bool {
		n := s.vendor.count()
		a := s.look()
		if a.State == governor.Stopped && n != before {
			t.Fatalf("%d calls while the state was lost", n-before)
		}
		return a.State == governor.OpenState
	})
	s.vendor.lands(t, 200)
	if open := s.incidents("--open"); len(open) != 0 {
		t.Errorf("open incidents after the restore: %+v", open)
	}
	s.close(true)
	s.hook.once(t, wire.StateLost, 1)
}

func TestAColdStartOnAnEmptyStoreWaitsForAHuman(t *testing.T) {
	t.Parallel()
	testsvc.Need(t)
	store := testsvc.Redis(t)
	s := newSite(t, "", store.URL())
	file := s.config("traction.yaml", oneGate)
	first := s.start(2, file)
	s.dispatch(contacts, "c", 0, 20)
	s.vendor.lands(t, 20)
	for _, w := range first {
		w.term()
		w.exits()
	}
	store.FlushAll()
	s.dispatch(contacts, "d", 0, 40)
	before := s.vendor.count()
	s.start(2, file)
	s.until("the loss to be noticed", func() bool { return s.look().Reason == "STATE_LOST" })
	s.hook.tells(t, 1, wire.StateLost)
	s.stays("stopped, without a call", restoreAfter, func() bool {
		return s.look().State == governor.Stopped && s.vendor.count() == before
	})
	if open := s.incidents("--open"); len(open) != 1 || open[0].Kind != "STATE_LOST" {
		t.Errorf("open incidents: %+v", open)
	}
	if r := s.reopen(); r.State != "OPEN" || r.Waiting != 40 {
		t.Errorf("the reopen says %+v", r)
	}
	s.vendor.lands(t, 60)
	s.close(true)
	s.hook.once(t, wire.StateLost, 1)
}
