package gate

import (
	"fmt"
	"strings"
	"time"

	"github.com/traction-go/traction/internal/cli/form"
	"github.com/traction-go/traction/internal/cli/render"
	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/governor"
)

// staff says what the gate has in each process: what is wanted, then who has
// something else.
func staff(g governor.GateInfo, now time.Time) []render.Field {
	wanted := fmt.Sprintf("%s wanted per process, %s in all", render.Count(g.WorkersWanted), render.Count(g.WorkersActual))
	f := []render.Field{{Name: "workers", Value: wanted}}
	f = append(f, render.Field{Name: "batch", Value: batch(g)})
	var others []string
	for _, p := range g.Processes {
		if p.Differs(g) {
			others = append(others, fmt.Sprintf("%s has %s, batches of %d", wire.Visible(p.Process), render.Plural(render.Count(p.Workers), "worker"), p.Batch))
		}
	}
	if len(others) > 0 {
		f = append(f, render.Field{Name: "differs", Value: strings.Join(others, "; "), Style: render.Bold})
	}
	if g.Scaled {
		f = append(f, render.Field{Name: "scaled", Value: form.ScaledBy(g, now) + "; what the processes declare counts again after --reset"})
	}
	return f
}

// batch says how many flights fly in a call, also where an operator has turned batches
// off; "" for a gate that has none.
func batch(g governor.GateInfo) string {
	var s string
	switch {
	case g.Batch > 1:
		s = fmt.Sprintf("%d flights in a call", g.Batch)
	case g.BatchDeclared > 1:
		s = "1: each flight in a call of its own"
	default:
		return ""
	}
	if g.Scaled && g.Batch != g.BatchDeclared {
		s += fmt.Sprintf(", scaled from %d", max(g.BatchDeclared, 1))
	}
	return s
}
