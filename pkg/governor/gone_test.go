package governor

import (
	"log/slog"
	"testing"
	"time"

	"github.com/traction-go/traction/internal/broker"
	"github.com/traction-go/traction/internal/store"
	"github.com/traction-go/traction/internal/wire"
)

// parcel is a delivery that counts what is done with it.
type parcel struct {
	broker.Delivery
	session     uint64
	acks, nacks int
}

func (p *parcel) Message() wire.Message { return wire.Message{} }
func (p *parcel) Session() uint64       { return p.session }
func (p *parcel) Ack() error            { p.acks++; return nil }
func (p *parcel) Nack() error           { p.nacks++; return nil }

// A settlement is asked for a delivery that was lost, and the broker hands the flight
// out again before the answer: "gone" is about the lost one. The one in hand now must
// be given back, or it would stay with this consumer for ever.
func TestTheDeliveryOfAGoneFlightIsGivenBack(t *testing.T) {
	g := &Governor{cfg: Config{}.withDefaults(), log: slog.New(slog.DiscardHandler), id: "w", stats: newStats(), st: openNowhere(t)}
	s := newStation(g, Airport{ID: "crm:acme"}.withDefaults(), store.WorkerOnly)
	l := newLane(s, Gate{ID: "contacts", Workers: 1})
	for _, v := range []store.Verdict{store.Gone, store.NotYours} {
		lost, again := &parcel{session: 1}, &parcel{session: 2}
		j := &job{flight: wire.Flight{ID: "f"}, d: lost, dead: true, step: settling}
		l.hand["f"] = j
		l.again(j, &job{flight: wire.Flight{ID: "f"}, d: again}) // while the call is out
		l.verdict(j, v, time.Now())
		if again.nacks != 1 || again.acks != 0 || lost.nacks+lost.acks != 0 {
			t.Errorf("verdict %d: the delivery in hand was given back %d times and acknowledged %d times, want 1 and 0; the lost one touched %d times",
				v, again.nacks, again.acks, lost.nacks+lost.acks)
		}
		if l.hand["f"] != nil {
			t.Errorf("verdict %d: the flight is still in hand", v)
		}
	}
}

// openNowhere is a store that nothing is asked of.
func openNowhere(t *testing.T) *store.Store {
	st, err := store.Open(store.Config{URLs: []string{"redis://127.0.0.1:1"}, Namespace: "tr"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	return st
}
