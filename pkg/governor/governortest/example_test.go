package governortest_test

import (
	"testing"

	"github.com/traction-go/traction/pkg/governor"
	"github.com/traction-go/traction/pkg/governor/governortest"
)

// A dead token stops the airport at the first answer and keeps the flight.
func ExampleNew() {
	test := func(t *testing.T) {
		field := governortest.New(t, crm(&vendor{err: errAuth})) // in process, virtual time
		field.Dispatch("crm:acme/contacts", contact{ID: "7"})
		field.Settle() // until nothing can move
		if a := field.Airport("crm:acme"); a.State != governor.Stopped || a.Waiting != 1 {
			t.Fatalf("%+v", a)
		}
	}
	_ = test
}
