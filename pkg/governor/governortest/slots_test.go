package governortest_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/traction-go/traction/pkg/governor"
	"github.com/traction-go/traction/pkg/governor/governortest"
)

// In no window of the declared length are there more calls than slots, and with a
// backlog nearly all are used, whatever the number of processes.
func TestSlotsAreExactAndUsed(t *testing.T) {
	const n, per, secs = 20, time.Second, 30
	v := &vendor{}
	a := crm(v)
	a.Slots = governor.Slots{N: n, Per: per}
	field := governortest.New(t, a)
	field.Start(a)
	field.Start(a)
	field.DispatchAll("crm:acme/contacts", backlog(0, n*(secs+20))...)
	field.Advance(secs*time.Second - 500*time.Millisecond) // the first window opened at once

	at := slices.Clone(v.at)
	slices.SortFunc(at, time.Time.Compare)
	checkWindows(t, at, n, per)
	if got, want := len(at), n*secs*98/100; got < want {
		t.Errorf("%d calls in %d s with a backlog, want at least %d of %d", got, secs, want, n*secs)
	}
}

func checkWindows(t *testing.T, at []time.Time, n int, per time.Duration) {
	t.Helper()
	for i := n; i < len(at); i++ {
		if d := at[i].Sub(at[i-n]); d < per {
			t.Fatalf("%d calls within %s, the last at %s: more than %d slots per %s", n+1, d, at[i].Format("05.000"), n, per)
		}
	}
}

func TestSiblingsShareTheSlots(t *testing.T) {
	v := &vendor{}
	calls := map[string]int{}
	v.fly = func(_ context.Context, f governor.Flight[[]byte]) error {
		v.mu.Lock()
		defer v.mu.Unlock()
		calls[f.Scope]++
		return nil
	}
	a := crm(v, "contacts", "companies")
	a.Slots = governor.Slots{N: 20, Per: time.Second}
	a.Gates[0].Workers, a.Gates[1].Workers = 50, 2 // one could take every window whole
	field := governortest.New(t, a)
	field.DispatchAll("crm:acme/contacts", backlog(0, 2000)...)
	field.DispatchAll("crm:acme/companies", backlog(0, 2000)...)
	field.Advance(30 * time.Second)
	all := calls["crm:acme/contacts"] + calls["crm:acme/companies"]
	if all < 580 || all > 620 {
		t.Errorf("%d calls in 30 s, want about 600", all)
	}
	for gate, n := range calls {
		if n < all/5 {
			t.Errorf("%s made %d of %d calls: it starves", gate, n, all)
		}
	}
	checkWindows(t, v.at, 20, time.Second)
}

func TestRateLimitThrottlesTheWholeAirport(t *testing.T) {
	for name, c := range map[string]struct{ asked, want time.Duration }{
		"Retry-After":         {20 * time.Second, 20 * time.Second},
		"a long Retry-After":  {5 * time.Minute, 5 * time.Minute},
		"beyond the cap":      {3 * time.Hour, 15 * time.Minute},
		"none, without slots": {0, 30 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			limited := true
			v := &vendor{fly: func(context.Context, governor.Flight[[]byte]) error {
				if limited {
					limited = false
					return &governor.StatusError{Code: 429, After: c.asked}
				}
				return nil
			}}
			a := crm(v, "contacts", "companies")
			field := governortest.New(t, a)
			field.Dispatch("crm:acme/contacts", contact{"1"})
			began := v.at[0]
			field.Dispatch("crm:acme/companies", contact{"2"})
			if s := field.Airport("crm:acme").State; s != governor.Throttled || v.calls != 1 {
				t.Fatalf("%s after %d calls; want THROTTLED after one", s, v.calls)
			}
			field.Settle()
			if a := field.Airport("crm:acme"); a.Landed != 2 || a.Waiting != 0 || a.Parked != 0 || a.State != governor.OpenState {
				t.Fatalf("%+v, want both landed", a)
			}
			if d := v.at[1].Sub(began); d < c.want || d > c.want+3*time.Second {
				t.Errorf("the next call came after %s, want %s", d, c.want)
			}
			for _, s := range field.Settled() {
				if s.Settled != "landed" && s.Settled != "defer" {
					t.Errorf("settled %+v: a throttle spends no budget", s)
				}
			}
		})
	}
}
