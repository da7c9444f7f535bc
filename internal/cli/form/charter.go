package form

import (
	"github.com/traction-go/traction/internal/cli/render"
	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/governor"
)

// Charter is a bulk run with its books.
type Charter struct {
	Charter    wire.Text   `json:"charter"`
	State      wire.Text   `json:"state"` // OPEN, COMPLETE, ABORTED or LOST
	Expected   int         `json:"expected"`
	Landed     int         `json:"landed"`
	Rejected   int         `json:"rejected"`
	Skipped    int         `json:"skipped"`
	Parked     int         `json:"parked"`
	Discarded  int         `json:"discarded"`
	Pending    int         `json:"pending"`    // the rest: they add up to expected
	Dispatched int         `json:"dispatched"` // those of pending that are on their way
	OpenedAt   render.Time `json:"opened_at"`
	OpenedBy   wire.Text   `json:"opened_by"`
	ToldAt     render.Time `json:"told_at"`
	EtaS       *float64    `json:"eta_s"` // null: complete, or not to be told
}

// OfCharter gives a run's form.
func OfCharter(c governor.CharterInfo) Charter {
	var eta *float64
	if c.ETA > 0 {
		s := c.ETA.Seconds()
		eta = &s
	}
	b := c.Books
	return Charter{
		Charter: wire.Text(c.Charter), State: wire.Text(c.State), Expected: b.Expected, Landed: b.Landed, Rejected: b.Rejected,
		Skipped: b.Skipped, Parked: b.Parked, Discarded: b.Discarded, Pending: b.Pending(), Dispatched: b.Dispatched,
		OpenedAt: render.Time(c.OpenedAt), OpenedBy: wire.Text(c.OpenedBy), ToldAt: render.Time(c.ToldAt), EtaS: eta,
	}
}
