//go:build unix

package e2e

import (
	"strings"
	"testing"
	"time"

	"github.com/traction-go/traction/internal/testsvc"
	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/governor"
)

// paced answers after a moment, so that a load lasts long enough to break things
// under it. The wait is the vendor's own, not the test's.
func paced(d time.Duration) func(call) answer {
	return func(call) answer {
		later := make(chan struct{})
		time.AfterFunc(d, func() { close(later) })
		return answer{status: 200, wait: later}
	}
}

func TestWithoutTheStoreNothingIsCalled(t *testing.T) {
	t.Parallel()
	testsvc.Need(t)
	store := testsvc.Redis(t, "--appendonly", "yes", "--appendfsync", "always")
	s := newSite(t, "", store.URL())
	s.vendor.saying(paced(20 * time.Millisecond))
	ws := s.start(2, s.config("traction.yaml", oneGate))
	s.dispatch(contacts, "c", 0, 400)
	s.vendor.lands(t, 50)
	store.Kill()
	// What was cleared may take off within milliseconds; then nothing does.
	s.until("the air to be clear", func() bool { return s.vendor.air() == 0 })
	s.until("both workers to say so", func() bool {
		return strings.Contains(ws[0].log.String(), "the store does not answer") && strings.Contains(ws[1].log.String(), "the store does not answer")
	})
	before := s.vendor.count()
	s.dispatch(contacts, "d", 0, 20) // needs the broker alone
	s.stays("no call", 3*time.Second, func() bool { return s.vendor.count() == before })
	if _, errOut, code := s.ctl("", "status", "--timeout", "3s"); code != 5 || errOut == "" {
		t.Errorf("status without the store: exit %d, want 5\n%s", code, errOut)
	}
	store.Start()
	s.vendor.lands(t, 420)
	s.until("an empty runway", func() bool { a := s.look(); return a.Runway == 0 && a.InAir == 0 })
	if list := s.incidents(); len(list) != 0 {
		t.Errorf("incidents: %+v", list)
	}
	s.close(true)
}

func TestBrokerAndStoreComeBackAndNothingIsLost(t *testing.T) {
	t.Parallel()
	testsvc.Need(t)
	broker, store := testsvc.RabbitMQ(t), testsvc.Redis(t, "--appendonly", "yes", "--appendfsync", "always")
	s := newSite(t, broker.URL(), store.URL())
	// A broker killed soon after a queue was declared may not know it any more.
	s.declare()
	broker.Restart()
	s.vendor.saying(paced(20 * time.Millisecond))
	s.start(2, s.config("traction.yaml", oneGate))
	s.dispatch(contacts, "c", 0, 1000)
	s.vendor.lands(t, 100)
	broker.Kill()
	s.until("the air to be clear", func() bool { return s.vendor.air() == 0 })
	broker.Start()
	had := len(s.vendor.landed())
	s.vendor.lands(t, had+100)
	broker.Kill()
	store.Kill()
	s.until("the air to be clear", func() bool { return s.vendor.air() == 0 })
	store.Start()
	broker.Start()
	s.vendor.lands(t, 1000)
	s.until("an empty runway", func() bool { a := s.look(); return a.State == governor.OpenState && a.Runway == 0 && a.InAir == 0 })
	b := s.close(false)
	twice := 0
	for _, n := range b.landed {
		twice += n - 1
	}
	// A landing whose settlement or acknowledgement was cut off may fly once more;
	// that is what was in the air at the two cuts.
	if twice > 16 || len(b.landed) != 1000 {
		t.Errorf("%d landed, %d of them twice, want 1,000 and 16 at most", len(b.landed), twice)
	}
}

func TestWithoutATowerAStopHoldsAndTheSilenceIsLoud(t *testing.T) {
	t.Parallel()
	s := newSite(t, "", "")
	s.vendor.saying(dead)
	s.token(deadToken)
	w := s.start(1, s.config("traction.yaml", oneGate, "tower: false"))[0]
	s.dispatch(contacts, "c", 0, 50)
	s.becomes(governor.Stopped)
	s.waits(50)
	if n := s.vendor.count(); n < 1 || n > 4 {
		t.Errorf("%d calls, want 1 to 4", n)
	}
	s.until("the worker's warning", func() bool {
		for line := range strings.SplitSeq(w.log.String(), "\n") {
			if strings.Contains(line, "level=WARN") && strings.Contains(line, "no tower is alive") {
				return true
			}
		}
		return false
	})
	out := s.do("status")
	for _, want := range []string{"NO TOWER IS ALIVE", "NOT NOTIFIED", "STOPPED", "tractionctl airport reopen " + airport} {
		if !strings.Contains(out, want) {
			t.Errorf("status does not say %q:\n%s", want, out)
		}
	}
	if n := s.hook.tried(); n != 0 {
		t.Errorf("told %d times without a tower", n)
	}
	// A tower that comes later tells what was not told.
	s.start(1, s.config("tower.yaml", oneGate))
	s.hook.tells(t, 1, wire.GroundStop)
	s.token(goodToken)
	s.reopen()
	s.vendor.lands(t, 50)
	s.close(true)
	s.hook.once(t, wire.GroundStop, 1)
}
