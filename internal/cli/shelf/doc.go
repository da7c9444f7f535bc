// Package shelf holds the verbs of the two places where flights wait for a human,
// parked and rejected, so that each exists once: list, show, replay and discard.
//
// # Model
//
// What is on a shelf is the broker's. Looking takes nothing. A replay's flight is
// on the shelf until its copy on the runway is confirmed, a discarded one until
// its seat in its charter is moved; the governor does both, under a lock that one
// operator holds at a time. A command that is ended in the middle has moved what
// it counts; the rest stays where it was, and the same command goes on with it.
package shelf

import (
	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/governor"
	"github.com/traction-go/traction/pkg/settle"
)

// Noun is the shelf that a verb acts on.
type Noun struct {
	Shelf   governor.Shelf
	Things  string // what lies there, in the plural
	Since   string // the column that says since when
	Reasons []settle.Reason
	Reason  settle.Reason // for the examples
}

// Name is the noun as it is typed.
func (n Noun) Name() string { return string(n.Shelf) }

// The nouns.
var (
	Parked = Noun{
		Shelf: governor.ParkedShelf, Things: "flights", Since: "PARKED", Reason: settle.ReasonGateFault,
		Reasons: []settle.Reason{
			settle.ReasonGateFault, settle.ReasonHoldBudget, settle.ReasonInternal, settle.ReasonGateStopped,
			settle.ReasonMalformed, settle.ReasonPoisonPill, settle.ReasonDeliveryLimit, settle.ReasonCharterLost,
		},
	}
	Rejected = Noun{
		Shelf: governor.RejectedShelf, Things: "records", Since: "REJECTED", Reason: governor.ReasonRejected,
		Reasons: []settle.Reason{governor.ReasonRejected, settle.ReasonMalformed},
	}
)

// list is the command that lists a scope's shelf.
func (n Noun) list(scope string) string {
	return "tractionctl " + n.Name() + " list " + wire.Visible(scope)
}
