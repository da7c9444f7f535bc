package governor_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/traction-go/traction/internal/backup"
	"github.com/traction-go/traction/internal/testsvc"
	"github.com/traction-go/traction/pkg/governor"
)

// shelve puts n flights on the runway and on the parked queue of crm:acme/contacts,
// which nobody serves, and gives a governor to look with.
func (f *fleet) shelve(n int) *governor.Governor {
	f.t.Helper()
	gate := "crm:acme/contacts"
	g, stop := f.run(crm(newVendor()))
	f.ready(g, gate)
	stop()
	g = f.governor()
	f.dispatch(g, gate, n)
	file := filepath.Join(f.t.TempDir(), "shelved")
	if _, err := g.Backup(f.t.Context(), f.ns()+"."+gate+".runway", file, governor.BackupOptions{}); err != nil {
		f.t.Fatal(err)
	}
	if _, err := g.Restore(f.t.Context(), file, governor.RestoreOptions{To: f.ns() + "." + gate + ".parked"}); err != nil {
		f.t.Fatal(err)
	}
	f.until("all parked", func() bool { return f.state(g, "crm:acme").Parked == n })
	return g
}

func (f *fleet) ns() string { return or(f.cfg.Namespace, "tr") }

func or(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// same checks that a shelf has the same flights in the same order.
func (f *fleet) same(got, want []string) {
	f.t.Helper()
	for i := range want {
		if i >= len(got) || got[i] != want[i] {
			f.t.Fatalf("%d flights, want %d; from the %d. on they differ: %v, want %v", len(got), len(want), i+1, got[i:min(i+3, len(got))], want[i:min(i+3, len(want))])
		}
	}
	if len(got) > len(want) {
		f.t.Fatalf("%d flights, want %d", len(got), len(want))
	}
}

func (f *fleet) flights(g *governor.Governor) (ids []string) {
	f.t.Helper()
	list, err := g.Parked(f.t.Context(), "crm:acme/contacts", governor.ParkedFilter{})
	if err != nil {
		f.t.Fatal(err)
	}
	for _, p := range list {
		ids = append(ids, p.Flight)
	}
	return ids
}

// Thirty looks, by list and by backup, leave the queue as it was: a default quorum
// queue of RabbitMQ 4 would be empty after the twenty-first.
func TestThirtyLooksLeaveTheQueueAsItWas(t *testing.T) {
	onBoth(t, func(f *fleet) {
		t := f.t
		const n = 300
		g := f.shelve(n)
		before := f.flights(g)
		if len(before) != n {
			t.Fatalf("%d flights", len(before))
		}
		queue, dir := f.ns()+".crm:acme/contacts.parked", t.TempDir()
		for i := range 15 {
			f.same(f.flights(g), before)
			file := filepath.Join(dir, fmt.Sprint(i))
			r, err := g.Backup(t.Context(), queue, file, governor.BackupOptions{})
			if err != nil || r.Written != n || r.Planned != n {
				t.Fatalf("backup %d: %v %+v", i, err, r)
			}
		}
		f.same(f.flights(g), before)
	})
}

// A file here that cannot be read or made has a class of its own: it is nothing that is
// missing at the broker.
func TestAFileThatWillNotDo(t *testing.T) {
	g, i := interruptible(t)
	queue, good := i.saved(t, g, 3)
	missing := filepath.Join(t.TempDir(), "nodir", "x")
	if err := os.Mkdir(good+backup.Suffix, 0o700); err != nil {
		t.Fatal(err)
	}
	_, made := g.Backup(t.Context(), queue, missing, governor.BackupOptions{})
	_, read := g.Restore(t.Context(), missing, governor.RestoreOptions{})
	_, folder := g.Restore(t.Context(), t.TempDir(), governor.RestoreOptions{})
	_, noted := g.Restore(t.Context(), good, governor.RestoreOptions{})
	for what, err := range map[string]error{"made": made, "read": read, "a folder": folder, "noted": noted} {
		if !errors.Is(err, governor.ErrFile) || errors.Is(err, governor.ErrNotFound) || errors.Is(err, governor.ErrPartial) {
			t.Errorf("%s: %v", what, err)
		}
	}
	i.holds(t, queue, 0)
}

func TestRestoreTwiceRestoresOnce(t *testing.T) {
	onBoth(t, func(f *fleet) {
		t := f.t
		const n = 2500
		g := f.shelve(n)
		gate, queue, file := "crm:acme/contacts", f.ns()+".crm:acme/contacts.parked", filepath.Join(t.TempDir(), "parked")
		before := f.flights(g)
		if r, err := g.Backup(t.Context(), queue, file, governor.BackupOptions{}); err != nil || r.Written != n {
			t.Fatalf("%v %+v", err, r)
		}
		if _, err := g.Backup(t.Context(), queue, file, governor.BackupOptions{}); !errors.Is(err, governor.ErrRefused) {
			t.Fatalf("the file was written over: %v", err)
		}
		if r, err := g.Discard(t.Context(), governor.ParkedShelf, gate, governor.MoveOptions{Confirm: gate}); err != nil || r.Moved != n {
			t.Fatalf("%v %+v", err, r)
		}
		// Interrupted after the first batch, then run again, and again.
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		r, err := g.Restore(ctx, file, governor.RestoreOptions{Progress: func(governor.RestoreResult) { cancel() }})
		if !errors.Is(err, governor.ErrPartial) || r.Restored == 0 || r.Restored == n || r.Restored+r.Left != n {
			t.Fatalf("%v %+v", err, r)
		}
		first := r.Restored
		r, err = g.Restore(t.Context(), file, governor.RestoreOptions{})
		if err != nil || r.Skipped != first || r.Restored != n-first || r.Left != 0 {
			t.Fatalf("%v %+v", err, r)
		}
		r, err = g.Restore(t.Context(), file, governor.RestoreOptions{})
		if err != nil || r.Restored != 0 || r.Skipped != n {
			t.Fatalf("%v %+v", err, r)
		}
		f.same(f.flights(g), before)
		// Elsewhere it would be a second copy: that is said, not done.
		if _, err := g.Restore(t.Context(), file, governor.RestoreOptions{To: f.ns() + ".crm:acme/contacts.runway"}); !errors.Is(err, governor.ErrRefused) {
			t.Fatalf("%v", err)
		}
		if _, err := g.Restore(t.Context(), file, governor.RestoreOptions{To: "nowhere"}); !errors.Is(err, governor.ErrNotFound) {
			t.Fatalf("%v", err)
		}
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		b[len(b)/2] ^= 1
		if err := os.WriteFile(file+"2", b, 0o600); err != nil {
			t.Fatal(err)
		}
		r, err = g.Restore(t.Context(), file+"2", governor.RestoreOptions{})
		if !errors.Is(err, governor.ErrRefused) || r.Restored != 0 {
			t.Fatalf("%v %+v", err, r)
		}
		entries, err := g.Audit(t.Context(), governor.AuditFilter{Scope: gate, Limit: 6})
		if err != nil || len(entries) < 6 || entries[0].Action != "queue restore "+queue || entries[2].Count != n-first || entries[2].Result != "ok" ||
			entries[3].Count != n-first || entries[3].Result != "begun" || entries[5].Count != n || entries[5].Result != "begun" {
			t.Fatalf("%v %+v", err, entries)
		}
	})
}

func TestBackupRefusesWhatItCannotFinish(t *testing.T) {
	onBoth(t, func(f *fleet) {
		t := f.t
		g := f.shelve(100)
		before := f.flights(g)
		queue, dir := f.ns()+".crm:acme/contacts.parked", t.TempDir()
		interrupted, cancel := context.WithCancelCause(t.Context())
		errStop := errors.New("stop")
		cancel(errStop)
		for name, c := range map[string]struct {
			ctx  context.Context
			o    governor.BackupOptions
			want error
		}{
			"no time":     {t.Context(), governor.BackupOptions{AckTimeout: time.Millisecond}, governor.ErrRefused},
			"no room":     {t.Context(), governor.BackupOptions{MaxBytes: 1000}, governor.ErrRefused},
			"little room": {t.Context(), governor.BackupOptions{MaxBytes: 10_000}, governor.ErrRefused},
			"interrupted": {interrupted, governor.BackupOptions{}, nil},
		} {
			r, err := g.Backup(c.ctx, queue, filepath.Join(dir, "f"), c.o)
			if err == nil || c.want != nil && !errors.Is(err, c.want) {
				t.Errorf("%s: %v %+v", name, err, r)
			}
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
			t.Errorf("%v %v", left, err)
		}
		f.same(f.flights(g), before)
		if _, err := g.Backup(t.Context(), "nowhere", filepath.Join(dir, "f"), governor.BackupOptions{}); !errors.Is(err, governor.ErrNotFound) {
			t.Errorf("%v", err)
		}
	})
}

// A queue that is not Traction's: classic, with priorities.
func TestBackupOfAClassicQueue(t *testing.T) {
	t.Parallel()
	testsvc.Need(t)
	f := &fleet{t: t, cfg: governor.Config{AMQP: testsvc.SharedRabbitMQ(t), Redis: testsvc.SharedRedis(t), Namespace: testsvc.Namespace(t), Logger: logger()}}
	f.open = func() *governor.Governor {
		g, err := governor.Open(t.Context(), f.cfg)
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	g := f.governor()
	conn, err := amqp.Dial(f.cfg.AMQP)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	ch, err := conn.Channel()
	if err != nil {
		t.Fatal(err)
	}
	queue := f.cfg.Namespace + "-classic"
	if _, err := ch.QueueDeclare(queue, true, false, false, false, amqp.Table{"x-max-priority": int32(5)}); err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = ch.QueueDelete(queue, false, false, false) }()
	if err := ch.Confirm(false); err != nil {
		t.Fatal(err)
	}
	const n = 5000
	var last *amqp.DeferredConfirmation
	for i := range n {
		last, err = ch.PublishWithDeferredConfirm("", queue, true, false, amqp.Publishing{DeliveryMode: 2, Priority: uint8(i % 5), MessageId: fmt.Sprint(i),
			Headers: amqp.Table{"n": int32(i), "CC": []any{}}, Body: []byte("payload")})
		if err != nil {
			t.Fatal(err)
		}
	}
	bounded, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if ok, err := last.WaitContext(bounded); err != nil || !ok {
		t.Fatalf("not confirmed: %v", err)
	}
	file := filepath.Join(t.TempDir(), "classic")
	r, err := g.Backup(t.Context(), queue, file, governor.BackupOptions{})
	if err != nil || r.Written != n {
		t.Fatalf("%v %+v", err, r)
	}
	drain := func() (order []string) {
		for {
			d, ok, err := ch.Get(queue, true)
			if err != nil {
				t.Fatal(err)
			}
			if !ok {
				return order
			}
			order = append(order, fmt.Sprint(d.Priority, d.MessageId, d.Headers["n"]))
		}
	}
	before := drain()
	if len(before) != n {
		t.Fatalf("%d left after the backup", len(before))
	}
	if res, err := g.Restore(t.Context(), file, governor.RestoreOptions{}); err != nil || res.Restored != n {
		t.Fatalf("%v %+v", err, res)
	}
	if after := drain(); !slices.Equal(after, before) {
		t.Fatalf("%d came back, or in another order", len(after))
	}
}

func TestBackupOfFortyThousand(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	onBoth(t, func(f *fleet) {
		t := f.t
		n := 40_000
		if f.cfg.AMQP == "" {
			n = 4000 // in this process alone the number shows nothing
		}
		v := newVendor()
		g, stop := f.run(crm(v))
		f.ready(g, "crm:acme/contacts")
		stop()
		g = f.governor()
		f.dispatch(g, "crm:acme/contacts", n)
		f.until("all on the runway", func() bool { return f.state(g, "crm:acme").Runway == n })
		queue, file := f.ns()+".crm:acme/contacts.runway", filepath.Join(t.TempDir(), "runway")
		r, err := g.Backup(t.Context(), queue, file, governor.BackupOptions{})
		if err != nil || r.Written != n {
			t.Fatalf("%v %+v", err, r)
		}
		t.Logf("%d messages, %d bytes in %s", r.Written, r.Bytes, r.Took)
		if a := f.state(g, "crm:acme"); a.Runway != n {
			t.Fatalf("%d left", a.Runway)
		}
	})
}
