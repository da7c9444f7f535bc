package demo

import (
	"context"
	"errors"
	"iter"
	"strconv"
	"time"

	"github.com/traction-go/traction/pkg/governor"
)

const (
	runID    = "import-7"
	runScope = gateScope + "/" + runID

	// badEvery is how often a record of the bulk run is one the vendor refuses.
	badEvery = 50
)

// bulk is the charter scenario as it goes on.
type bulk struct {
	*act
	vendor *vendor
	crm    *crm
	before int // landings when the abort was answered
	info   governor.CharterInfo
}

// bulkRun is a bulk run of the wrong list, aborted part way: every flight of it is
// accounted for, by the vendor's books too.
func bulkRun(ctx context.Context, st *stage) (res *Result, err error) {
	b := &bulk{act: newAct(st, "charter")}
	st.Narrator.Say("charter: a bulk run of %s contacts; part way somebody sees that it is the wrong list", count(b.n))
	if b.vendor, err = startVendor(st.sabotage); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, b.vendor.close()) }()
	b.crm = newCRM(b.vendor)
	defer b.crm.close()
	b.crm.fix()
	return b.play(ctx, governor.Airport{
		ID:    airportID,
		Slots: governor.Slots{N: b.Rate + b.sabotage.slots, Per: window},
		Gates: []governor.Gate{{
			ID: gateID, Workers: workers, Timeout: 10 * time.Second,
			Pilot: governor.JSON(func(ctx context.Context, f governor.Flight[contact]) error { return b.crm.Upsert(ctx, f.Payload) }),
		}},
	}, b.books, b.dispatch, b.abort, b.balance)
}

// source gives the run's contacts. Some have no id, which the vendor refuses.
func (b *bulk) source() iter.Seq2[governor.Outgoing, error] {
	return func(yield func(governor.Outgoing, error) bool) {
		for i := range b.n {
			c := contactNumber(i)
			id := c.ID
			if i%badEvery == badEvery/10 {
				c.ID = ""
			}
			if !yield(governor.Outgoing{Payload: c.payload(), BusinessID: id, ContentType: "application/json"}, nil) {
				return
			}
		}
	}
}

func (b *bulk) dispatch(ctx context.Context) (bool, error) {
	b.shell("dispatch " + gateScope + " --file contacts.jsonl --business-id /id --charter " + runID + " --expected " + strconv.Itoa(b.n))
	sent, err := b.desk.DispatchCharter(ctx, gateScope, governor.CharterSpec{Run: runID, Expected: b.n}, b.source)
	if err != nil {
		return false, err
	}
	b.Narrator.Say("    dispatched %s flights", count(sent.Sent))
	want(b.res, "dispatched", sent.Sent, b.n)
	return true, nil
}

// abort waits for the first quarter, then ends the run.
func (b *bulk) abort(ctx context.Context) (bool, error) {
	landed := 0
	ok, err := watch(ctx, b.stage, func(ctx context.Context) (int, bool, error) {
		landed, _ = b.vendor.landed()
		b.Narrator.Progress("  landed %s of %s", count(landed), count(b.n))
		return landed, landed >= b.n/4, nil
	})
	b.res.check(ok, "landed before the abort: %d, want %d", landed, b.n/4)
	if err != nil || !ok {
		return false, err
	}
	b.Narrator.Say("  after %s landings:", count(landed))
	b.shell("charter abort " + runScope + " --confirm " + runScope)
	if _, err := b.desk.AbortCharter(ctx, runScope, runScope, "", "wrong list"); err != nil {
		return false, err
	}
	b.before, _ = b.vendor.landed()
	return true, nil
}

// balance waits until the books balance and the tower has told so.
func (b *bulk) balance(ctx context.Context) (bool, error) {
	began := time.Now()
	_, err := watch(ctx, b.stage, func(ctx context.Context) (seen [2]int, done bool, err error) {
		b.info, err = b.desk.Charter(ctx, runScope)
		told := len(b.pager.taken())
		b.Narrator.Progress("  accounted for %s of %s", count(b.info.Books.Ended()), count(b.n))
		return [2]int{b.info.Books.Ended(), told}, b.info.Books.Complete() && told > 0, err
	})
	k := b.info.Books
	b.Narrator.Say("    %s %s after %s: expected %s = landed %s + rejected %s + skipped %s + parked %s + discarded %s", runScope, b.info.State, seconds(began),
		count(k.Expected), count(k.Landed), count(k.Rejected), count(k.Skipped), count(k.Parked), count(k.Discarded))
	return err == nil, err
}

// books measures what is left when the fleet has drained.
func (b *bulk) books(ctx context.Context) error {
	a, err := b.look(ctx)
	if err != nil {
		return err
	}
	if b.info, err = b.desk.Charter(ctx, runScope); err != nil {
		return err
	}
	stray, err := b.stray(ctx)
	if err != nil {
		return err
	}
	landed, writes := b.vendor.landed()
	told := b.pager.taken()
	k, r := b.info.Books, b.res
	r.fact("expected", k.Expected)
	r.fact("landed", k.Landed)
	r.fact("rejected", k.Rejected)
	r.fact("skipped", k.Skipped)
	r.fact("parked", k.Parked)
	r.fact("pending", k.Pending())
	r.fact("landed after the abort", landed-b.before)

	want(r, "state", b.info.State, governor.CharterAborted)
	want(r, "pending", k.Pending(), 0)
	want(r, "landed, by the vendor's books", landed, k.Landed)
	want(r, "writes", writes, landed)
	want(r, "rejected records kept", a.Rejected, k.Rejected)
	want(r, "parked", a.Parked, k.Parked)
	want(r, "parked", k.Parked, 0)
	want(r, "waiting or dead-lettered", a.Runway+a.Holding+stray, 0)
	r.check(k.Rejected > 0 && k.Skipped > 0, "rejected %d and skipped %d, want some of both", k.Rejected, k.Skipped)
	// What was in the air finishes; nothing takes off after it.
	r.check(landed-b.before <= processes*workers, "landed after the abort: %d, want at most the %d in the air", landed-b.before, processes*workers)
	want(r, "notifications", len(told), 1)
	for _, t := range told {
		want(r, "notification", t.Type+" "+t.Scope, "CHARTER_COMPLETE "+runScope)
	}
	return nil
}
