package wire_test

import (
	"testing"
	"time"

	"github.com/traction-go/traction/internal/wire"
)

// The state shown is the strictest that holds.
func TestShown(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	later, past := now.Add(time.Second), now
	for _, c := range []struct {
		s     wire.Status
		want  wire.State
		flies bool
	}{
		{wire.Status{}, wire.Unknown, false},
		{wire.Status{State: wire.Unknown, Paused: true}, wire.Unknown, false},
		{wire.Status{State: wire.Open}, wire.Open, true},
		{wire.Status{State: wire.Open, Delayed: true}, wire.Delayed, true},
		{wire.Status{State: wire.Open, Delayed: true, ThrottledUntil: later}, wire.Throttled, true},
		{wire.Status{State: wire.Open, ThrottledUntil: past}, wire.Open, true},
		{wire.Status{State: wire.Canary, Delayed: true, ThrottledUntil: later}, wire.Canary, true},
		{wire.Status{State: wire.Canary, Paused: true}, wire.Paused, false},
		{wire.Status{State: wire.Open, Paused: true, ThrottledUntil: later}, wire.Paused, false},
		{wire.Status{State: wire.Stopped, Paused: true, Delayed: true}, wire.Stopped, false},
		{wire.Status{State: wire.Birth, Paused: true}, wire.Birth, false},
		{wire.Status{State: wire.Removing, Paused: true}, wire.Removing, false},
	} {
		if got := c.s.Shown(now); got != c.want {
			t.Errorf("%+v is shown as %s, want %s", c.s, got, c.want)
		}
		if got := c.s.Flies(); got != c.flies {
			t.Errorf("%+v flies: %v", c.s, got)
		}
	}
}
