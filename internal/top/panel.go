package top

import (
	"time"

	"github.com/traction-go/traction/internal/cli/render"
	"github.com/traction-go/traction/internal/wire"
)

// panel is a piece of the picture: the last data that could be read, when that
// was, and what went wrong since.
type panel[T any] struct {
	data T
	at   time.Time // of the data; zero: never read
	err  error     // of the last reading; nil: it succeeded
}

// take notes the outcome of a reading. A failed one leaves the data as it was.
func (p *panel[T]) take(data T, err error, at time.Time) {
	p.err = err
	if err == nil {
		p.data, p.at = data, at
	}
}

// age is the panel's line about itself.
type age struct {
	text  string
	stale bool
}

// age says how old the data is. It is stale when the last reading failed, or when
// none has come back for patience.
func (p panel[T]) age(now time.Time, patience time.Duration) age {
	switch {
	case p.at.IsZero() && p.err == nil:
		return age{text: "reading"}
	case p.at.IsZero():
		return age{"NOT READ: " + said(p.err), true}
	case p.err != nil:
		return age{"STALE " + render.Ago(now, p.at) + ": " + said(p.err), true}
	case now.Sub(p.at) > patience:
		return age{"STALE " + render.Ago(now, p.at) + ": no answer yet", true}
	}
	return age{text: "read " + render.Ago(now, p.at) + " ago"}
}

// said is an error as it may be shown on one line.
func said(err error) string { return wire.Visible(wire.Mask(err.Error())) }
