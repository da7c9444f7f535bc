package governortest_test

import (
	"context"
	"testing"
	"time"

	"github.com/traction-go/traction/pkg/governor"
	"github.com/traction-go/traction/pkg/governor/governortest"
)

// What an operator sets is there within two seconds in every process, however busy the
// gate is, and nothing is lost by it.
func TestScalingIsThereWithinTwoSeconds(t *testing.T) {
	v := &vendor{fly: func(ctx context.Context, _ governor.Flight[[]byte]) error {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(700 * time.Millisecond):
			return nil
		}
	}}
	a := crm(v)
	a.Gates[0].Workers = 1
	field := governortest.New(t, a)
	field.Start(a)
	field.DispatchAll("crm:acme/contacts", backlog(0, 100)...)
	for _, want := range []int{8, 0, 4} {
		field.Do(func(ctx context.Context, gov *governor.Governor) error {
			begin := time.Now()
			r, err := gov.Scale(ctx, "crm:acme/contacts", governor.ScaleOptions{Workers: &want})
			if took := time.Since(begin); took > 2*time.Second {
				t.Errorf("to %d workers took %v", want, took)
			}
			if len(r.Unseen) > 0 || len(r.Gate.Processes) != 2 || r.Gate.WorkersActual != 2*want {
				t.Errorf("to %d workers: %+v", want, r)
			}
			return err
		})
		field.Advance(3 * time.Second)
		if g := field.Gate("crm:acme/contacts"); g.InAir > 2*want {
			t.Errorf("%d in the air of %d workers", g.InAir, 2*want)
		}
	}
	field.Settle()
	if g := field.Gate("crm:acme/contacts"); g.Landed != 100 || v.calls != 100 {
		t.Errorf("%d landed in %d calls, want 100 and 100", g.Landed, v.calls)
	}
}
