package store_test

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"

	"github.com/traction-go/traction/internal/store"
	"github.com/traction-go/traction/internal/testsvc"
	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/settle"
)

func TestMain(m *testing.M) { testsvc.Main(m) }

// on runs a test on the embedded store and, where services run, on a real one.
func on(t *testing.T, test func(t *testing.T, s *store.Store)) {
	t.Run("embedded", func(t *testing.T) {
		m := miniredis.RunT(t)
		open(t, store.Config{URLs: []string{"redis://" + m.Addr()}, Namespace: "tr", Timeout: time.Minute}, test)
	})
	t.Run("real", func(t *testing.T) {
		open(t, store.Config{URLs: []string{testsvc.SharedRedis(t)}, Namespace: wire.Namespace(testsvc.Namespace(t))}, test)
	})
}

func open(t *testing.T, c store.Config, test func(*testing.T, *store.Store)) {
	s, err := store.Open(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	test(t, s)
}

var limits = store.Limits{AirportFault: 1, GateFault: 3, RecordFault: 5, Transient: 5, Window: 5 * time.Minute}

// lane is one process's lane to a gate.
type lane struct {
	t   testing.TB
	a   *store.Airport
	seq uint64
	cfg store.FlightCall

	beatEvery, calls int
}

func newLane(t testing.TB, s *store.Store, worker string) *lane {
	l := &lane{t: t, a: s.Airport("crm:acme", worker, "contacts"),
		cfg: store.FlightCall{Incarnation: worker + ".1", Mode: "enforce", Limits: limits, Steps: settle.DefaultPolicy().Transient}}
	l.beat()
	return l
}

func (l *lane) beat() store.BeatReply {
	l.t.Helper()
	r, err := l.a.Beat(context.Background(), store.BeatCall{Incarnations: []string{l.cfg.Incarnation}, Interval: 2 * time.Second, Kind: store.WorkerOnly})
	if err != nil {
		l.t.Fatal(err)
	}
	return r
}

func (l *lane) bear(slots store.Slots) {
	l.t.Helper()
	for _, g := range []string{"", "contacts"} {
		b, epoch, err := l.a.BeginBirth(context.Background(), g)
		if err != nil {
			l.t.Fatal(err)
		}
		if b == store.Look {
			if b, err = l.a.FinishBirth(context.Background(), g, epoch, false, slots); err != nil {
				l.t.Fatal(err)
			}
		}
		if b != store.Stands {
			l.t.Fatalf("birth of %q: %v", g, b)
		}
	}
}

// keepBeating beats with every beatEvery-th call, for loops that take long.
func (l *lane) keepBeating() {
	if l.calls++; l.calls%l.beatEvery == 0 {
		l.beat()
	}
}

// with fills in what every call of the lane carries, and counts it.
func (l *lane) with(c store.FlightCall) store.FlightCall {
	l.seq++
	c.Incarnation, c.Seq, c.Mode, c.Limits, c.Steps = l.cfg.Incarnation, l.seq, l.cfg.Mode, l.cfg.Limits, l.cfg.Steps
	return c
}

func (l *lane) call(c store.FlightCall) store.FlightReply {
	l.t.Helper()
	c = l.with(c)
	r, err := l.a.Flight(context.Background(), "contacts", c)
	if err != nil {
		l.t.Fatal(err)
	}
	return r
}

func (l *lane) clear(flights ...string) store.FlightReply {
	l.t.Helper()
	var c store.FlightCall
	for _, f := range flights {
		c.Clear = append(c.Clear, store.Request{Flight: f})
	}
	return l.call(c)
}

func (l *lane) settled(from store.FlightReply, flight, record string, o settle.Outcome) store.Settled {
	p := settle.Decide(o, settle.Holds{}, settle.DefaultPolicy())
	return store.Settled{Flight: flight, Incarnation: l.cfg.Incarnation, EpochA: from.EpochA, EpochG: from.EpochG, Start: from.Start,
		Outcome: o.String(), Move: p.Move, Otherwise: p.Otherwise, Record: record, Evidence: "evidence of " + flight}
}

func want(t testing.TB, r store.FlightReply, answers ...store.Answer) {
	t.Helper()
	for i, a := range answers {
		if r.Clearance[i].Answer != a {
			t.Fatalf("clearance %d: %v, want %v", i, r.Clearance[i], a)
		}
	}
}

func TestFirstAirportFaultStops(t *testing.T) {
	on(t, func(t *testing.T, s *store.Store) {
		l := newLane(t, s, "w1")
		l.bear(store.Slots{})
		r := l.clear("f1", "f2", "f3")
		want(t, r, store.Cleared, store.Cleared, store.Cleared)
		got := l.call(store.FlightCall{Settle: []store.Settled{
			l.settled(r, "f1", "r1", settle.Landed), l.settled(r, "f2", "r2", settle.AirportFault), l.settled(r, "f3", "r3", settle.AirportFault),
		}, Clear: []store.Request{{Flight: "f4"}}})
		want(t, got, store.AirportStops)
		for i, v := range got.Verdicts {
			if v != store.Make {
				t.Fatalf("verdict %d: %v", i, v)
			}
		}
		st, _ := l.a.Last("")
		if st.State != wire.Stopped || st.Incident == "" || st.Reason != "AIRPORT_FAULT" {
			t.Fatalf("%+v", st)
		}
		inc, err := s.Incidents(context.Background(), "crm:acme")
		if err != nil || len(inc) != 1 || inc[0].Faults != 2 || inc[0].Kind != wire.GroundStop {
			t.Fatalf("%v %+v", err, inc)
		}
		notices, err := l.a.Outbox(context.Background(), time.Minute, 10, nil, nil)
		if err != nil || len(notices) != 1 || notices[0].Key != inc[0].ID+"/GROUND_STOP" {
			t.Fatalf("%v %+v", err, notices)
		}
		// a repeat of the same call gets the same verdicts and clears nothing
		l.seq--
		again := l.call(store.FlightCall{Settle: []store.Settled{
			l.settled(r, "f1", "r1", settle.Landed), l.settled(r, "f2", "r2", settle.AirportFault), l.settled(r, "f3", "r3", settle.AirportFault),
		}, Clear: []store.Request{{Flight: "f4"}}})
		want(t, again, store.Again)
		re, err := l.a.Reopen(context.Background(), "", 0, "dana", "fixed", true)
		if err != nil || re.Result != store.Done || re.Was != wire.Stopped {
			t.Fatalf("%v %+v", err, re)
		}
		// a slow fault from before the reopen stops nothing
		r2 := l.clear("f5")
		want(t, r2, store.Cleared)
		old := l.call(store.FlightCall{Settle: []store.Settled{l.settled(r, "f5", "r5", settle.AirportFault)}})
		if st, _ := l.a.Last(""); st.State != wire.Open || old.Verdicts[0] != store.Otherwise {
			t.Fatalf("%+v %v", st, old.Verdicts)
		}
	})
}

func TestSlotsAreExact(t *testing.T) {
	on(t, func(t *testing.T, s *store.Store) {
		l := newLane(t, s, "w1")
		l.bear(store.Slots{N: 3, Per: time.Minute, Stamp: 1})
		r := l.clear("f1", "f2")
		want(t, r, store.Cleared, store.Cleared)
		r = l.clear("f3", "f4")
		want(t, r, store.Cleared, store.Wait)
		if d := r.Clearance[1].Until.Sub(r.Now); d <= 50*time.Second || d > time.Minute+time.Millisecond {
			t.Fatalf("wait %v", d)
		}
	})
}

func TestGateStopsOnDistinctRecords(t *testing.T) {
	on(t, func(t *testing.T, s *store.Store) {
		l := newLane(t, s, "w1")
		l.bear(store.Slots{})
		fault := func(flight, record string, o settle.Outcome) wire.Status {
			r := l.clear(flight)
			want(t, r, store.Cleared)
			l.call(store.FlightCall{Settle: []store.Settled{l.settled(r, flight, record, o)}})
			st, _ := l.a.Last("contacts")
			return st
		}
		for range 3 {
			if st := fault("f1", "same", settle.GateFault); st.State != wire.Open {
				t.Fatalf("one record three times stopped the gate: %+v", st)
			}
		}
		fault("f2", "second", settle.GateFault)
		fault("f3", "third", settle.Landed)
		fault("f4", "second", settle.GateFault)
		if st := fault("f5", "third", settle.GateFault); st.State != wire.Open {
			t.Fatalf("a landing did not clear the streak: %+v", st)
		}
		if st := fault("f6", "fourth", settle.GateFault); st.State != wire.Stopped {
			t.Fatalf("three distinct records did not stop the gate: %+v", st)
		}
		want(t, l.clear("f7"), store.GateStopped)
	})
}

func TestDialerURLWithSentinel(t *testing.T) {
	asked := make(chan string, 100)
	s, err := store.Open(store.Config{URLs: []string{"redis://localhost:1/0?master_name=m"}, Namespace: "tr", Timeout: 200 * time.Millisecond,
		Dialer: func(_ context.Context, _, addr string) (net.Conn, error) {
			select {
			case asked <- addr:
			default:
			}
			return nil, net.ErrClosed
		}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Ping(context.Background()); err == nil {
		t.Fatal("a store that is nowhere answered")
	}
	if addr := <-asked; addr != "localhost:1" {
		t.Fatalf("asked %q", addr)
	}
}
