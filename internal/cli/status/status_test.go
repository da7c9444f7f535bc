package status

import (
	"context"
	"testing"

	"github.com/traction-go/traction/internal/cli/clitest"
	"github.com/traction-go/traction/internal/cli/form"
	"github.com/traction-go/traction/internal/cli/render"
	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/governor"
)

type fake struct {
	airports  []governor.AirportInfo
	processes []governor.ProcessInfo
}

func (f fake) Airports(context.Context) ([]governor.AirportInfo, error)  { return f.airports, nil }
func (f fake) Processes(context.Context) ([]governor.ProcessInfo, error) { return f.processes, nil }

// adopting is an airport with a gate that adopts a queue, where 2,665 wait, and routes
// some of that to another gate.
func adopting(change func(own, route *governor.GateInfo)) []governor.AirportInfo {
	own := governor.GateInfo{Gate: "crm:acme/events", State: wire.Open, WorkersWanted: 4, WorkersDeclared: 4, Adopts: "events", Adopted: 2665}
	route := governor.GateInfo{Gate: "crm:acme/other", State: wire.Open, WorkersWanted: 4, WorkersDeclared: 4}
	change(&own, &route)
	return []governor.AirportInfo{{Airport: "crm:acme", State: wire.Open, Workers: 2, Runway: own.Runway + route.Runway, Adopted: own.Adopted,
		Gates: []governor.GateInfo{own, route}}}
}

func TestStatus(t *testing.T) {
	quiet := clitest.Airports()[:1]
	quiet[0].Gates[0].Parked, quiet[0].Parked = 0, 0
	for name, f := range map[string]fake{
		"trouble":    {clitest.Airports(), clitest.Processes()},
		"parked":     {clitest.Airports()[:1], clitest.Processes()},
		"quiet":      {quiet, clitest.Processes()},
		"nobody":     {clitest.Airports()[1:2], nil},
		"first-time": {nil, nil},
		"held": {adopting(func(_, route *governor.GateInfo) {
			route.State, route.Reason, route.By = wire.Paused, "schema change", "ada@desk"
		}), clitest.Processes()},
		"idle": {adopting(func(own, _ *governor.GateInfo) {
			own.Scaled, own.WorkersWanted, own.Reason = true, 0, governor.ReasonNoWorkers
		}), clitest.Processes()},
		"no-queue": {adopting(func(own, _ *governor.GateInfo) {
			own.Adopted, own.AdoptedMissing, own.Reason, own.Evidence = 0, true, governor.ReasonNoQueue, "events, which it adopts, is not there"
		}), clitest.Processes()},
		"adopts": {adopting(func(own, route *governor.GateInfo) { route.Runway = 400 }), clitest.Processes()},
	} {
		for ext, format := range map[string]render.Format{".txt": render.AsTable, ".json": render.AsJSON} {
			c := clitest.New(t, "")
			c.Output = format
			if err := run(t.Context(), &options{c.Factory, func(context.Context) (reader, error) { return f, nil }}); err != nil {
				t.Fatal(err)
			}
			clitest.Golden(t, name+ext, c.Out.Bytes())
		}
	}
}

func TestASumWithAHoleIsUnread(t *testing.T) {
	r := Survey(clitest.Airports(), clitest.Processes())
	if r.Waiting != governor.Unread || r.Parked != governor.Unread {
		t.Errorf("waiting %d, parked %d: one airport's queues were not counted, so there is no sum", r.Waiting, r.Parked)
	}
}

// A queue that is adopted counts as a backlog also where nobody is there to take from it.
func TestNobodyServesAnAdoptedBacklog(t *testing.T) {
	a := adopting(func(_, _ *governor.GateInfo) {})
	a[0].Workers = 0
	r := Survey(a, clitest.Processes())
	if want := "NO WORKER SERVES crm:acme: 0 flights wait on its runways, 2,665 in queues that are adopted"; len(r.Alarms) != 1 || r.Alarms[0] != want {
		t.Errorf("%q, want %q", r.Alarms, want)
	}
}

func TestStrictestFirst(t *testing.T) {
	a := clitest.Airports()
	form.SortAirports(a)
	r := Survey(a, clitest.Processes())
	if len(r.Attention) == 0 || r.Attention[0].State != wire.Text(wire.Stopped) || r.Attention[0].Scope != "crm:acme" {
		t.Fatalf("first is %+v, want the stopped airport", r.Attention)
	}
}
