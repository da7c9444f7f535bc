package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
)

// The reports of a payment, and how many rows each of them has.
var reports = []string{"loans", "reconciliation", "schedule"}

const (
	reportLines = 2
	reportRows  = 3 * reportLines // of one payment

	// kinds is how many events a payment sends, and abreast how many payments send
	// theirs at the same time.
	kinds   = 5
	abreast = 5
)

// event says that something happened to a payment.
type event struct {
	Payment paymentRef `json:"payment"`
	Kind    int        `json:"kind"` // which of the five
}

type paymentRef struct {
	ID string `json:"id"`
}

// eventNumber gives the events in the order in which they are sent: a few payments
// at a time, the first event of each, then the second of each.
func eventNumber(i int) event {
	group, nth := i/(kinds*abreast), i%(kinds*abreast)
	return event{paymentRef{fmt.Sprintf("pay-%05d", group*abreast+nth%abreast+1)}, nth / abreast}
}

func (e event) id() string { return fmt.Sprintf("%s/%d", e.Payment.ID, e.Kind) }

// payload is the event as it travels. It always encodes.
func (e event) payload() []byte {
	b, _ := json.Marshal(e)
	return b
}

// rowsOf names every row of a payment's reports, in the order of the tables.
func rowsOf(payment string) []row {
	rows := make([]row, 0, reportRows)
	for _, report := range reports {
		for line := range reportLines {
			rows = append(rows, row{report, payment, line})
		}
	}
	return rows
}

// rebuildOne is the plain consumer's: it rewrites the payment's rows one by one,
// beginning with the report that the event is about. Each kind of event was written
// by somebody else, and there is no order that all of them keep.
func rebuildOne(ctx context.Context, db *database, e event) error {
	rows := rowsOf(e.Payment.ID)
	if !db.sabotage.fixed {
		from := e.Kind % len(rows)
		rows = append(rows[from:], rows[:from]...)
	}
	return db.transact(ctx, func(t *transaction) error {
		for _, r := range rows {
			if err := t.Delete(ctx, r); err != nil {
				return err
			}
			if err := t.Insert(ctx, r); err != nil {
				return err
			}
		}
		return nil
	})
}

// rebuildAll rewrites the reports of several payments: each table once, the rows in
// order, in one transaction.
func rebuildAll(ctx context.Context, db *database, payments []string) error {
	slices.Sort(payments)
	return db.transact(ctx, func(t *transaction) error {
		for _, report := range reports {
			var rows []row
			for _, p := range payments {
				for line := range reportLines {
					rows = append(rows, row{report, p, line})
				}
			}
			if err := t.Delete(ctx, rows...); err != nil {
				return err
			}
			if err := t.Insert(ctx, rows...); err != nil {
				return err
			}
		}
		return nil
	})
}
