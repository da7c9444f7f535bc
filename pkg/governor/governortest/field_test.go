package governortest_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/traction-go/traction/pkg/governor"
	"github.com/traction-go/traction/pkg/governor/governortest"
)

func TestTheClockStandsStillBetweenCalls(t *testing.T) {
	field := governortest.New(t, crm(&vendor{}))
	before := field.Now()
	for range 10 {
		field.Dispatch("crm:acme/contacts", contact{"1"})
		field.Airport("crm:acme")
	}
	if now := field.Now(); !now.Equal(before) {
		t.Errorf("%s passed between calls", now.Sub(before))
	}
	field.Advance(time.Hour)
	if now := field.Now(); !now.Equal(before.Add(time.Hour)) {
		t.Errorf("Advance(1h) moved the clock by %s", now.Sub(before))
	}
}

// A pilot that takes its time is in the air while the clock stands, and a drain
// waits for it.
func TestAPilotSleepsInVirtualTime(t *testing.T) {
	v := &vendor{fly: func(context.Context, governor.Flight[[]byte]) error { time.Sleep(10 * time.Second); return nil }}
	field := governortest.New(t)
	p := field.Start(crm(v))
	field.Dispatch("crm:acme/contacts", contact{"1"})
	field.Advance(5 * time.Second)
	if a := field.Airport("crm:acme"); a.InAir != 1 || a.Waiting != 1 || a.Landed != 0 {
		t.Fatalf("%d in the air, %d waiting, %d landed; want it in the air", a.InAir, a.Waiting, a.Landed)
	}
	p.Stop()
	if a := field.Airport("crm:acme"); a.Landed != 1 || a.Waiting != 0 {
		t.Fatalf("%d landed, %d waiting after the drain; want it landed", a.Landed, a.Waiting)
	}
}

// The timeout of a gate ends the call's context, in virtual time.
func TestATimeoutIsTransient(t *testing.T) {
	v := &vendor{fly: func(ctx context.Context, _ governor.Flight[[]byte]) error { <-ctx.Done(); return ctx.Err() }}
	a := crm(v)
	a.Gates[0].Timeout = 7 * time.Second
	field := governortest.New(t, a)
	field.Dispatch("crm:acme/contacts", contact{"1"})
	field.Advance(8 * time.Second)
	if s := field.Settled(); len(s) != 1 || s[0].Outcome != "TRANSIENT" || s[0].Settled != "hold" {
		t.Fatalf("settled %+v, want a hold for TRANSIENT", s)
	}
}

func TestInABubbleOfTheTests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := &vendor{err: errDown}
		field := governortest.New(t, crm(v))
		field.Dispatch("crm:acme/contacts", contact{"1"})
		v.answers(nil)
		time.Sleep(time.Minute) // the field's clock is the test's
		if a := field.Airport("crm:acme"); a.Landed != 1 {
			t.Fatalf("%d landed after the hold, want 1", a.Landed)
		}
	})
}

// After the first fault the vendor sees at most the calls that were in the air,
// from however many processes.
func TestAStopIsAtOnceInEveryProcess(t *testing.T) {
	v := &vendor{fly: func(context.Context, governor.Flight[[]byte]) error {
		time.Sleep(200 * time.Millisecond)
		return errAuth
	}}
	field := governortest.New(t)
	for range 3 {
		field.Start(crm(v))
	}
	field.DispatchAll("crm:acme/contacts", backlog(0, 500)...)
	field.Settle()
	a := field.Airport("crm:acme")
	if a.State != governor.Stopped || a.Waiting != 500 || v.calls > 3*governor.DefaultWorkers {
		t.Fatalf("%s, %d waiting, %d calls; want STOPPED, all 500, and at most the %d in the air", a.State, a.Waiting, v.calls, 3*governor.DefaultWorkers)
	}
	if got := types(a.Notifications); len(got) != 1 {
		t.Errorf("notifications %v of %d racing faults, want one", got, v.calls)
	}
}

func TestStopDrainsAndNothingIsLost(t *testing.T) {
	v := &vendor{fly: func(context.Context, governor.Flight[[]byte]) error { time.Sleep(50 * time.Millisecond); return nil }}
	field := governortest.New(t)
	first := field.Start(crm(v))
	field.DispatchAll("crm:acme/contacts", backlog(0, 200)...)
	field.Advance(300 * time.Millisecond)
	first.Stop()
	landed := len(v.landed)
	if a := field.Airport("crm:acme"); landed == 0 || landed == 200 || a.Waiting != 200-landed {
		t.Fatalf("%d landed, %d waiting after the drain; want some landed and the rest waiting", landed, a.Waiting)
	}
	field.Start(crm(v))
	field.Settle()
	for id, n := range v.landed {
		if n != 1 {
			t.Errorf("%s landed %d times: a drain repeats nothing", id, n)
		}
	}
	if a := field.Airport("crm:acme"); len(v.landed) != 200 || a.Waiting != 0 {
		t.Fatalf("%d landed, %d waiting; want all 200", len(v.landed), a.Waiting)
	}
}
