package form

import (
	"github.com/traction-go/traction/internal/cli/render"
	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/governor"
)

// Suspect is a flight that was in the air when a worker, or its own child, died.
type Suspect struct {
	Flight      wire.Text   `json:"flight"`
	Airport     wire.Text   `json:"airport"`
	Verdict     wire.Text   `json:"verdict"` // SUSPECT or CONVICTED
	Deaths      int         `json:"deaths"`
	Workers     []wire.Text `json:"workers"`
	LastDeathAt render.Time `json:"last_death_at"`
	Incident    wire.Text   `json:"incident"` // of a conviction
}

// OfSuspect gives a suspect's form.
func OfSuspect(s governor.SuspectInfo) Suspect {
	return Suspect{Flight: wire.Text(s.Flight), Airport: wire.Text(s.Airport), Verdict: wire.Text(s.Verdict), Deaths: len(s.Workers),
		Workers: texts(s.Workers), LastDeathAt: render.Time(s.LastDeath), Incident: wire.Text(s.Incident)}
}
