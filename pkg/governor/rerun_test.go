package governor_test

import (
	"context"
	"testing"
)

// The store remembers the first Run of a process: the last call of each lane, under
// its number. The second Run is somebody else.
func TestASecondRunFliesLikeTheFirst(t *testing.T) {
	onBoth(t, func(f *fleet) {
		v := newVendor()
		g := f.governor()
		for round := range 2 {
			ctx, stop := context.WithCancel(f.t.Context())
			ran := make(chan error, 1)
			go func() { ran <- g.Run(ctx, crm(v)) }()
			f.until("the gate is declared", func() bool { return g.Stats().Gates["crm:acme/contacts"].Declared })
			f.dispatch(g, "crm:acme/contacts", 50)
			f.until("its landings", func() bool { _, n := v.count(); return n >= 50*(round+1) })
			stop()
			if err := <-ran; err != nil {
				f.t.Fatal(err)
			}
			if _, n := v.count(); n != 50*(round+1) {
				f.t.Errorf("%d landings in round %d", n, round+1)
			}
		}
	})
}
