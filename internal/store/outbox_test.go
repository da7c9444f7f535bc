package store_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/traction-go/traction/internal/store"
	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/settle"
)

func (b *board) lease(l *lane, done []string, refused ...store.Refused) []string {
	b.t.Helper()
	list, err := l.a.Outbox(context.Background(), 5*time.Second, 10, done, refused)
	if err != nil {
		b.t.Fatal(err)
	}
	var keys []string
	for _, n := range list {
		keys = append(keys, n.Key)
	}
	return keys
}

func TestOneSenderAtATimeHasANotification(t *testing.T) {
	onBoard(t, store.Slots{}, func(b *board) {
		b.take(4)
		stopAirport(b)
		b.at(1)
		stopGate(b)
		w2 := b.other("w2")
		keys := b.lease(b.lane, nil)
		if len(keys) != 2 || !strings.HasSuffix(keys[0], "/GROUND_STOP") {
			b.t.Fatalf("leased %v, want the oldest first", keys)
		}
		if again := b.lease(w2, nil); len(again) != 0 {
			b.t.Fatalf("%v were leased twice", again)
		}
		// only who holds the lease takes it away
		b.lease(w2, keys)
		b.at(4999)
		if again := b.lease(w2, nil); len(again) != 0 {
			b.t.Fatalf("%v were leased twice", again)
		}
		b.at(1)
		if again := b.lease(w2, nil); !slices.Equal(again, keys) {
			b.t.Fatalf("a dead sender's lease: %v", again)
		}
		b.lease(b.lane, keys) // late: another sends it
		if n := b.raw.HLen(context.Background(), b.keys.Outbox()).Val(); n != 2 {
			b.t.Fatalf("%d left", n)
		}
		// the hook refuses one and takes the other
		b.lease(w2, keys[:1], store.Refused{Key: keys[1], Delay: 30 * time.Second})
		b.at(29_999)
		if left := b.lease(b.lane, nil); len(left) != 0 {
			b.t.Fatalf("%v before its time", left)
		}
		b.at(1)
		if left := b.lease(b.lane, nil); !slices.Equal(left, keys[1:]) {
			b.t.Fatalf("left %v", left)
		}
		b.lease(b.lane, keys[1:])
		if b.incident(b.status("").Incident).NotifiedAt == 0 {
			b.t.Error("the incident does not say that it was told")
		}
		if n := b.raw.HLen(context.Background(), b.keys.Outbox()).Val(); n != 0 {
			b.t.Errorf("%d left", n)
		}
	})
}

func TestALeaseFromATimeTakenBackIsOver(t *testing.T) {
	onBoard(t, store.Slots{}, func(b *board) {
		b.take(1)
		stopAirport(b)
		b.lease(b.lane, nil)
		b.now -= 3600_000
		b.d.setTime(b.now)
		if keys := b.lease(b.other("w2"), nil); len(keys) != 1 {
			b.t.Errorf("leased %v", keys)
		}
	})
}

// What is told arrives as it was written: times to the millisecond, text with any
// bytes, no list where there is none.
func TestNumbersAndTextSurviveTheStore(t *testing.T) {
	onBoard(t, store.Slots{}, func(b *board) {
		b.now = 1_999_999_999_999
		b.d.setTime(b.now)
		b.beat()
		b.beat()
		b.take(1)
		nasty := "quote \" backslash \\ newline \n nul \x00 tab \t é 漢 </script>"
		s := b.settled(b.from[b.air[0]], b.air[0], "", settle.AirportFault)
		s.Record, s.Evidence = "", nasty
		b.call(store.FlightCall{Settle: []store.Settled{s}})
		for range 3 { // through the script's own reading and writing
			b.at(10_000)
			b.lease(b.lane, nil)
		}
		n := b.told()
		in := b.incidents()
		if len(n) != 0 || len(in) != 1 {
			b.t.Fatalf("%+v %+v", n, in)
		}
		b.at(10_000)
		n = b.told()
		if len(n) != 1 || n[0].At != 1_999_999_999_999 || n[0].Evidence != nasty || n[0].Records != nil || in[0].OpenedAt != n[0].At || in[0].Evidence != nasty || in[0].Records != nil {
			b.t.Errorf("%+v\n%+v", n, in)
		}
		if st := b.status(""); st.Evidence != nasty || st.Since.UnixMilli() != 1_999_999_999_999 {
			b.t.Errorf("%+v", st)
		}
	})
}

// Closed incidents are kept to a limit, the oldest go first; open ones stay.
func TestOpenIncidentsAreNeverTrimmed(t *testing.T) {
	onBoard(t, store.Slots{}, func(b *board) {
		ctx := context.Background()
		pipe := b.raw.Pipeline()
		for i := range 1005 {
			id, closed := fmt.Sprintf("old-%04d", i), ""
			if i != 2 {
				closed = `,"closed_at":5`
			}
			pipe.HSet(ctx, b.keys.Incidents(), id, `{"id":"`+id+`","scope":"crm:acme","kind":"GROUND_STOP","opened_at":1`+closed+`}`)
			pipe.ZAdd(ctx, b.keys.IncidentOrder(), redis.Z{Score: float64(i), Member: id})
		}
		if _, err := pipe.Exec(ctx); err != nil {
			b.t.Fatal(err)
		}
		b.take(1)
		stopAirport(b)
		id := b.status("").Incident
		b.reopen("", 0)
		in := b.incidents()
		if len(in) != 1001 || b.incident("old-0002").ID == "" || b.incident(id).ClosedAt == 0 {
			b.t.Errorf("%d are left, the open one %+v, the new one %+v", len(in), b.incident("old-0002"), b.incident(id))
		}
		if b.incident("old-0000").ID != "" || b.incident("old-1004").ID == "" {
			b.t.Error("the oldest closed ones go first")
		}
		if n := b.raw.ZCard(ctx, b.keys.IncidentOrder()).Val(); n != 1001 {
			b.t.Errorf("%d in the order", n)
		}
	})
}

func TestSweepRemovesWhatNobodyWill(t *testing.T) {
	onBoard(t, store.Slots{}, func(b *board) {
		ctx := context.Background()
		for i := range 2500 {
			b.raw.HSet(ctx, b.keys.Flying(), fmt.Sprintf("mark%d", i), fmt.Sprintf("L w9 %d 0", b.now))
		}
		w2 := b.other("w2")
		w2.clear("x")
		old := fmt.Sprintf("w9.1@%d,w8.1@%d!incident", b.now, b.now)
		b.set(b.keys.Deaths(), "convicted", old, "f", fmt.Sprintf("w9.1@%d", b.now), "g", fmt.Sprintf("w9.1@%d,w8.1@%d", b.now, b.now+5000))
		b.at(24*3600_000 + 1)
		n, err := b.a.Sweep(ctx, 24*time.Hour, time.Minute)
		if err != nil || n != 2500+1+1 { // marks, a lane's answers, deaths
			b.t.Errorf("removed %d, %v", n, err)
		}
		notes := b.raw.HKeys(ctx, b.keys.Flying()).Val()
		if !slices.Equal(notes, []string{"x"}) {
			b.t.Errorf("left %v: a note is for who asks for its flight", notes)
		}
		if b.raw.HGet(ctx, b.keys.Beats(), "w2.1").Val() == "" {
			b.t.Error("the beat of a note's owner went: it says whether the owner was leaving")
		}
		if b.deaths("convicted") != old {
			b.t.Error("a conviction went without an operator's word")
		}
		if b.deaths("f") != "" || b.deaths("g") == "" {
			b.t.Error("deaths go by their newest")
		}
	})
}

// Holds that have come back are not counted.
func TestHoldsAreCountedUntilTheyAreDue(t *testing.T) {
	onBoard(t, store.Slots{}, func(b *board) {
		b.take(2)
		b.end(2, settle.Transient)
		count := func() (n int) {
			for _, v := range b.raw.HVals(context.Background(), b.keys.Holding("contacts")).Val() {
				if v == "2" {
					n += 2
				}
			}
			return n
		}
		if count() != 2 {
			b.t.Fatal("two holds are not counted")
		}
		b.at(29_000)
		if count() != 2 {
			b.t.Error("counted no more before they are due")
		}
		b.at(3000)
		if count() != 0 {
			b.t.Error("still counted")
		}
	})
}

func TestDeclarationsGoByTheirStamp(t *testing.T) {
	onBoard(t, store.Slots{}, func(b *board) {
		ctx := context.Background()
		w2 := b.other("w2")
		if _, _, mine, err := b.a.Declare(ctx, "contacts", 20, map[string]string{"mode": "observe"}); !mine || err != nil {
			b.t.Fatal(mine, err)
		}
		stands, by, mine, err := w2.a.Declare(ctx, "contacts", 19, map[string]string{"mode": "enforce"})
		if stands != 20 || by != "w1" || mine || err != nil || b.status("contacts").Mode != "observe" {
			b.t.Error(stands, by, mine, err)
		}
		stands, _, mine, err = w2.a.Declare(ctx, "contacts", 0, map[string]string{"mode": "enforce"})
		if stands != b.now || !mine || err != nil || b.status("contacts").Mode != "enforce" {
			b.t.Error(stands, mine, err)
		}
		if st, _ := w2.a.Last("contacts"); st.State != wire.Open {
			b.t.Errorf("%+v", st)
		}
	})
}

// Three workers' deaths are told with the flights of these deaths, and no other's.
func TestDeathsAreToldWithTheFlightsOfThese(t *testing.T) {
	onBoard(t, store.Slots{}, func(b *board) {
		b.take(1)
		deaths := func(key, field string, incs ...string) {
			var all []string
			for _, inc := range incs {
				all = append(all, fmt.Sprintf("%s@%d", inc, b.now))
			}
			b.set(key, field, strings.Join(all, ","))
		}
		died := func(flight string, incs ...string) { deaths(b.keys.Deaths(), flight, incs...) }
		dead := func(incs ...string) { deaths(b.keys.Airport(), "dead", incs...) }
		died("old", "w7.1", "w8.1")
		died("f", "w2.1")
		died("g", "w3.1", "w8.1")
		dead("w2.1", "w3.1")
		b.sweep()
		if n := b.toldOf("WORKER_DEATHS"); len(n) != 0 {
			b.t.Fatalf("two deaths are told: %+v", n)
		}
		dead("w2.1", "w3.1", "w4.1")
		b.sweep()
		b.sweep()
		n := b.toldOf("WORKER_DEATHS")
		if len(n) != 1 || len(n[0].Workers) != 3 {
			b.t.Fatalf("%+v, want one of three workers", n)
		}
		slices.Sort(n[0].Records)
		if !slices.Equal(n[0].Records, []string{"f", "g"}) {
			b.t.Errorf("names %v: want what was in the air at these deaths", n[0].Records)
		}
	})
}
