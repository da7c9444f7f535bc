package governor_test

import (
	"context"
	"fmt"

	"github.com/traction-go/traction/pkg/governor"
)

type event struct {
	Payment struct {
		ID string `json:"id"`
	} `json:"payment"`
}

// A database that is written once for a batch, not once for an event.
type reports struct{}

func (reports) Rebuild(ctx context.Context, payments []string) error { return nil }

// Several events in one call, and one rebuild for all events of a payment.
func ExampleBatch() {
	byPayment, err := governor.PointerKey("/payment/id")
	if err != nil {
		fmt.Println(err)
		return
	}
	gate := governor.Gate{ID: "events", Workers: 4, Batch: &governor.Batch{
		Size:   25,
		Dedupe: byPayment, // of five events of one payment the newest is sent
		Pilot: governor.JSONBatch(func(ctx context.Context, flights []governor.Flight[event]) error {
			var ids []string
			for _, f := range flights {
				ids = append(ids, f.Payload.Payment.ID)
			}
			return reports{}.Rebuild(ctx, ids)
		}),
	}}
	fmt.Println(governor.Airport{ID: "bank:acme", Gates: []governor.Gate{gate}}.Validate())
	// Output: <nil>
}
