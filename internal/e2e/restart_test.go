//go:build unix

package e2e

import (
	"testing"
	"time"

	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/governor"
)

func TestARollingRestartFliesNothingTwice(t *testing.T) {
	t.Parallel()
	s := newSite(t, "", "")
	s.vendor.saying(paced(10 * time.Millisecond))
	file := s.config("traction.yaml", `
  crm:acme:
    slots: 100/1s
    gates:
      contacts: {workers: 4, timeout: 20s, http: {url: "VENDOR/contacts"}}
`)
	ws := s.start(3, file)
	const each = 400
	for i, w := range ws {
		s.dispatch(contacts, "c", i*each, (i+1)*each)
		s.vendor.lands(t, i*each+50)
		w.term()
		if len(s.vendor.landed()) == (i+1)*each {
			t.Error("all had landed when the worker was told to stop: this showed nothing")
		}
		w.exits()
		s.start(1, file)
		s.vendor.lands(t, (i+1)*each)
	}
	s.until("an empty runway", func() bool { a := s.look(); return a.Runway == 0 && a.InAir == 0 })
	if list := s.incidents(); len(list) != 0 {
		t.Errorf("incidents: %+v", list)
	}
	b := s.close(true)
	if n := s.vendor.count(); n != 3*each || len(b.landed) != 3*each {
		t.Errorf("%d calls for %d flights", n, 3*each)
	}
	if n := len(s.hook.of("")); n != 0 {
		t.Errorf("told of a rolling restart: %+v", s.hook.of(""))
	}
}

func TestAKilledWorkersFlightsAreTakenOver(t *testing.T) {
	t.Parallel()
	s := newSite(t, "", "")
	s.vendor.saying(paced(20 * time.Millisecond))
	file := s.config("traction.yaml", oneGate)
	ws := s.start(3, file)
	s.dispatch(contacts, "c", 0, 900)
	s.vendor.lands(t, 100)
	ws[0].kill()
	s.vendor.lands(t, 300)
	ws[1].kill()
	s.start(2, file)
	s.vendor.lands(t, 900)
	// What the killed had in the air may have landed at the vendor; it flies again,
	// on its own, once they count as dead, and is settled once.
	// Each is refused by the workers that are not at it, for ten seconds at a time.
	if !within(2*long, func() bool { a := s.look(); return a.Landed == 900 && a.Runway == 0 && a.InAir == 0 }) {
		t.Errorf("waited %v for 900 settled landings: %+v", 2*long, s.look())
	}
	if a := s.look(); a.State != governor.OpenState || a.Parked != 0 {
		t.Errorf("the airport is %s with %d parked", a.State, a.Parked)
	}
	b := s.close(false)
	twice := 0
	for _, n := range b.landed {
		twice += n - 1
	}
	// What was in the air at a kill may have landed at the vendor already.
	if len(b.landed) != 900 || len(b.parked)+len(b.queued)+len(b.rejected) != 0 || twice > 8 {
		t.Errorf("%d landed, %d of them twice; want 900, and 8 twice at most", len(b.landed), twice)
	}
	if n := len(s.hook.of(wire.PoisonPill)); n != 0 {
		t.Errorf("bystanders were convicted: %+v", s.hook.of(wire.PoisonPill))
	}
}

func TestTwoNamespacesDoNotTouchEachOther(t *testing.T) {
	t.Parallel()
	ill, well := newSite(t, "", ""), newSite(t, "", "")
	ill.vendor.saying(dead)
	ill.token(deadToken)
	// The same airport and gate on the same broker and store.
	ill.start(2, ill.config("traction.yaml", oneGate))
	well.start(2, well.config("traction.yaml", oneGate))
	ill.dispatch(contacts, "ill", 0, 60)
	ill.becomes(governor.Stopped)
	well.dispatch(contacts, "well", 0, 60)
	well.vendor.lands(t, 60)
	ill.hook.tells(t, 1, wire.GroundStop)
	ill.waits(60)
	well.until("the other namespace's airport to be open, with 60 landed and 2 workers", func() bool {
		a := well.look()
		return a.State == governor.OpenState && a.Landed == 60 && a.Workers == 2
	})
	if list := well.incidents(); len(list) != 0 {
		t.Errorf("the other namespace has incidents: %+v", list)
	}
	well.do("airport", "pause", airport, "--reason", "an experiment")
	well.do("airport", "reopen", airport, "--wait=false")
	ill.waits(60)
	if a := ill.look(); a.State != governor.Stopped {
		t.Errorf("a reopen in the other namespace made it %s with %d waiting", a.State, a.Runway)
	}
	if n := len(well.hook.of(wire.GroundStop)); n != 0 {
		t.Errorf("the other namespace was told %d times of the stop", n)
	}
	b := ill.close(true)
	if len(b.queued) != 60 || len(b.landed) != 0 {
		t.Errorf("%d queued, %d landed; want 60 and none", len(b.queued), len(b.landed))
	}
	if b := well.close(true); len(b.landed) != 60 {
		t.Errorf("%d landed in the other namespace, want 60", len(b.landed))
	}
}
