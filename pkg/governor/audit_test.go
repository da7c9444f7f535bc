package governor_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/traction-go/traction/internal/broker"
	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/governor"
)

func TestDispatchesAndTestsOfTheHooksStandInTheAudit(t *testing.T) {
	g, _ := embedded(t, func(b broker.Transport) broker.Transport { return b })
	run, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- g.Run(run, crm(newVendor())) }()
	f := &fleet{t: t}
	gate := "crm:acme/contacts"
	f.ready(g, gate)
	r, err := g.DispatchAll(t.Context(), gate, source(2, "")())
	if err != nil {
		t.Fatal(err)
	}
	list := func() []governor.AuditEntry {
		t.Helper()
		list, err := g.Audit(t.Context(), governor.AuditFilter{})
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	if l := list(); len(l) != 0 {
		t.Errorf("an application's dispatch stands in the audit: %+v", l)
	}
	if err := g.AuditDispatchBegun(t.Context(), gate); err != nil {
		t.Fatal(err)
	}
	if err := g.AuditDispatchBegun(t.Context(), gate+"x"); !errors.Is(err, governor.ErrNotFound) {
		t.Errorf("a gate that there is not: %v", err)
	}
	if err := g.AuditDispatch(t.Context(), gate, r, nil); err != nil {
		t.Fatal(err)
	}
	if err := g.AuditDispatch(t.Context(), gate, governor.DispatchResult{Sent: 1, Failed: 1}, errors.New("cut")); err != nil {
		t.Fatal(err)
	}
	if err := g.AuditDispatch(t.Context(), "crm:acme", r, nil); !errors.Is(err, governor.ErrName) {
		t.Errorf("an airport is no gate: %v", err)
	}
	if _, err := g.TestNotify(t.Context(), gate); err != nil {
		t.Fatal(err)
	}
	if _, err := g.TestNotify(t.Context(), gate+"x"); !errors.Is(err, governor.ErrNotFound) {
		t.Errorf("a test for a gate that there is not: %v", err)
	}
	l := list()
	want := []governor.AuditEntry{ // newest first
		{Action: "notify test", Scope: gate, Result: "sent"},
		{Action: "dispatch", Scope: gate, Result: "ended early: cut", Count: 1},
		{Action: "dispatch", Scope: gate, Result: "ok", Count: 2},
		{Action: "dispatch", Scope: gate, Result: "begun"},
	}
	if len(l) != len(want) {
		t.Fatalf("the audit says %+v, want %+v", l, want)
	}
	for i, w := range want {
		e := l[i]
		if e.Actor == "" || e.At.IsZero() || e.Action != w.Action || e.Scope != w.Scope || e.Result != w.Result || e.Count != w.Count {
			t.Errorf("entry %d is %+v, want %+v", i, e, w)
		}
	}
	stop()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
}

// looking is a broker that calls while it is looked into.
type looking struct {
	broker.Transport
	first func() // called at the first message
}

func (l *looking) Browse(ctx context.Context, queue string, max int, see func(wire.Message) bool) error {
	err := l.Transport.Browse(ctx, queue, max, func(m wire.Message) bool {
		if l.first != nil {
			l.first()
			l.first = nil
		}
		return see(m) && ctx.Err() == nil
	})
	return errors.Join(err, ctx.Err())
}

// A backup stands in the audit before it takes the first message, so that one that is
// killed is seen; and one that is interrupted says how far it came.
func TestABackupStandsInTheAuditFromItsBeginning(t *testing.T) {
	l := &looking{}
	g, _ := embedded(t, func(b broker.Transport) broker.Transport { l.Transport = b; return l })
	f := &fleet{t: t}
	gate, queue, dir := "crm:acme/contacts", "tr.crm:acme/contacts.runway", t.TempDir()
	run, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- g.Run(run, crm(newVendor())) }()
	f.ready(g, gate)
	stop()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if _, err := g.DispatchAll(t.Context(), gate, source(3, "")()); err != nil {
		t.Fatal(err)
	}
	list := func() []governor.AuditEntry {
		t.Helper()
		list, err := g.Audit(t.Context(), governor.AuditFilter{Scope: gate})
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	var meanwhile []governor.AuditEntry
	l.first = func() { meanwhile = list(); cancel(errStopped) }
	r, err := g.Backup(ctx, queue, filepath.Join(dir, "f"), governor.BackupOptions{})
	if !errors.Is(err, errStopped) || !strings.Contains(err.Error(), "of 3 messages: stopped by interrupt; all of it is still on the queue, and there is no file") || r.Written == 0 || r.Written == 3 {
		t.Errorf("%v %+v", err, r)
	}
	if len(meanwhile) != 1 || meanwhile[0].Action != "queue backup "+queue || meanwhile[0].Result != "begun" || meanwhile[0].Count != 3 {
		t.Errorf("at the first message the audit says %+v", meanwhile)
	}
	if a := list(); len(a) != 2 || !strings.HasPrefix(a[0].Result, "ended early: after 1 of 3 messages: stopped by interrupt") || a[0].Count != r.Written {
		t.Errorf("the audit says %+v", a)
	}
}
