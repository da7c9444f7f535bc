package form

import (
	"time"

	"github.com/traction-go/traction/internal/cli/render"
	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/governor"
)

// Staff is what one process has at a gate.
type Staff struct {
	Process wire.Text    `json:"process"`
	Workers render.Count `json:"workers"`
	Batch   int          `json:"batch"`
}

func staff(g governor.GateInfo) []Staff {
	return Each(g.Processes, func(s governor.Staff) Staff {
		return Staff{wire.Text(s.Process), render.Count(s.Workers), s.Batch}
	})
}

// ScaledBy says who scaled the gate and when. A store that lost its memory gets the
// numbers back from the processes, which never knew that.
func ScaledBy(g governor.GateInfo, now time.Time) string {
	switch {
	case g.ScaledBy == "" && g.ScaledAt.IsZero():
		return "by an operator; by whom and when is lost with what the store forgot"
	case g.ScaledBy == "":
		return "by somebody, " + render.Since(now, g.ScaledAt)
	case g.ScaledAt.IsZero():
		return "by " + wire.Visible(g.ScaledBy)
	}
	return "by " + wire.Visible(g.ScaledBy) + ", " + render.Since(now, g.ScaledAt)
}
