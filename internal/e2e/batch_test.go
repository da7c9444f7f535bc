//go:build unix

package e2e

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/governor"
)

const batches = `
  crm:acme:
    gates:
      contacts: {workers: 2, timeout: 20s, batch: {size: 25, linger: 300ms}, http: {url: "VENDOR/batch"}}
`

// largest is the largest batch that the vendor was sent.
func (v *vendor) largest() (n int) {
	for _, c := range v.all() {
		n = max(n, len(c.ids()))
	}
	return n
}

func TestOneBadRecordOfABatchIsRejectedAndNamed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		say  func(call) answer
	}{
		{"the whole call is refused", func(c call) answer {
			if slices.Contains(c.ids(), "c13") {
				return answer{status: 422, body: `{"error":"c13 has no email"}`}
			}
			return ok
		}},
		{"the answer names it", func(c call) answer {
			a := answer{status: 207, items: []int{}}
			for _, id := range c.ids() {
				if id == "c13" {
					a.items = append(a.items, 422)
				} else {
					a.items = append(a.items, 200)
				}
			}
			return a
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, "", "")
			s.declare()
			s.dispatch(contacts, "c", 0, 25)
			s.vendor.saying(c.say)
			s.start(1, s.config("traction.yaml", batches))
			s.vendor.lands(t, 24)
			s.until("the bad record rejected", func() bool { a := s.look(); return a.Rejected == 1 && a.Runway == 0 && a.InAir == 0 })
			out := s.do("rejected", "list", contacts)
			b := s.close(true)
			if len(b.landed) != 24 || b.rejected["c13"] != 1 || s.vendor.largest() < 2 {
				t.Errorf("%d landed, rejected %v, batches of up to %d; want 24, c13, a batch", len(b.landed), b.rejected, s.vendor.largest())
			}
			if !strings.Contains(out, "c13") || !strings.Contains(out, "422") {
				t.Errorf("the list does not name it:\n%s", out)
			}
		})
	}
}

// A worker killed in the middle of a batch: all of it flies again under the keys it
// had, and what had landed is not flown twice.
func TestAKillInTheMiddleOfABatch(t *testing.T) {
	t.Parallel()
	s := newSite(t, "", "")
	s.declare()
	file := s.config("traction.yaml", batches)
	held := make(chan struct{})
	s.vendor.saying(func(c call) answer { return answer{status: 503, wait: held} })
	s.dispatch(contacts, "c", 0, 25)
	w := s.start(1, file)[0]
	s.until("the batch in the air", func() bool { return s.vendor.air() > 0 })
	w.kill()
	s.vendor.saying(func(call) answer { return ok })
	close(held)
	s.start(1, file)
	s.vendor.lands(t, 25)
	s.until("an empty runway", func() bool { a := s.look(); return a.Runway == 0 && a.InAir == 0 && a.Holding == 0 })
	if list := s.incidents(); slices.ContainsFunc(list, func(i incident) bool { return i.Kind == wire.PoisonPill }) {
		t.Errorf("somebody was convicted: %+v", list)
	}
	b := s.close(false)
	if len(b.landed) != 25 || len(b.parked) != 0 {
		t.Errorf("%d landed, %d parked; want 25 and none", len(b.landed), len(b.parked))
	}
	for id, n := range b.landed {
		if n != 1 {
			t.Errorf("%s landed %d times", id, n)
		}
	}
}

// Batching is switched off and on, and a gate scaled, by command under load.
func TestBatchesAreScaledByCommand(t *testing.T) {
	t.Parallel()
	s := newSite(t, "", "")
	s.vendor.saying(paced(20 * time.Millisecond))
	s.start(2, s.config("traction.yaml", batches))
	s.dispatch(contacts, "c", 0, 3000)
	s.until("a batch", func() bool { return s.vendor.largest() == 25 })
	s.do("gate", "scale", contacts, "--batch", "1")
	s.until("calls of one", func() bool {
		all := s.vendor.all()
		last := all[max(0, len(all)-20):]
		return !slices.ContainsFunc(last, func(c call) bool { return len(c.ids()) > 1 })
	})
	s.do("gate", "scale", contacts, "--workers", "0")
	s.until("the air to be clear", func() bool { return s.vendor.air() == 0 })
	had := s.vendor.count()
	s.stays("no call", time.Second, func() bool { return s.vendor.count() == had })
	if a := s.look(); len(a.Gates) != 1 || a.Gates[0].WorkersActual != 0 || a.Gates[0].State != governor.OpenState {
		t.Errorf("scaled to nothing: %+v", a.Gates)
	}
	s.do("gate", "scale", contacts, "--reset")
	s.vendor.lands(t, 3000)
	s.until("an empty runway", func() bool { a := s.look(); return a.Runway == 0 && a.InAir == 0 })
	if b := s.close(true); len(b.landed) != 3000 {
		t.Errorf("%d landed", len(b.landed))
	}
}
