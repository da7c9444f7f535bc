package governor_test

import (
	"context"
	"testing"
	"time"

	"github.com/traction-go/traction/pkg/governor"
)

// A store that was emptied while nobody lived forgets what an operator has scaled. A
// pause that is set before the airport is reopened keeps the gate still.
func TestAScaleIsForgottenWithTheStoreAndAPauseKeepsTheGateStill(t *testing.T) {
	onFragile(t, func(f *fleet, s fragile) {
		const gate = "crm:acme/contacts"
		v := newVendor()
		g, stop := f.run(crm(v))
		f.until("the gate", func() bool { _, err := g.Gate(f.t.Context(), gate); return err == nil })
		none := 0
		ctx, cancel := context.WithTimeout(f.t.Context(), patience)
		defer cancel()
		if _, err := g.Scale(ctx, gate, governor.ScaleOptions{Workers: &none}); err != nil {
			f.t.Fatal(err)
		}
		f.dispatch(g, gate, 5)
		stop()
		s.flush()

		g2, _ := f.run(crm(v))
		of := func() governor.GateInfo {
			info, _ := g2.Gate(f.t.Context(), gate)
			return info
		}
		f.until("the loss", func() bool { return of().Reason == "STATE_LOST" })
		if _, err := g2.Pause(ctx, gate, governor.PauseOptions{Reason: "as before"}); err != nil {
			f.t.Fatal(err)
		}
		if _, err := g2.Reopen(ctx, "crm:acme", governor.ReopenOptions{}); err != nil {
			f.t.Fatal(err)
		}
		f.until("the airport", func() bool { return f.state(g2, "crm:acme").State == governor.OpenState })
		f.stays("without a call", 3*time.Second, func() bool { return v.calls.Load() == 0 && of().State != governor.OpenState })
		if info := of(); info.Scaled || info.WorkersWanted == 0 {
			f.t.Errorf("%+v: want what is declared", info)
		}
		if _, err := g2.Reopen(ctx, gate, governor.ReopenOptions{}); err != nil {
			f.t.Fatal(err)
		}
		f.until("5 landings", func() bool { n, _ := v.count(); return n == 5 })
	})
}
