package store_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/traction-go/traction/internal/store"
	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/settle"
)

func alone(flight string) store.FlightCall {
	return store.FlightCall{Clear: []store.Request{{Flight: flight, Alone: true}}}
}

// A suspect flies in the one process that holds the lease, and a landing acquits it.
func TestASuspectFliesUnderOneLease(t *testing.T) {
	heldBy(t, false, func(b *board, _ *lane, _ store.FlightReply) {
		w3 := newLane(b.t, b.s, "w3")
		for range 25 {
			b.steady(time.Second)
			w3.beat()
		}
		want(b.t, b.clear("f"), store.Solo)
		want(b.t, w3.clear("f"), store.Suspect)
		mine := b.call(alone("f"))
		want(b.t, mine, store.Cleared)
		b.call(store.FlightCall{Settle: []store.Settled{b.settled(mine, "f", "f", settle.Landed)}})
		if d := b.deaths("f"); d != "" {
			b.t.Errorf("deaths %q after a landing", d)
		}
		if err := b.a.EndSolo(context.Background(), 1, []string{"f"}); err != nil {
			b.t.Fatal(err)
		}
		b.call(store.FlightCall{Marks: []string{"f"}})
		want(b.t, w3.clear("f"), store.Cleared)
	})
}

// The second death convicts, with one incident that names flight and workers.
func TestTheSecondDeathConvicts(t *testing.T) {
	heldBy(t, false, func(b *board, _ *lane, _ store.FlightReply) {
		w3 := newLane(b.t, b.s, "w3")
		for range 25 {
			b.steady(time.Second)
			w3.beat()
		}
		want(b.t, w3.clear("f"), store.Solo)
		want(b.t, w3.call(alone("f")), store.Cleared)
		b.steady(25 * time.Second) // w3 beats no more
		want(b.t, b.clear("f"), store.Convicted)
		park := store.Settled{Flight: "f", Outcome: "POISON_PILL", Record: "order-7", Move: settle.Move{Settlement: settle.Park, Reason: settle.ReasonPoisonPill}}
		r := b.call(store.FlightCall{Settle: []store.Settled{park}})
		if r.Verdicts[0] != store.Make || r.Deaths[0] == "" {
			b.t.Fatalf("verdict %d, deaths %q", r.Verdicts[0], r.Deaths[0])
		}
		b.call(store.FlightCall{Settle: []store.Settled{park}}) // a second copy
		list, err := b.s.Incidents(context.Background(), "crm:acme")
		if err != nil || len(list) != 1 || list[0].Kind != wire.PoisonPill || len(list[0].Workers) != 2 || list[0].Records[0] != "f" || list[0].Records[1] != "order-7" {
			b.t.Fatalf("%v %+v", err, list)
		}
		// A replay remembers one death: it flies alone, and one more convicts.
		if err := b.a.BeforeReplay(context.Background(), "contacts", "ann@desk", false, []store.Waiter{{Flight: "f", Seat: -1, Deaths: "w2.1@1"}}); err != nil {
			b.t.Fatal(err)
		}
		want(b.t, b.clear("f"), store.Solo)
		if list, _ := b.s.Incidents(context.Background(), "crm:acme"); list[0].ClosedAt == 0 || list[0].ClosedBy != "ann@desk" {
			b.t.Errorf("%+v: want the incident closed by who replayed it", list[0])
		}
	})
}

// A child's death counts like a worker's, and the worker lives.
func TestAChildsDeathCounts(t *testing.T) {
	onBoard(t, store.Slots{}, func(b *board) {
		died := func(r store.FlightReply) {
			s := b.settled(r, "f", "f", settle.Transient)
			s.Outcome, s.Move, s.Otherwise = "DIED", settle.Move{Settlement: settle.Hold, Delay: settle.HeldDelay}, settle.Move{}
			if v := b.call(store.FlightCall{Settle: []store.Settled{s}}).Verdicts[0]; v != store.Make {
				b.t.Fatalf("verdict %d", v)
			}
		}
		died(b.clear("f"))
		want(b.t, b.clear("f"), store.Solo)
		died(b.call(alone("f")))
		want(b.t, b.clear("f"), store.Convicted)
	})
}

// A try to give up the lease that arrives late finds other notes of the process.
func TestALateEndOfASessionChangesNothing(t *testing.T) {
	heldBy(t, false, func(b *board, _ *lane, _ store.FlightReply) {
		b.steady(25 * time.Second)
		want(b.t, b.clear("f"), store.Solo)
		end := func(session uint64) {
			if err := b.a.EndSolo(context.Background(), session, []string{"f"}); err != nil {
				b.t.Fatal(err)
			}
		}
		end(1)
		want(b.t, b.clear("f"), store.Solo)
		want(b.t, b.call(alone("f")), store.Cleared)
		end(1)
		if n, _ := b.a.Notes(context.Background(), nil); len(n) != 1 {
			b.t.Fatalf("notes %+v: the late try took the note of a flight in the air", n)
		}
		end(2)
		if n, _ := b.a.Notes(context.Background(), nil); len(n) != 0 {
			b.t.Errorf("notes %+v are left", n)
		}
	})
}

// Between the answer and the settlement an operator may say that it is none.
func TestAPillThatWasClearedMeanwhileIsNotParked(t *testing.T) {
	heldBy(t, false, func(b *board, _ *lane, _ store.FlightReply) {
		b.set(b.keys.Deaths(), "g", "w2.1@1,w3.1@2")
		want(b.t, b.clear("g"), store.Convicted)
		if n, err := b.a.ClearSuspects(context.Background(), "contacts", "ann@desk", []string{"g"}); n != 1 || err != nil {
			b.t.Fatal(n, err)
		}
		park := store.Settled{Flight: "g", Outcome: "POISON_PILL", Record: "g", Move: settle.Move{Settlement: settle.Park, Reason: settle.ReasonPoisonPill}}
		if v := b.call(store.FlightCall{Settle: []store.Settled{park}}).Verdicts[0]; v != store.HeldBy {
			b.t.Errorf("verdict %d", v)
		}
		if n := len(b.incidents()); n != 0 {
			b.t.Errorf("%d incidents", n)
		}
	})
}

func TestASnapshotCountsSuspectsAndNotTheConvicted(t *testing.T) {
	onBoard(t, store.Slots{}, func(b *board) {
		now, err := b.s.Now(context.Background())
		if err != nil {
			b.t.Fatal(err)
		}
		at := fmt.Sprintf("@%d", now.UnixMilli())
		b.set(b.keys.Deaths(), "f", "w1.1"+at, "g", "w2.1"+at, "h", "w1.1"+at+",w2.1"+at+"!crm:acme@1", "i", "w1.1"+at+"!crm:acme@1")
		list, err := b.s.Snapshots(context.Background(), modelAirport)
		if err != nil || len(list) != 1 || list[0].Suspects != 2 || list[0].Deaths != 2 {
			b.t.Errorf("%+v, %v; want 2 suspects of 2 workers' deaths", list, err)
		}
	})
}

// A conviction ends by whoever cleared or discarded it, not by the name of their process.
func TestAConvictionIsEndedByTheActor(t *testing.T) {
	onBoard(t, store.Slots{}, func(b *board) {
		b.set(b.keys.Deaths(), "f", "w2.1@1,w3.1@2", "g", "w2.1@1,w3.1@2")
		for _, f := range []string{"f", "g"} {
			want(b.t, b.clear(f), store.Convicted)
			park := store.Settled{Flight: f, Outcome: "POISON_PILL", Record: f, Move: settle.Move{Settlement: settle.Park, Reason: settle.ReasonPoisonPill}}
			b.call(store.FlightCall{Settle: []store.Settled{park}})
		}
		if _, err := b.a.ClearSuspects(context.Background(), "contacts", "ann@desk", []string{"f"}); err != nil {
			b.t.Fatal(err)
		}
		if err := b.a.BeforeDiscard(context.Background(), "contacts", "bob@desk", []store.Waiter{{Flight: "g", Seat: -1}}); err != nil {
			b.t.Fatal(err)
		}
		list, err := b.s.Incidents(context.Background(), "crm:acme")
		if err != nil || len(list) != 2 {
			b.t.Fatalf("%v %+v, want two", err, list)
		}
		for _, i := range list {
			if who := map[string]string{"f": "ann@desk", "g": "bob@desk"}[i.Records[0]]; i.ClosedBy != who {
				b.t.Errorf("%s is closed by %q, want %q", i.Records[0], i.ClosedBy, who)
			}
		}
	})
}
