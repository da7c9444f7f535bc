package governortest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/traction-go/traction/pkg/governor"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	errAuth     = errors.New("401 token expired")
	errGate     = errors.New("404 no such endpoint")
	errRecord   = errors.New("422 email is not valid")
	errConflict = errors.New("deadlock detected")
	errDown     = &governor.StatusError{Code: 503, Body: "down for maintenance"}
)

type contact struct{ ID string }

// vendor is what the pilots call: it counts, and answers with err, or as fly says.
type vendor struct {
	err error
	fly func(ctx context.Context, f governor.Flight[[]byte]) error

	mu     sync.Mutex
	calls  int
	at     []time.Time    // of each call, by the field's clock
	landed map[string]int // by gate and business id
}

// answers changes what the vendor says while flights may be in the air.
func (v *vendor) answers(err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.err = err
}

func (v *vendor) Fly(ctx context.Context, f governor.Flight[[]byte]) error {
	v.mu.Lock()
	v.calls++
	v.at = append(v.at, time.Now())
	err := v.err
	v.mu.Unlock()
	if v.fly != nil {
		err = v.fly(ctx, f)
	}
	if err == nil {
		v.mu.Lock()
		defer v.mu.Unlock()
		if v.landed == nil {
			v.landed = map[string]int{}
		}
		v.landed[f.Scope+" "+f.BusinessID]++
	}
	return err
}

func report(ctx context.Context, m governor.Meta, err error) governor.Report {
	switch {
	case errors.Is(err, errAuth):
		return governor.AirportFault(err)
	case errors.Is(err, errGate):
		return governor.GateFault(err)
	case errors.Is(err, errRecord):
		return governor.FlightFault(err)
	case errors.Is(err, errConflict):
		return governor.Conflict(err)
	}
	return governor.DefaultReporter(ctx, m, err)
}

// crm is an airport with the gates named, or one called contacts, all of which
// call v.
func crm(v *vendor, gates ...string) governor.Airport {
	if len(gates) == 0 {
		gates = []string{"contacts"}
	}
	a := governor.Airport{ID: "crm:acme", Reporter: report}
	for _, id := range gates {
		a.Gates = append(a.Gates, governor.Gate{ID: id, Pilot: v})
	}
	return a
}

// backlog makes flights with the business ids from..from+n-1.
func backlog(from, n int) []governor.Outgoing {
	var out []governor.Outgoing
	for i := range n {
		id := fmt.Sprintf("b%d", from+i)
		body, _ := json.Marshal(contact{ID: id}) // a string in a struct always marshals
		out = append(out, governor.Outgoing{Payload: body, BusinessID: id})
	}
	return out
}
