package store_test

import (
	"context"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/traction-go/traction/internal/store"
	"github.com/traction-go/traction/pkg/settle"
)

// heldBy has another worker fly a flight and fall silent.
func heldBy(t *testing.T, leaving bool, test func(b *board, w2 *lane, from store.FlightReply)) {
	onBoard(t, store.Slots{}, func(b *board) {
		w2 := b.other("w2")
		r := w2.clear("f")
		want(b.t, r, store.Cleared)
		if leaving {
			if _, err := w2.a.Beat(context.Background(), store.BeatCall{Incarnations: []string{"w2.1"}, Interval: 2 * time.Second, Kind: store.WorkerOnly, Leaving: true}); err != nil {
				b.t.Fatal(err)
			}
		}
		test(b, w2, r)
	})
}

func (b *board) deaths(flight string) string {
	return b.raw.HGet(context.Background(), b.keys.Deaths(), flight).Val()
}

func TestAFlightIsHeldWhileItsHolderMayLive(t *testing.T) {
	heldBy(t, false, func(b *board, _ *lane, _ store.FlightReply) {
		want(b.t, b.clear("f"), store.Held)
		b.now += 10_000 // five intervals, no more
		b.d.setTime(b.now)
		b.beat()
		want(b.t, b.clear("f"), store.Held)
		// the observer's own beats were not unbroken: it may be the store that was away
		b.steady(19 * time.Second)
		want(b.t, b.clear("f"), store.Held)
		b.steady(2 * time.Second)
		want(b.t, b.clear("f"), store.Solo)
		if d := b.deaths("f"); !strings.HasPrefix(d, "w2.1@") {
			b.t.Errorf("deaths %q", d)
		}
	})
}

func TestAProcessThatWasLeavingDiedOfNothing(t *testing.T) {
	heldBy(t, true, func(b *board, _ *lane, _ store.FlightReply) {
		b.steady(25 * time.Second)
		want(b.t, b.clear("f"), store.Cleared)
		if d := b.deaths("f"); d != "" {
			b.t.Errorf("deaths %q", d)
		}
	})
}

func TestTheHoldersOwnSettlementFreesAFlight(t *testing.T) {
	heldBy(t, false, func(b *board, w2 *lane, r store.FlightReply) {
		w2.call(store.FlightCall{Settle: []store.Settled{w2.settled(r, "f", "f", settle.Transient)}})
		want(b.t, b.clear("f"), store.Cleared)
	})
}

// A longer interval of the other is waited for twice over.
func TestSilenceIsMeasuredInTheOthersOwnIntervals(t *testing.T) {
	onBoard(t, store.Slots{}, func(b *board) {
		w2 := b.other("w2")
		slow := func() {
			if _, err := w2.a.Beat(context.Background(), store.BeatCall{Incarnations: []string{"w2.1"}, Interval: 10 * time.Second, Kind: store.WorkerOnly}); err != nil {
				b.t.Fatal(err)
			}
		}
		slow()
		want(b.t, w2.clear("f"), store.Cleared)
		b.steady(51 * time.Second)
		want(b.t, b.clear("f"), store.Held)
		b.steady(50 * time.Second)
		want(b.t, b.clear("f"), store.Solo)
	})
}

func TestAnOutageOfTheStoreKillsNobody(t *testing.T) {
	heldBy(t, false, func(b *board, w2 *lane, _ store.FlightReply) {
		b.steady(19 * time.Second)
		w2.beat()
		b.now += 60_000
		b.d.setTime(b.now)
		b.beat()
		want(b.t, b.clear("f"), store.Held)
		w2.beat()
		b.steady(9 * time.Second)
		w2.beat()
		b.steady(9 * time.Second)
		want(b.t, b.clear("f"), store.Held)
		if d := b.deaths("f"); d != "" {
			b.t.Errorf("deaths %q", d)
		}
	})
}

// A beat from a future that was taken back is no sign of life for an hour.
func TestABeatFromBeforeTheClockWasSetBackIsNoLife(t *testing.T) {
	heldBy(t, false, func(b *board, _ *lane, _ store.FlightReply) {
		b.now -= 3600_000
		b.d.setTime(b.now)
		b.beat()
		b.steady(19 * time.Second)
		want(b.t, b.clear("f"), store.Held)
		b.steady(2 * time.Second)
		want(b.t, b.clear("f"), store.Solo)
	})
}

// A flight that did not fly passes the same rules before it is parked.
func TestAnUnflownSettlementAsksWhoHoldsTheFlight(t *testing.T) {
	park := store.Settled{Flight: "f", Outcome: "GATE_STOPPED", Record: "f", Move: settle.Move{Settlement: settle.Park, Reason: settle.ReasonGateStopped}}
	heldBy(t, false, func(b *board, _ *lane, _ store.FlightReply) {
		if v := b.call(store.FlightCall{Settle: []store.Settled{park}}).Verdicts[0]; v != store.HeldBy {
			b.t.Fatalf("verdict %d", v)
		}
		b.steady(25 * time.Second)
		if v := b.call(store.FlightCall{Settle: []store.Settled{park}}).Verdicts[0]; v != store.Make || b.deaths("f") == "" {
			b.t.Errorf("verdict %d, deaths %q", v, b.deaths("f"))
		}
		b.set(b.keys.Flying(), "f", "L w2 1 1")
		if v := b.call(store.FlightCall{Settle: []store.Settled{park}}).Verdicts[0]; v != store.Landed {
			b.t.Errorf("verdict %d: it landed", v)
		}
	})
}

func TestOnlyTheOwnersSettlementForgetsDeaths(t *testing.T) {
	heldBy(t, false, func(b *board, w2 *lane, r store.FlightReply) {
		b.steady(25 * time.Second)
		want(b.t, b.clear("f"), store.Solo)
		mine := b.call(store.FlightCall{Clear: []store.Request{{Flight: "f", Alone: true}}})
		want(b.t, mine, store.Cleared)
		// the one presumed dead reports after all
		if v := w2.call(store.FlightCall{Settle: []store.Settled{w2.settled(r, "f", "f", settle.Transient)}}).Verdicts[0]; v != store.NotYours {
			b.t.Fatalf("verdict %d", v)
		}
		if b.deaths("f") == "" {
			b.t.Fatal("not the owner's settlement forgot the death")
		}
		b.call(store.FlightCall{Settle: []store.Settled{b.settled(mine, "f", "f", settle.Transient)}})
		if d := b.deaths("f"); d != "" {
			b.t.Errorf("deaths %q", d)
		}
	})
}

// What is said of a flight that is another's counts, and moves nothing.
func TestAFaultWithoutTheNoteCountsByTheFence(t *testing.T) {
	onBoard(t, store.Slots{}, func(b *board) {
		b.take(2)
		b.forget(b.keys.Flying())
		if v := b.end(1, settle.AirportFault)[0]; v != store.NotYours || !b.stopped("") {
			b.t.Errorf("verdict %d, stopped %v", v, b.stopped(""))
		}
	})
}

// The delivery is gone: it counts, and nothing is to be published.
func TestAGoneFlightCountsAndIsNotMoved(t *testing.T) {
	onBoard(t, store.Slots{}, func(b *board) {
		b.take(1)
		s := b.settled(b.from[b.air[0]], b.air[0], "r", settle.GateFault)
		s.Gone = true
		if v := b.call(store.FlightCall{Settle: []store.Settled{s}}).Verdicts[0]; v != store.Gone {
			b.t.Errorf("verdict %d", v)
		}
		if n := b.status("contacts").Parked; n != 0 {
			b.t.Errorf("%d parked", n)
		}
		if notes, _ := b.a.Notes(context.Background(), nil); len(notes) != 0 {
			b.t.Errorf("%+v is left", notes)
		}
	})
}

// Landing marks.

func TestALandingMarkGoesWithItsOwnersWord(t *testing.T) {
	onBoard(t, store.Slots{}, func(b *board) {
		b.take(1)
		b.end(1, settle.Landed)
		want(b.t, b.clear("f001"), store.LandedAlready)
		w2 := b.other("w2")
		w2.call(store.FlightCall{Marks: []string{"f001"}})
		want(b.t, b.clear("f001"), store.LandedAlready)
		b.call(store.FlightCall{Marks: []string{"f001"}})
		want(b.t, b.clear("f001"), store.Cleared)
	})
}

// A mark made without the note stays until it is swept: another copy may be about.
func TestAMarkWithoutTheNoteStaysADay(t *testing.T) {
	onBoard(t, store.Slots{}, func(b *board) {
		b.call(store.FlightCall{Settle: []store.Settled{{Flight: "f", Incarnation: "w1.1", Outcome: "LANDED", Move: settle.Move{Settlement: settle.Land}}}})
		b.call(store.FlightCall{Marks: []string{"f"}})
		want(b.t, b.clear("f"), store.LandedAlready)
		b.at(24 * 3600_000)
		b.sweep()
		want(b.t, b.clear("f"), store.LandedAlready)
		b.at(1)
		b.sweep()
		want(b.t, b.clear("f"), store.Cleared)
	})
}

// The repeat of a call whose reply was lost gets the first answers.
func TestARepeatGetsTheFirstAnswersAndClearsNothing(t *testing.T) {
	onBoard(t, store.Slots{}, func(b *board) {
		b.take(3)
		var c store.FlightCall
		for _, f := range b.air {
			c.Settle = append(c.Settle, b.settled(b.from[f], f, f, settle.GateFault))
		}
		c.Clear = []store.Request{{Flight: "x"}}
		first := b.call(c)
		incidents := b.incidents()
		for range 2 {
			b.seq--
			again := b.call(c)
			want(b.t, again, store.Again)
			for i, v := range again.Verdicts {
				if v != first.Verdicts[i] {
					b.t.Errorf("verdict %d is now %d", first.Verdicts[i], v)
				}
			}
		}
		if got := b.incidents(); len(got) != len(incidents) || got[0].Faults != incidents[0].Faults {
			b.t.Errorf("a repeat counted: %+v", got)
		}
		// one older than the last says nothing and changes nothing
		b.seq -= 2
		old := b.call(c)
		want(b.t, old, store.Again)
		if old.Verdicts[0] != store.Late {
			b.t.Errorf("verdict %d", old.Verdicts[0])
		}
		if b.status("contacts").Parked != 3 {
			b.t.Errorf("%d parked", b.status("contacts").Parked)
		}
	})
}

// A worker that dies with many flights in the air is one death; programs that die under
// a worker that lives are one each.
func TestDeathsAreOfWorkersNotOfFlights(t *testing.T) {
	onBoard(t, store.Slots{}, func(b *board) {
		now, err := b.s.Now(context.Background())
		if err != nil {
			b.t.Fatal(err)
		}
		at := func(inc string) string { return inc + "@" + strconv.FormatInt(now.UnixMilli(), 10) }
		b.set(b.keys.Deaths(), "a", at("gone.1"), "b", at("gone.1"), "c", at("gone.1")+","+at("other.1"))
		sns, err := b.s.Snapshots(context.Background(), "crm:acme")
		if err != nil || len(sns) != 1 {
			b.t.Fatal(err)
		}
		if sns[0].Deaths != 2 || sns[0].Suspects != 2 {
			b.t.Errorf("%d deaths, %d suspects; want 2 workers and 2 flights", sns[0].Deaths, sns[0].Suspects)
		}
	})
}
