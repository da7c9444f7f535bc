package throwaway

import (
	"testing"

	"github.com/traction-go/traction/internal/broker"
	"github.com/traction-go/traction/internal/broker/memory"
)

// What is outside of the namespace is never deleted, whoever declares it.
func TestOnlyTheNamespaceIsRemoved(t *testing.T) {
	l := &Ledger{Namespace: "demo-1"}
	bk := l.Watch(memory.NewBroker().Dial())
	defer func() { _ = bk.Close(t.Context()) }()
	names := map[string]bool{"demo-1.runway": true, "demo-1-adopted.incoming": true, "demo-12.runway": false, "tr.runway": false, "incoming": false, "demo-1": false}
	for name := range names {
		if err := bk.Declare(t.Context(), broker.Topology{Exchanges: []broker.Exchange{{Name: name, Kind: broker.Fanout}}, Queues: []broker.Queue{{Name: name}}}); err != nil {
			t.Fatal(err)
		}
	}
	if names, err := l.Standing(t.Context(), bk); err != nil || len(names) != 4 {
		t.Errorf("%v %v", names, err)
	}
	if err := l.Remove(t.Context(), bk); err != nil {
		t.Fatal(err)
	}
	for name, own := range names {
		_, queue, err := bk.Depth(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		exchange, err := bk.HasExchange(t.Context(), name)
		if err != nil || queue == own || exchange == own {
			t.Errorf("%s: queue %v exchange %v, want %v: %v", name, queue, exchange, !own, err)
		}
	}
	if names, err := l.Standing(t.Context(), bk); err != nil || len(names) != 0 {
		t.Errorf("%v %v", names, err)
	}
}

func TestALedgerWithoutANamespaceOwnsNothing(t *testing.T) {
	l := &Ledger{}
	l.Note(broker.Topology{Queues: []broker.Queue{{Name: "q"}, {Name: ".q"}}})
	if q, x := l.Names(); len(q)+len(x) != 0 {
		t.Error(q, x)
	}
}
