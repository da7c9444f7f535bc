//go:build unix

package e2e

import (
	"fmt"
	"testing"
	"time"

	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/governor"
)

// leased is how long a notification stays with a tower that took it and died, and
// some.
const leased = 90 * time.Second

func TestATowerKilledBeforeItHasToldLosesNoNotification(t *testing.T) {
	t.Parallel()
	s := newSite(t, "", "")
	s.vendor.saying(dead)
	s.token(deadToken)
	// Towers of their own, each with a hook of its own, so that it shows who tells:
	// they serve another airport, and every airport's outbox.
	other := `
  mail:acme:
    gates:
      welcome: {http: {url: "VENDOR/mail"}}
`
	dying := &hook{block: make(chan struct{})}
	dyingURL := serve(t, dying)
	t.Cleanup(func() { close(dying.block) })
	first := s.start(1, s.config("first.yaml", other, fmt.Sprintf(`notify: {webhook: "%s/hook"}`, dyingURL)))[0]
	s.start(1, s.config("worker.yaml", oneGate, "tower: false"))
	s.dispatch(contacts, "c", 0, 20)
	s.becomes(governor.Stopped)
	s.until("the first tower to be telling", func() bool { return dying.tried() == 1 })
	s.start(1, s.config("second.yaml", other))
	first.kill()
	if n := s.hook.tried(); n != 0 {
		t.Errorf("the second tower told %d times while the first was at it", n)
	}
	if !within(leased, func() bool { return len(s.hook.of(wire.GroundStop)) > 0 }) {
		t.Fatalf("waited %v for the second tower to tell it", leased)
	}
	told := s.hook.of(wire.GroundStop)
	if len(told) != 1 {
		t.Fatalf("told %+v, want the GROUND_STOP once", told)
	}
	dying.mu.Lock()
	same := dying.tries[told[0].Key]
	dying.mu.Unlock()
	if same != 1 {
		t.Errorf("the second tower tells it under the key %q, the first under %v", told[0].Key, dying.tries)
	}
	s.token(goodToken)
	s.reopen()
	s.vendor.lands(t, 20)
	s.close(true)
	s.hook.once(t, wire.GroundStop, 1)
}
