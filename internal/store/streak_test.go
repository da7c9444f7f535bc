package store_test

import (
	"context"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/traction-go/traction/internal/store"
	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/settle"
)

// fail clears a flight of its own and settles it at once.
func (b *board) fail(record string, o settle.Outcome) store.Verdict {
	b.t.Helper()
	return b.failBy(b.lane, record, o)
}

func (b *board) failBy(l *lane, record string, o settle.Outcome) store.Verdict {
	b.t.Helper()
	b.next++
	f := "one" + strconv.Itoa(b.next)
	r := l.clear(f)
	if r.Clearance[0].Answer != store.Cleared {
		b.t.Fatalf("%s was not cleared: %+v", f, r.Clearance[0])
	}
	return l.call(store.FlightCall{Settle: []store.Settled{l.settled(r, f, record, o)}}).Verdicts[0]
}

func (b *board) stopped(gate string) bool { return b.status(gate).State == wire.Stopped }

func TestThreeGateFaultsOfDistinctRecordsStopTheGate(t *testing.T) {
	onBoard(t, store.Slots{}, func(b *board) {
		for range 4 {
			b.fail("same", settle.GateFault)
		}
		b.fail("second", settle.GateFault)
		if b.stopped("contacts") {
			b.t.Fatal("two records stopped the gate")
		}
		b.fail("third", settle.GateFault)
		if !b.stopped("contacts") || b.stopped("") {
			b.t.Error("three records did not stop the gate alone")
		}
	})
}

func TestFiveRecordFaultsOfAnyKindStopTheGate(t *testing.T) {
	onBoard(t, store.Slots{}, func(b *board) {
		b.fail("a", settle.FlightFault)
		b.fail("b", settle.Internal)
		b.fail("c", settle.FlightFault)
		b.fail("d", settle.Internal)
		if b.stopped("contacts") {
			b.t.Fatal("four stopped it")
		}
		v := b.call(store.FlightCall{Settle: []store.Settled{{Flight: "m", Outcome: "MALFORMED", Record: "e", Evidence: "not JSON",
			Move: settle.Move{Settlement: settle.Park, Reason: settle.ReasonMalformed}}}}).Verdicts[0]
		if !b.stopped("contacts") || v != store.Make {
			b.t.Errorf("the fifth, MALFORMED, did not stop it: %v", v)
		}
	})
}

func TestAStreakForgetsWhatIsOlderThanItsWindow(t *testing.T) {
	onBoard(t, store.Slots{}, func(b *board) {
		b.fail("a", settle.GateFault)
		b.fail("b", settle.GateFault)
		b.at(limits.Window.Milliseconds() + 1)
		b.fail("c", settle.GateFault)
		b.fail("d", settle.GateFault)
		if b.stopped("contacts") {
			b.t.Error("records from outside the window counted")
		}
		b.at(limits.Window.Milliseconds() - 1)
		b.fail("e", settle.GateFault)
		if !b.stopped("contacts") {
			b.t.Error("three within the window did not stop it")
		}
	})
}

func TestOnlyALandingClearsTheGatesStreaks(t *testing.T) {
	onBoard(t, store.Slots{}, func(b *board) {
		b.fail("a", settle.GateFault)
		b.fail("b", settle.GateFault)
		b.fail("t", settle.Transient)
		b.fail("r", settle.FlightFault)
		b.take(1)
		b.call(store.FlightCall{Returns: []string{b.air[0]}})
		b.fail("c", settle.GateFault)
		if !b.stopped("contacts") {
			b.t.Fatal("a hold, a rejection or a return cleared the streak")
		}
		b.reopen("contacts", 0)
		b.fail("a", settle.GateFault)
		b.fail("b", settle.GateFault)
		b.fail("x", settle.Landed)
		b.fail("c", settle.GateFault)
		if b.stopped("contacts") {
			b.t.Error("a landing did not clear the streak")
		}
		// another's flight that lands clears nothing
		b.fail("d", settle.GateFault)
		b.call(store.FlightCall{Settle: []store.Settled{{Flight: "foreign", Incarnation: "w7.1", Outcome: "LANDED", Move: settle.Move{Settlement: settle.Land}}}})
		b.fail("e", settle.GateFault)
		if !b.stopped("contacts") {
			b.t.Error("a landing without its note cleared the streak")
		}
	})
}

// In one call a landing clears what came before it, and not what comes after.
func TestALandingClearsWhatCameBeforeItInTheSameCall(t *testing.T) {
	onBoard(t, store.Slots{}, func(b *board) {
		b.take(8)
		settles := func(outcomes ...settle.Outcome) {
			var c store.FlightCall
			for _, o := range outcomes {
				f := b.air[0]
				b.air = b.air[1:]
				c.Settle = append(c.Settle, b.settled(b.from[f], f, "r-"+f, o))
			}
			b.call(c)
		}
		settles(settle.Landed, settle.GateFault, settle.GateFault, settle.Landed, settle.GateFault, settle.GateFault)
		if b.stopped("contacts") {
			b.t.Fatal("the second landing cleared nothing")
		}
		settles(settle.GateFault)
		if !b.stopped("contacts") {
			b.t.Error("the second landing cleared what came after it")
		}
	})
}

func TestAReopenEmptiesTheStreaks(t *testing.T) {
	onBoard(t, store.Slots{}, func(b *board) {
		b.fail("a", settle.GateFault)
		b.fail("b", settle.GateFault)
		for _, r := range []string{"a", "b", "c", "d"} {
			b.fail(r, settle.Transient)
		}
		b.pause("contacts")
		b.reopen("contacts", 0)
		b.fail("c", settle.GateFault)
		b.fail("e", settle.Transient)
		if st := b.status("contacts"); st.State != wire.Open || st.Delayed {
			b.t.Errorf("what was counted before a reopen counted: %+v", st)
		}
	})
}

func TestAFaultFromBeforeTheReopenCountsNothing(t *testing.T) {
	onBoard(t, store.Slots{}, func(b *board) {
		b.take(9)
		b.pause("contacts")
		b.at(1)
		b.reopen("contacts", 0)
		b.end(3, settle.GateFault)
		b.end(5, settle.Transient)
		if st := b.status("contacts"); st.State != wire.Open || st.Delayed {
			b.t.Errorf("%+v", st)
		}
	})
}

// A process that saw a higher fence than the store has judges by that.
func TestTheHighestFenceSeenIsTheOneThatCounts(t *testing.T) {
	onBoard(t, store.Slots{}, func(b *board) {
		b.take(1)
		b.at(1)
		b.reopen("", 1) // moves the fence
		b.beat()
		b.set(b.keys.Airport(), "fence", 0)
		b.end(1, settle.AirportFault)
		if b.stopped("") {
			b.t.Error("a fault from before the fence the caller knows stopped the airport")
		}
	})
}

func TestAThresholdAboveOneCountsDistinctRecords(t *testing.T) {
	onBoard(t, store.Slots{}, func(b *board) {
		was := limits
		defer func() { limits = was }()
		b.cfg.Limits.AirportFault = 2
		for range 2 {
			if v := b.fail("same", settle.AirportFault); v != store.Otherwise {
				b.t.Fatalf("verdict %d: what stops nothing is held as a TRANSIENT", v)
			}
		}
		// a repeat of an answered call counts nothing more
		b.take(1)
		c := store.FlightCall{Settle: []store.Settled{b.settled(b.from[b.air[0]], b.air[0], "other", settle.AirportFault)}}
		if v := b.call(c).Verdicts[0]; v != store.Make || !b.stopped("") {
			b.t.Errorf("two records did not stop the airport: %d", v)
		}
	})
}

// Any number of racing reports make one incident and one notification.
func TestRacingReportsMakeOneIncident(t *testing.T) {
	onBoard(t, store.Slots{}, func(b *board) {
		b.take(2)
		var lanes []*lane
		var replies []store.FlightReply
		for i := range 5 {
			l := b.other("x" + strconv.Itoa(i))
			lanes = append(lanes, l)
			replies = append(replies, l.clear("race"+strconv.Itoa(i)))
		}
		for i, l := range lanes {
			l.call(store.FlightCall{Settle: []store.Settled{l.settled(replies[i], "race"+strconv.Itoa(i), "rec"+strconv.Itoa(i), settle.AirportFault)}})
		}
		in := b.incidents()
		if len(in) != 1 || in[0].Faults != 5 || len(in[0].Records) != 5 || len(in[0].Workers) != 5 || len(b.told()) != 1 {
			b.t.Errorf("%+v, %d told", in, len(b.told()))
		}
	})
}

// An incident names every record and worker of the streak that opened it, and no
// worker of an earlier one.
func TestAnIncidentSaysWhoReported(t *testing.T) {
	onBoard(t, store.Slots{}, func(b *board) {
		w2, w3 := b.other("w2"), b.other("w3")
		b.failBy(w3, "old", settle.GateFault)
		b.at(1)
		b.fail("x", settle.Landed)
		b.at(1)
		b.fail("a", settle.GateFault)
		b.failBy(w2, "b", settle.GateFault)
		b.fail("c", settle.GateFault)
		in := b.incidents()
		if len(in) != 1 {
			b.t.Fatalf("%+v", in)
		}
		slices.Sort(in[0].Records)
		slices.Sort(in[0].Workers)
		if !slices.Equal(in[0].Records, []string{"a", "b", "c"}) || !slices.Equal(in[0].Workers, []string{"w1", "w2"}) || in[0].Faults != 3 {
			b.t.Errorf("%+v", in[0])
		}
		if n := b.toldOf(wire.GateStop); len(n) != 1 || len(n[0].Records) != 3 || len(n[0].Workers) != 2 {
			b.t.Errorf("%+v", n)
		}
	})
}

// Mode observe opens one incident a scope until a reopen, and stops nothing.
func TestObserveStopsNothing(t *testing.T) {
	for _, mode := range []string{"observe", "observe-told"} {
		t.Run(mode, func(t *testing.T) {
			onBoard(t, store.Slots{}, func(b *board) {
				b.cfg.Mode = mode
				for _, r := range []string{"a", "b", "c", "d", "e", "f", "g"} {
					if v := b.fail(r, settle.AirportFault); v != store.Otherwise {
						b.t.Fatal(v)
					}
					b.fail(r, settle.GateFault)
					b.fail(r, settle.FlightFault)
					b.fail(r, settle.RateLimit)
					b.fail(r, settle.Transient)
				}
				a, g := b.status(""), b.status("contacts")
				if a.State != wire.Open || g.State != wire.Open || g.Delayed || !a.ThrottledUntil.IsZero() || a.Observing == "" || g.Observing == "" {
					b.t.Fatalf("%+v\n%+v", a, g)
				}
				in := b.incidents()
				if len(in) != 2 || !in[0].Observed || !in[1].Observed {
					b.t.Errorf("%+v", in)
				}
				if n := len(b.told()); (n > 0) != (mode == "observe-told") {
					b.t.Errorf("%d told", n)
				}
				if r := b.reopen("", 0); r != store.OpenAlready || b.status("").Observing != "" || b.incident(a.Observing).ClosedAt == 0 {
					b.t.Errorf("the reopen left the incident: %v", r)
				}
				// nothing grows for ever meanwhile
				for i := range 30 {
					b.fail("more"+strconv.Itoa(i), settle.Transient)
				}
				if n := b.raw.ZCard(context.Background(), b.keys.Streak("contacts", wire.StreakTransient)).Val(); n > int64(limits.Transient) {
					b.t.Errorf("the streak has grown to %d", n)
				}
			})
		})
	}
}

// The first flight parked for a reason that tells sends one notification.
func TestParkingIsToldOncePerReason(t *testing.T) {
	onBoard(t, store.Slots{}, func(b *board) {
		park := func(f string, why settle.Reason) {
			b.call(store.FlightCall{Settle: []store.Settled{{Flight: f, Outcome: "PARKED", Record: f, Move: settle.Move{Settlement: settle.Park, Reason: why}}}})
		}
		park("a", settle.ReasonHoldBudget)
		park("b", settle.ReasonHoldBudget)
		park("c", settle.ReasonGateStopped)
		if n := b.toldOf(wire.Parking); len(n) != 1 || n[0].Reason != "HOLD_BUDGET" {
			b.t.Fatalf("%+v", n)
		}
		park("d", settle.ReasonDeliveryLimit)
		if n := b.toldOf(wire.Parking); len(n) != 2 {
			b.t.Fatalf("%+v", n)
		}
		if got := b.status("contacts").Parked; got != 4 {
			b.t.Errorf("%d parked", got)
		}
		// a store that forgot does not tell under a key that was taken
		keys := map[string]bool{}
		for _, n := range b.toldOf(wire.Parking) {
			keys[n.Key] = true
		}
		b.at(1)
		b.forget(b.keys.Outbox())
		if err := b.raw.HDel(context.Background(), b.keys.Airport(), "notices").Err(); err != nil {
			b.t.Fatal(err)
		}
		if err := b.raw.HDel(context.Background(), b.keys.Gate("contacts"), "parking:HOLD_BUDGET").Err(); err != nil {
			b.t.Fatal(err)
		}
		b.at(int64(time.Second / time.Millisecond))
		park("e", settle.ReasonHoldBudget)
		if n := b.toldOf(wire.Parking); len(n) != 1 || keys[n[0].Key] {
			b.t.Errorf("%+v, told before: %v", n, keys)
		}
	})
}

// One AIRPORT_FAULT stops an airport's canary, whatever the threshold.
func TestOneAirportFaultStopsACanary(t *testing.T) {
	onBoard(t, store.Slots{}, func(b *board) {
		b.cfg.Limits.AirportFault = 3
		b.reopen("", 2)
		b.fail("a", settle.AirportFault)
		if !b.stopped("") {
			b.t.Error("it flies on")
		}
	})
}
