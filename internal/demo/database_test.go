package demo

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
)

// hold runs a transaction that takes the first row, says so, waits for the word, and
// takes the others.
func hold(ctx context.Context, db *database, word <-chan struct{}, first row, then ...row) (has <-chan struct{}, end <-chan error) {
	ended, took := make(chan error, 1), make(chan struct{})
	go func() {
		ended <- db.transact(ctx, func(t *transaction) error {
			if err := t.Insert(ctx, first); err != nil {
				return err
			}
			close(took)
			<-word
			for _, r := range then {
				if err := t.Insert(ctx, r); err != nil {
					return err
				}
			}
			return nil
		})
	}()
	synctest.Wait()
	return took, ended
}

func TestWhoClosesACircleIsShot(t *testing.T) {
	for _, n := range []int{2, 3, 7} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				db := newDatabase(sabotage{})
				db.happen("p")
				at := func(i int) row { return row{"circle", "p", i % n} }
				var words []chan struct{}
				var ends []<-chan error
				for i := range n {
					words = append(words, make(chan struct{}))
					has, end := hold(t.Context(), db, words[i], at(i), at(i+1))
					<-has
					ends = append(ends, end)
				}
				for i := range n - 1 {
					close(words[i])
					synctest.Wait()
					if b := db.books(); b.conflicts != 0 {
						t.Fatalf("%d of %d wait, and one was shot already", i+1, n)
					}
				}
				close(words[n-1])
				if err := <-ends[n-1]; !errors.Is(err, errDeadlock) {
					t.Fatalf("who closed the circle got %v, want %v", err, errDeadlock)
				}
				for i := range n - 1 {
					if err := <-ends[i]; err != nil {
						t.Errorf("transaction %d: %v", i, err)
					}
				}
				if b := db.books(); b.conflicts != 1 || b.commits != n-1 || b.writes != 2*n {
					t.Errorf("%+v", b)
				}
				free(t, db)
			})
		})
	}
}

// free fails where a row is still held or waited for.
func free(t *testing.T, db *database) {
	t.Helper()
	db.mu.Lock()
	defer db.mu.Unlock()
	for r, rec := range db.rows {
		if rec.holder != nil || len(rec.queue) > 0 {
			t.Errorf("%v is held or waited for", r)
		}
	}
}

func TestAnEndedWaitLeavesTheQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := newDatabase(sabotage{})
		db.happen("p")
		word, now := make(chan struct{}), make(chan struct{})
		close(now)
		r := row{"queue", "p", 0}
		_, first := hold(t.Context(), db, word, r)
		ctx, cancel := context.WithCancel(t.Context())
		_, second := hold(ctx, db, now, r)
		_, third := hold(t.Context(), db, now, r)
		cancel()
		if err := <-second; !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want %v", err, context.Canceled)
		}
		close(word)
		if err := errors.Join(<-first, <-third); err != nil {
			t.Error(err)
		}
		free(t, db)
	})
}

func TestARollbackPutsBackWhatStood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := newDatabase(sabotage{})
		db.happen("p")
		if err := rebuildAll(t.Context(), db, []string{"p"}); err != nil {
			t.Fatal(err)
		}
		failed := errors.New("no")
		err := db.transact(t.Context(), func(tx *transaction) error {
			return errors.Join(tx.Delete(t.Context(), rowsOf("p")...), failed)
		})
		if b := db.books(); !errors.Is(err, failed) || b.stale != 0 || b.commits != 1 || b.rebuilds != 1 {
			t.Errorf("%v: %+v", err, b)
		}
		db.happen("p")
		if b := db.books(); b.stale != 1 {
			t.Errorf("a report that misses an event is not seen: %+v", b)
		}
		free(t, db)
	})
}

// What the scenario rests on: no common order fights, a common one does not.
func TestOrderDecides(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db, wg := newDatabase(sabotage{}), sync.WaitGroup{}
		for i := range 20 * kinds * abreast {
			e := eventNumber(i)
			db.happen(e.Payment.ID)
			wg.Go(func() {
				for errors.Is(rebuildOne(t.Context(), db, e), errDeadlock) {
				}
			})
		}
		wg.Wait()
		if b := db.books(); b.conflicts == 0 || b.stale != 0 || b.payments != 20*abreast || b.commits != 20*kinds*abreast || b.rebuilds != b.commits {
			t.Errorf("one by one: %+v", b)
		}
		free(t, db)
	})
	synctest.Test(t, func(t *testing.T) {
		db, wg := newDatabase(sabotage{}), sync.WaitGroup{}
		all := []string{"a", "b", "c", "d", "e", "f", "g"}
		for _, p := range all {
			db.happen(p)
		}
		for range 100 {
			mine := append([]string(nil), all...)
			rand.Shuffle(len(mine), func(i, k int) { mine[i], mine[k] = mine[k], mine[i] })
			wg.Go(func() {
				if err := rebuildAll(t.Context(), db, mine[:5]); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if b := db.books(); b.conflicts != 0 || b.commits != 100 || b.writes != 100*2*len(reports) || b.rebuilds != 500 {
			t.Errorf("in batches: %+v", b)
		}
		free(t, db)
	})
}
