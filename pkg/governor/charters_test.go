package governor_test

import (
	"errors"
	"iter"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/traction-go/traction/pkg/governor"
)

var errSource = errors.New("line 3: not JSON")

// odd is a source of n flights whose last is changed.
func odd(n int, change func(*governor.Outgoing) error) governor.Source {
	return func() iter.Seq2[governor.Outgoing, error] {
		return func(yield func(governor.Outgoing, error) bool) {
			k := 0
			for o := range source(n, "")() {
				var err error
				if k++; k == n {
					err = change(&o)
				}
				if !yield(o, err) {
					return
				}
			}
		}
	}
}

// A source that is refused leaves no run behind, and the right one flies at once.
func TestARefusedSourceOpensNoCharter(t *testing.T) {
	for name, c := range map[string]struct {
		expected int
		source   governor.Source
		want     error
		right    int
	}{
		"more than expected": {4, source(5, ""), governor.ErrRefused, 5},
		"cannot be read":     {3, odd(3, func(*governor.Outgoing) error { return errSource }), errSource, 2},
		"business id":        {3, odd(3, func(o *governor.Outgoing) error { o.BusinessID = strings.Repeat("x", 300); return nil }), governor.ErrName, 2},
		"headers": {3, odd(3, func(o *governor.Outgoing) error {
			o.Headers = map[string]any{"big": strings.Repeat("x", 130<<10)}
			return nil
		}), governor.ErrRefused, 2},
	} {
		t.Run(name, func(t *testing.T) {
			g, i := interruptible(t)
			gate := declared(t, g)
			r, err := g.DispatchCharter(t.Context(), gate, governor.CharterSpec{Run: "run-1", Expected: c.expected}, c.source)
			if !errors.Is(err, c.want) || errors.Is(err, governor.ErrPartial) || r.Sent != 0 {
				t.Fatalf("%v %+v", err, r)
			}
			if list, err := g.Charters(t.Context(), gate); err != nil || len(list) != 0 {
				t.Fatalf("it left %+v: %v", list, err)
			}
			if a, err := g.Audit(t.Context(), governor.AuditFilter{}); err != nil || len(a) != 0 {
				t.Errorf("nothing was done, and the audit says %+v: %v", a, err)
			}
			r, err = g.DispatchCharter(t.Context(), gate, governor.CharterSpec{Run: "run-1", Expected: c.right}, source(c.right, ""))
			if err != nil || r.Sent != c.right {
				t.Fatalf("the right source: %v %+v", err, r)
			}
			i.holds(t, "tr."+gate+".runway", c.right)
		})
	}
}

// A bulk dispatch stands in the audit before its first flight is sent.
func TestABulkDispatchStandsInTheAuditFromItsBeginning(t *testing.T) {
	g, i := interruptible(t)
	gate := declared(t, g)
	list := func() []governor.AuditEntry {
		list, err := g.Audit(t.Context(), governor.AuditFilter{})
		if err != nil {
			t.Error(err)
		}
		return list
	}
	var meanwhile []governor.AuditEntry
	i.key, i.stop = gate, func() { meanwhile = list() }
	spec := governor.CharterSpec{Run: "run-1", Expected: 3, Actor: "dana"}
	if _, err := g.DispatchCharter(t.Context(), gate, spec, source(3, "")); err != nil {
		t.Fatal(err)
	}
	if len(meanwhile) != 1 || meanwhile[0].Action != "charter dispatch" || meanwhile[0].Scope != gate+"/run-1" || meanwhile[0].Actor != "dana" ||
		meanwhile[0].Result != "begun" || meanwhile[0].Count != 3 {
		t.Errorf("at the first flight the audit says %+v", meanwhile)
	}
	if a := list(); len(a) != 2 || a[0].Result != "ok" || a[0].Count != 3 {
		t.Errorf("the audit says %+v", a)
	}
}

// An abort of what is aborted changes nothing, and stands in the audit like the first.
func TestEachAbortStandsInTheAudit(t *testing.T) {
	g, _ := interruptible(t)
	gate := declared(t, g)
	run := gate + "/run-1"
	if _, err := g.DispatchCharter(t.Context(), gate, governor.CharterSpec{Run: "run-1", Expected: 3}, source(3, "")); err != nil {
		t.Fatal(err)
	}
	for _, actor := range []string{"dana", "kim"} {
		if c, err := g.AbortCharter(t.Context(), run, run, actor, "wrong list"); err != nil || c.State != governor.CharterAborted {
			t.Fatalf("%v %+v", err, c)
		}
	}
	l, err := g.Audit(t.Context(), governor.AuditFilter{})
	if err != nil || len(l) < 2 || l[0].Action != "charter abort" || l[0].Actor != "kim" || l[0].Result != "aborted" || l[0].Reason != "wrong list" ||
		l[1].Action != "charter abort" || l[1].Actor != "dana" || l[1].Result != "ok" {
		t.Errorf("%v %+v", err, l)
	}
}

// A source that is another at the second reading is said to be, and no flight gets a
// seat that there is not.
func TestASourceThatChangesBetweenItsReadings(t *testing.T) {
	for then, sent := range map[int]int{5: 4, 3: 3} {
		g, i := interruptible(t)
		gate := declared(t, g)
		var reading atomic.Int32
		changes := func() iter.Seq2[governor.Outgoing, error] {
			if reading.Add(1) == 1 {
				return source(4, "")()
			}
			return source(then, "")()
		}
		r, err := g.DispatchCharter(t.Context(), gate, governor.CharterSpec{Run: "run-1", Expected: 4}, changes)
		if !errors.Is(err, governor.ErrPartial) || !strings.Contains(err.Error(), "has changed") || r.Sent != sent {
			t.Errorf("%v %+v", err, r)
		}
		i.holds(t, "tr."+gate+".runway", sent)
	}
}
