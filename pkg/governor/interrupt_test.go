package governor_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/traction-go/traction/internal/broker"
	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/governor"
)

// interrupting is a broker on which the caller is told to stop while its messages are
// on their way: they arrive, and whoever gave up waiting does not hear of it.
type interrupting struct {
	broker.Transport
	key    string // where messages go that are meant
	silent bool   // no confirm comes at all

	mu      sync.Mutex
	stop    func() // called once, in the middle of the first call
	arrived int
}

func (i *interrupting) Publish(ctx context.Context, msgs []broker.Publishing) []error {
	if len(msgs) == 0 || msgs[0].Key != i.key {
		return i.Transport.Publish(ctx, msgs)
	}
	errs := i.Transport.Publish(ctx, msgs)
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, err := range errs {
		if err == nil {
			i.arrived++
		}
	}
	if i.stop != nil {
		i.stop()
		i.stop = nil
	}
	if i.silent || ctx.Err() != nil {
		for k := range errs {
			errs[k] = fmt.Errorf("%w: given up waiting; a copy may exist", broker.ErrNotConfirmed)
		}
	}
	return errs
}

func (i *interrupting) count() int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.arrived
}

// interrupted gives a context that ends while the first messages to key are on their way.
func (i *interrupting) interrupted(t *testing.T, key string) context.Context {
	ctx, cancel := context.WithCancelCause(t.Context())
	t.Cleanup(func() { cancel(nil) })
	i.mu.Lock()
	defer i.mu.Unlock()
	i.key, i.arrived = key, 0
	i.stop = func() { cancel(errStopped) }
	return ctx
}

var errStopped = errors.New("stopped by interrupt")

// saved is a queue of n messages and a backup of it, after which the queue is emptied.
func (i *interrupting) saved(t *testing.T, g *governor.Governor, n int) (queue, file string) {
	t.Helper()
	queue, file = "saved", filepath.Join(t.TempDir(), "saved.backup")
	queues := broker.Topology{Queues: []broker.Queue{{Name: queue}}}
	if err := i.Declare(t.Context(), queues); err != nil {
		t.Fatal(err)
	}
	msgs := make([]broker.Publishing, n)
	for k := range msgs {
		msgs[k] = broker.Publishing{Key: queue, Message: wire.Message{ID: fmt.Sprint(k), Body: []byte("x")}}
	}
	if err := errors.Join(i.Publish(t.Context(), msgs)...); err != nil {
		t.Fatal(err)
	}
	if r, err := g.Backup(t.Context(), queue, file, governor.BackupOptions{}); err != nil || r.Written != n {
		t.Fatalf("%v %+v", err, r)
	}
	if err := errors.Join(i.DeleteQueue(t.Context(), queue), i.Declare(t.Context(), queues)); err != nil {
		t.Fatal(err)
	}
	return queue, file
}

func (i *interrupting) holds(t *testing.T, queue string, want int) {
	t.Helper()
	if n, _, err := i.Depth(t.Context(), queue); err != nil || n != want {
		t.Fatalf("queue %s has %d messages, want %d: %v", queue, n, want, err)
	}
}

func interruptible(t *testing.T) (*governor.Governor, *interrupting) {
	i := &interrupting{}
	g, _ := embedded(t, func(b broker.Transport) broker.Transport { i.Transport = b; return i })
	return g, i
}

// Told to stop, a restore knows of all it has sent: another one doubles nothing.
func TestAnInterruptedRestoreIsExact(t *testing.T) {
	const n = 2500
	g, i := interruptible(t)
	queue, file := i.saved(t, g, n)
	r, err := g.Restore(i.interrupted(t, queue), file, governor.RestoreOptions{})
	if !errors.Is(err, governor.ErrPartial) || !errors.Is(err, errStopped) || r.Restored != 1000 || r.Left != n-1000 || r.Unconfirmed != 0 {
		t.Fatalf("%v %+v", err, r)
	}
	i.holds(t, queue, r.Restored)
	r, err = g.Restore(t.Context(), file, governor.RestoreOptions{})
	if err != nil || r.Skipped != 1000 || r.Restored != n-1000 || r.Left != 0 {
		t.Fatalf("%v %+v", err, r)
	}
	i.holds(t, queue, n)
}

// declared has the gate crm:acme/contacts declared, with nobody to serve it.
func declared(t *testing.T, g *governor.Governor) (gate string) {
	t.Helper()
	f := &fleet{t: t}
	run, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- g.Run(run, crm(newVendor())) }()
	f.ready(g, "crm:acme/contacts")
	stop()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	return "crm:acme/contacts"
}

// Told to stop, a dispatch knows of all it has sent.
func TestAnInterruptedDispatchIsExact(t *testing.T) {
	g, i := interruptible(t)
	gate := declared(t, g)
	r, err := g.DispatchAll(i.interrupted(t, gate), gate, source(4500, "")())
	if !errors.Is(err, governor.ErrPartial) || r.Failed != 0 || r.Sent == 0 || r.Sent == 4500 || r.Sent != i.count() {
		t.Errorf("%v %+v, and %d arrived", err, r, i.count())
	}
	i.holds(t, "tr."+gate+".runway", r.Sent)
}

// The same for a bulk run: what was sent has its seat marked, and the rest follows.
func TestAnInterruptedCharterIsExact(t *testing.T) {
	const n = 4500
	g, i := interruptible(t)
	gate := declared(t, g)
	spec := governor.CharterSpec{Run: "run-1", Expected: n}
	r, err := g.DispatchCharter(i.interrupted(t, gate), gate, spec, source(n, ""))
	if !errors.Is(err, governor.ErrPartial) || !errors.Is(err, errStopped) || r.Failed != 0 || r.Sent == 0 || r.Sent == n || r.Sent != i.count() {
		t.Errorf("%v %+v, and %d arrived", err, r, i.count())
	}
	i.holds(t, "tr."+gate+".runway", r.Sent)
	sent := r.Sent
	if r, err = g.DispatchCharter(t.Context(), gate, spec, source(n, "")); err != nil || r.Standing != sent || r.Sent != n-sent {
		t.Errorf("again: %v %+v", err, r)
	}
	i.holds(t, "tr."+gate+".runway", n)
}

// What the broker said of the flights before one that cannot be read counts first: they
// were tried.
func TestABadFlightHidesNoAnswerOfTheBroker(t *testing.T) {
	const n = 1500
	bad := errors.New("line 1501 is no JSON")
	flights := func(yield func(governor.Outgoing, error) bool) {
		for o, err := range source(n, "")() {
			if !yield(o, err) {
				return
			}
		}
		yield(governor.Outgoing{}, bad)
	}
	g, _ := interruptible(t)
	r, err := g.DispatchAll(t.Context(), "crm:acme/nosuch", flights)
	if !errors.Is(err, governor.ErrNotFound) || errors.Is(err, bad) || !strings.Contains(err.Error(), bad.Error()) || r.Sent != 0 || r.Failed != n {
		t.Errorf("no such gate: %v %+v", err, r)
	}
	r, err = g.DispatchAll(t.Context(), declared(t, g), flights)
	if !errors.Is(err, governor.ErrPartial) || !errors.Is(err, bad) || r.Sent != n {
		t.Errorf("a gate: %v %+v", err, r)
	}
}

// And for a removal that moves what is left elsewhere.
func TestAnInterruptedRemovalDoublesNothing(t *testing.T) {
	const n = 1500
	g, i := interruptible(t)
	gate := declared(t, g)
	if _, err := g.DispatchAll(t.Context(), gate, source(n, "")()); err != nil {
		t.Fatal(err)
	}
	if err := i.Declare(t.Context(), broker.Topology{Queues: []broker.Queue{{Name: "limit"}}}); err != nil {
		t.Fatal(err)
	}
	f := &fleet{t: t}
	var r governor.Removal
	var err error
	ctx := i.interrupted(t, "limit")
	f.until("the workers to be gone", func() bool {
		r, err = g.Remove(ctx, gate, governor.RemoveOptions{Confirm: gate, To: "limit", Actor: "dana"})
		return !errors.Is(err, governor.ErrRefused)
	})
	if !errors.Is(err, governor.ErrPartial) || !errors.Is(err, errStopped) || r.Moved == 0 || r.Moved == n {
		t.Fatalf("%v %+v", err, r)
	}
	i.holds(t, "limit", r.Moved)
	first := r.Moved
	if r, err = f.remove(g, gate, governor.RemoveOptions{To: "limit", Actor: "kim"}); err != nil || r.Moved != n-first {
		t.Fatalf("again: %v %+v", err, r)
	}
	i.holds(t, "limit", n)
	// Each run stands in the audit, under who ran it: what there was to do, and was done.
	l, err := g.Audit(t.Context(), governor.AuditFilter{Scope: gate})
	want := []governor.AuditEntry{ // newest first
		{Actor: "kim", Result: "ok", Count: n - first},
		{Actor: "kim", Result: "begun", Count: n - first},
		{Actor: "dana", Result: "ended early: at queue tr." + gate + ".runway: " + errStopped.Error(), Count: first},
		{Actor: "dana", Result: "begun", Count: n},
	}
	if err != nil || len(l) != len(want) {
		t.Fatalf("the audit says %+v (%v), want %+v", l, err, want)
	}
	for k, w := range want {
		if e := l[k]; e.Action != "remove" || e.Actor != w.Actor || e.Result != w.Result || e.Count != w.Count {
			t.Errorf("entry %d is %+v, want %+v", k, e, w)
		}
	}
}

// What nobody can know is counted, and no more than a batch.
func TestARestoreCountsWhatHadNoConfirm(t *testing.T) {
	const n = 2500
	g, i := interruptible(t)
	queue, file := i.saved(t, g, n)
	i.key, i.silent = queue, true
	r, err := g.Restore(t.Context(), file, governor.RestoreOptions{})
	if !errors.Is(err, governor.ErrUnreachable) || r.Restored != 0 || r.Left != n || r.Unconfirmed != 1000 {
		t.Fatalf("%v %+v", err, r)
	}
	i.holds(t, queue, 1000)
}
