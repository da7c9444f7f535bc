package demo

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/traction-go/traction/pkg/governor"
)

// What a statement costs: a round trip and the disk, then a little for each row.
const (
	statementTime = time.Millisecond
	rowTime       = 10 * time.Microsecond
)

// errDeadlock is what a transaction gets that was shot.
var errDeadlock = errors.New("deadlock found when trying to get lock; try restarting transaction")

// database holds the reports that are rebuilt when something happens to a payment.
// Its rows are guarded by locks that a transaction takes one after the other and
// keeps to its end. Who would close a circle of waiting transactions is shot: its
// writes are undone and its locks are free. Nothing else fails here.
//
// It keeps books of its own: the statements that it was sent, the transactions that it
// shot, and how often each payment was rebuilt.
type database struct {
	sabotage sabotage

	mu        sync.Mutex
	rows      map[row]*record
	source    map[string]int // what happened to each payment so far: what a rebuild reads
	rebuilds  map[string]int // those that were committed
	writes    int
	conflicts int
	commits   int
}

// row names one row of a report.
type row struct {
	report  string
	payment string
	line    int
}

// record is a row and who has it.
type record struct {
	holder *transaction
	queue  []*transaction // who waits, in turn
	shows  int            // how much of the source it shows; 0: there is no such row
}

func newDatabase(s sabotage) *database {
	return &database{sabotage: s, rows: map[row]*record{}, source: map[string]int{}, rebuilds: map[string]int{}}
}

// happen notes that something happened to a payment. Its event is sent after that.
func (db *database) happen(payment string) {
	db.mu.Lock()
	defer db.mu.Unlock()
	db.source[payment]++
}

// transaction is one caller's. It is no use to two goroutines.
type transaction struct {
	db      *database
	held    []*record
	before  map[*record]int // what a rollback puts back
	rebuilt map[string]int  // rows inserted, by payment
	waits   *record         // nil: it runs
	granted chan struct{}
}

// transact runs do in a transaction, and commits unless it fails.
func (db *database) transact(ctx context.Context, do func(*transaction) error) error {
	t := &transaction{db: db, before: map[*record]int{}, rebuilt: map[string]int{}, granted: make(chan struct{}, 1)}
	err := do(t)
	if err == nil {
		err = ctx.Err()
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	if err != nil {
		for rec, shows := range t.before {
			rec.shows = shows
		}
	} else {
		db.commits++
		for payment, n := range t.rebuilt {
			if n >= reportRows {
				db.rebuilds[payment]++
			}
		}
	}
	for _, rec := range t.held {
		rec.pass()
	}
	return err
}

// pass gives the row to who is next.
func (rec *record) pass() {
	rec.holder = nil
	if len(rec.queue) == 0 {
		return
	}
	next := rec.queue[0]
	rec.queue = rec.queue[1:]
	next.take(rec)
	next.waits = nil
	next.granted <- struct{}{}
}

func (t *transaction) take(rec *record) {
	rec.holder = t
	t.held = append(t.held, rec)
}

// Delete removes rows, in one statement.
func (t *transaction) Delete(ctx context.Context, rows ...row) error {
	return t.statement(ctx, rows, func(_ row, rec *record) { rec.shows = 0 })
}

// Insert writes rows from what the source holds at that moment, in one statement.
func (t *transaction) Insert(ctx context.Context, rows ...row) error {
	for _, r := range rows {
		if t.db.sabotage.vendor != nil {
			if status := t.db.sabotage.vendor(r.payment); status != 0 {
				return &governor.StatusError{Code: status, Body: "sabotage"}
			}
		}
	}
	return t.statement(ctx, rows, func(r row, rec *record) {
		t.rebuilt[r.payment]++
		if t.db.sabotage.forgets != r.payment {
			rec.shows = t.db.source[r.payment]
		}
	})
}

// statement locks the rows in the order in which it names them, and writes them.
func (t *transaction) statement(ctx context.Context, rows []row, write func(row, *record)) error {
	t.db.mu.Lock()
	t.db.writes++
	t.db.mu.Unlock()
	for _, r := range rows {
		if err := t.lock(ctx, r); err != nil {
			return err
		}
	}
	if err := pass(ctx, statementTime+time.Duration(len(rows))*rowTime); err != nil {
		return err
	}
	t.db.mu.Lock()
	defer t.db.mu.Unlock()
	for _, r := range rows {
		rec := t.db.rows[r]
		if _, touched := t.before[rec]; !touched {
			t.before[rec] = rec.shows
		}
		write(r, rec)
	}
	return nil
}

// lock takes a row, or waits for it.
func (t *transaction) lock(ctx context.Context, r row) error {
	t.db.mu.Lock()
	rec := t.db.rows[r]
	if rec == nil {
		rec = &record{}
		t.db.rows[r] = rec
	}
	switch {
	case rec.holder == t:
		t.db.mu.Unlock()
		return nil
	case rec.holder == nil:
		t.take(rec)
		t.db.mu.Unlock()
		return nil
	case t.circle(rec):
		t.db.conflicts++
		t.db.mu.Unlock()
		return errDeadlock
	}
	t.waits = rec
	rec.queue = append(rec.queue, t)
	t.db.mu.Unlock()
	select {
	case <-t.granted:
		return nil
	case <-ctx.Done():
	}
	t.db.mu.Lock()
	defer t.db.mu.Unlock()
	if t.waits != nil { // else it was given just now: the rollback passes it on
		t.waits = nil
		rec.queue = slices.DeleteFunc(rec.queue, func(other *transaction) bool { return other == t })
	}
	return ctx.Err()
}

// circle follows who waits for whom from the row's holder, and reports whether that
// leads back here. A transaction waits for one row at a time, and a row that is passed
// on goes to one that then waits for nothing: only a new wait can close a circle.
func (t *transaction) circle(rec *record) bool {
	for holder := rec.holder; holder != t; holder = holder.waits.holder {
		if holder.waits == nil {
			return false
		}
	}
	return true
}

func pass(ctx context.Context, d time.Duration) error {
	wait := time.NewTimer(d)
	defer wait.Stop()
	select {
	case <-wait.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// dbBooks is what the database counted.
type dbBooks struct {
	writes, conflicts, commits int
	rebuilds                   int // of all payments
	payments                   int // to which something happened
	stale                      int // payments with a row that does not show all that happened
}

func (db *database) books() dbBooks {
	db.mu.Lock()
	defer db.mu.Unlock()
	b := dbBooks{writes: db.writes, conflicts: db.conflicts, commits: db.commits, payments: len(db.source)}
	for payment, happened := range db.source {
		b.rebuilds += db.rebuilds[payment]
		for _, r := range rowsOf(payment) {
			if rec := db.rows[r]; rec == nil || rec.shows != happened {
				b.stale++
				break
			}
		}
	}
	return b
}
