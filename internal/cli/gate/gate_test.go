package gate

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/traction-go/traction/internal/cli/clitest"
	"github.com/traction-go/traction/internal/cli/exit"
	"github.com/traction-go/traction/internal/cli/render"
	"github.com/traction-go/traction/pkg/governor"
)

// fleet is what there is to list and show.
type fleet []governor.AirportInfo

func (f fleet) Airports(context.Context) ([]governor.AirportInfo, error) { return f, nil }

func (f fleet) Airport(_ context.Context, id string) (governor.AirportInfo, error) {
	for _, a := range f {
		if a.Airport == id {
			return a, nil
		}
	}
	return governor.AirportInfo{}, governor.ErrNotFound
}

func TestList(t *testing.T) {
	for name, f := range map[string]render.Format{"list.txt": render.AsTable, "list.json": render.AsJSON} {
		c := clitest.New(t, "")
		c.Output = f
		if err := runList(t.Context(), &listOptions{Factory: c.Factory, Open: func(context.Context) (lister, error) { return fleet(clitest.Airports()), nil }}); err != nil {
			t.Fatal(err)
		}
		clitest.Golden(t, name, c.Out.Bytes())
	}
}

func TestListParses(t *testing.T) {
	for args, code := range map[string]int{"": 0, "crm:acme": 0, "crm:acme/contact-sync": 2, "a b": 2, "/": 2} {
		cmd := newList(clitest.New(t, "").Factory, func(_ context.Context, o *listOptions) error {
			if o.Airport != args {
				t.Errorf("%q: got airport %q", args, o.Airport)
			}
			return nil
		})
		cmd.SilenceErrors, cmd.SilenceUsage = true, true
		cmd.SetOut(io.Discard)
		cmd.SetArgs(strings.Fields(args))
		if err := cmd.ExecuteContext(t.Context()); exit.Code(err) != code {
			t.Errorf("%q: %v, want code %d", args, err, code)
		}
	}
}

// busy is a gate that adopts a queue and is at work.
func busy() governor.GateInfo {
	return governor.GateInfo{Gate: "crm:acme/events", State: governor.OpenState, Since: clitest.Now.Add(-time.Hour), WorkersWanted: 4, WorkersActual: 4, Batch: 1,
		Runway: 180, Holding: 5, InAir: 4, Landed: 120_400, Acked: 121_234, Pace: governor.Pace{PerSecond: 0.42, Over: 10*time.Minute + 7*time.Second},
		Drain: 2 * time.Hour, Ceiling: governor.Ceiling{By: governor.ByWorkers, PerSecond: 4.0 / 9}, Call: 9 * time.Second, Fresh: 7, Scars: 812,
		Oldest: clitest.Now.Add(-26 * time.Hour), Adopts: "events\x1b[2J", Adopted: 2840, AdoptedOldest: clitest.Now.Add(-25 * time.Hour)}
}

// crm is an open airport with the gates.
func crm(gates ...governor.GateInfo) governor.AirportInfo {
	return governor.AirportInfo{Airport: "crm:acme", State: governor.OpenState, Since: clitest.Now.Add(-time.Hour), Gates: gates}
}

// A gate says how far it has come, how old what waits is, and what bounds it; and what
// keeps it from flying, whether that is itself, its airport or a neighbour.
func TestShow(t *testing.T) {
	stopped := crm(busy())
	stopped.State, stopped.Reason, stopped.Evidence = governor.Stopped, "AIRPORT_FAULT", clitest.Evil
	paused := crm(busy())
	paused.State, paused.Reason, paused.By = governor.Paused, "vendor maintenance", "ada@desk"
	throttled := crm(busy())
	throttled.State, throttled.Reason, throttled.ThrottledUntil = governor.Throttled, "RATE_LIMIT", clitest.Now.Add(time.Minute)
	held := busy()
	held.Runway, held.InAir = 0, 0
	neighbours := crm(held,
		governor.GateInfo{Gate: "crm:acme/other", State: governor.Stopped, WorkersWanted: 4, Runway: 12},
		governor.GateInfo{Gate: "crm:acme/still", State: governor.OpenState, Scaled: true},
		governor.GateInfo{Gate: "crm:acme/slow", State: governor.OpenState, WorkersWanted: 4, Runway: 70},
		governor.GateInfo{Gate: "crm:acme/well", State: governor.OpenState, WorkersWanted: 4, Runway: 30},
	)
	missing := busy()
	missing.Runway, missing.Adopted, missing.AdoptedOldest, missing.AdoptedMissing = 0, 0, time.Time{}, true
	missing.Reason, missing.Evidence = governor.ReasonNoQueue, "events\x1b[2J, which it adopts, is not there"
	for name, c := range map[string]struct {
		fleet fleet
		gate  string
	}{
		"show-busy.txt":              {fleet{crm(busy())}, "crm:acme/events"},
		"show-stopped.txt":           {clitest.Airports(), "pay:acme/refund"},
		"show-delayed.txt":           {clitest.Airports(), "pay:acme/charge"},
		"show-airport-stopped.txt":   {fleet{stopped}, "crm:acme/events"},
		"show-airport-paused.txt":    {fleet{paused}, "crm:acme/events"},
		"show-airport-throttled.txt": {fleet{throttled}, "crm:acme/events"},
		"show-no-queue.txt":          {fleet{crm(missing)}, "crm:acme/events"},
		"show-fed.txt": {fleet{crm(
			governor.GateInfo{Gate: "crm:acme/events", State: governor.Stopped, WorkersWanted: 4, Adopts: "events\x1b[2J", Adopted: 2840},
			governor.GateInfo{Gate: "crm:acme/other", State: governor.OpenState, WorkersWanted: 4},
		)}, "crm:acme/other"},
		"show-held.txt": {fleet{neighbours}, "crm:acme/events"},
	} {
		cmd := clitest.New(t, "")
		opts := &showOptions{cmd.Factory, func(context.Context) (shower, error) { return c.fleet, nil }, c.gate}
		if err := runShow(t.Context(), opts); err != nil {
			t.Fatal(err)
		}
		clitest.Golden(t, name, cmd.Out.Bytes())
	}
	cmd := clitest.New(t, "")
	opts := &showOptions{cmd.Factory, func(context.Context) (shower, error) { return fleet{crm(busy())}, nil }, "crm:acme/gone"}
	if err := runShow(t.Context(), opts); !errors.Is(err, governor.ErrNotFound) || err.Error() != "gate crm:acme/gone: not found in namespace tr" {
		t.Errorf("a gate that is not there: %v", err)
	}
}

// Of the gates that are open the list says which wait for somebody else.
func TestListSaysWhoIsWaitedFor(t *testing.T) {
	held := busy()
	held.Runway = 0
	c := clitest.New(t, "")
	all := fleet{crm(held, governor.GateInfo{Gate: "crm:acme/other", State: governor.Stopped, Reason: "GATE_FAULT"})}
	if err := runList(t.Context(), &listOptions{Factory: c.Factory, Airport: "crm:acme", Open: func(context.Context) (lister, error) { return all, nil }}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"waits, if it feeds crm:acme/other: that is STOPPED", "ADOPTED  REASON", "  2,840  waits"} {
		if !strings.Contains(c.Out.String(), want) {
			t.Errorf("no %q in\n%s", want, c.Out)
		}
	}
}
