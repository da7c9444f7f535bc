package advice

import (
	"strings"
	"testing"

	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/governor"
)

func TestNext(t *testing.T) {
	for state, want := range map[governor.State]string{
		wire.Open:      "",
		wire.Stopped:   "tractionctl gate reopen crm:acme/sync",
		wire.Paused:    "tractionctl gate resume crm:acme/sync",
		wire.Canary:    "1 of 3 canary flights landed",
		wire.Throttled: "goes on by itself",
		wire.Delayed:   "a probe lands",
		wire.Birth:     "tractionctl gate show crm:acme/sync",
		wire.Unknown:   "tractionctl gate show crm:acme/sync",
	} {
		got := Next(Scope{Name: "crm:acme/sync", State: state, Canary: 3, Landed: 1})
		if want == "" && len(got) > 0 || want != "" && (len(got) != 1 || !strings.Contains(got[0], want)) {
			t.Errorf("%s: got %q, want %q", state, got, want)
		}
	}
}

func TestFirstTheStopThenTheReplay(t *testing.T) {
	got := Next(Scope{Name: "crm:acme", State: wire.Stopped, Parked: 4})
	if len(got) != 2 || !strings.Contains(got[0], "airport reopen") || !strings.Contains(got[1], "afterwards: tractionctl parked replay crm:acme") {
		t.Errorf("got %q", got)
	}
	if got := Next(Scope{Name: "a", State: wire.Open, Parked: governor.Unread}); len(got) != 0 {
		t.Errorf("an unread count is no reason to replay: %q", got)
	}
}

// Nobody but an operator ends a removal that was killed, and nothing of the airport
// stands in its way.
func TestARemovalThatEndedIsRunAgainOrTakenBack(t *testing.T) {
	gate := governor.GateInfo{Gate: "a/in", State: wire.Removing, Parked: 3}
	got := Within(gate, governor.AirportInfo{Airport: "a", State: wire.Paused})
	want := []string{"tractionctl gate remove a/in --confirm a/in", "tractionctl gate reopen a/in"}
	if len(got) != len(want) {
		t.Fatalf("%q", got)
	}
	for i := range want {
		if !strings.Contains(got[i], want[i]) {
			t.Errorf("%q, want %q", got[i], want[i])
		}
	}
	if got := Next(Scope{Name: "a", State: wire.Removing}); len(got) != 2 || !strings.HasSuffix(got[0], "tractionctl airport remove a --confirm a") {
		t.Errorf("%q", got)
	}
}

// The way back from no workers touches nothing else that an operator has set.
func TestNoWorkersIsPutRightByWorkersAlone(t *testing.T) {
	for declared, want := range map[int]string{3: "gate scale a/in --workers 3", 0: "gate scale a/in --workers 1"} {
		gate := governor.GateInfo{Gate: "a/in", State: wire.Open, Scaled: true, WorkersDeclared: declared}
		if got := State(OfGate(gate)); len(got) != 1 || !strings.HasSuffix(got[0], want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A neighbour is blamed only where a queue waits, and nothing nearer holds the gate.
func TestHolds(t *testing.T) {
	gate := governor.GateInfo{Gate: "a/in", State: wire.Open, Adopts: "q", Adopted: 9, WorkersWanted: 4}
	stopped := governor.GateInfo{Gate: "a/out", State: wire.Stopped}
	full := governor.GateInfo{Gate: "a/out", State: wire.Open, WorkersWanted: 4, Runway: 40}
	for name, c := range map[string]struct {
		change func(g, n *governor.GateInfo, a *governor.AirportInfo)
		n      governor.GateInfo
		want   int
	}{
		"stopped":                {nil, stopped, 1},
		"full":                   {nil, full, 1},
		"adopts nothing":         {func(g, _ *governor.GateInfo, _ *governor.AirportInfo) { g.Adopts = "" }, stopped, 0},
		"nothing waits":          {func(g, _ *governor.GateInfo, _ *governor.AirportInfo) { g.Adopted = 0 }, stopped, 0},
		"stopped itself":         {func(g, _ *governor.GateInfo, _ *governor.AirportInfo) { g.State = wire.Stopped }, stopped, 0},
		"airport stopped":        {func(_, _ *governor.GateInfo, a *governor.AirportInfo) { a.State = wire.Stopped }, stopped, 0},
		"a canary takes":         {func(_, n *governor.GateInfo, _ *governor.AirportInfo) { n.State = wire.Canary }, stopped, 0},
		"room left":              {func(_, n *governor.GateInfo, _ *governor.AirportInfo) { n.Runway = 39 }, full, 0},
		"not read":               {func(_, n *governor.GateInfo, _ *governor.AirportInfo) { n.Runway = governor.Unread }, full, 0},
		"full itself":            {func(g, _ *governor.GateInfo, _ *governor.AirportInfo) { g.Runway = 40 }, full, 0},
		"slots make more room":   {func(_, _ *governor.GateInfo, a *governor.AirportInfo) { a.Slots, a.Window = 20, 1e9 }, full, 0},
		"batches make more room": {func(_, n *governor.GateInfo, _ *governor.AirportInfo) { n.Batch = 25 }, full, 0},
	} {
		g, n, a := gate, c.n, governor.AirportInfo{Airport: "a", State: wire.Open}
		if c.change != nil {
			c.change(&g, &n, &a)
		}
		a.Gates = []governor.GateInfo{g, n}
		if got := Holds(g, a); len(got) != c.want {
			t.Errorf("%s: %v, want %d", name, got, c.want)
		}
	}
}

// A gate that another's route feeds waits for that one, and for whoever holds that up.
func TestFeeders(t *testing.T) {
	own := governor.GateInfo{Gate: "a/out", State: wire.Open, WorkersWanted: 4}
	in := governor.GateInfo{Gate: "a/in", State: wire.Open, Adopts: "q", Adopted: 9, WorkersWanted: 4}
	third := governor.GateInfo{Gate: "a/third", State: wire.Open, WorkersWanted: 4}
	for name, c := range map[string]struct {
		change func(own, in, third *governor.GateInfo, a *governor.AirportInfo)
		want   string // who is waited for
		next   string
	}{
		"all open":           {func(_, _, _ *governor.GateInfo, _ *governor.AirportInfo) {}, "", ""},
		"stopped":            {func(_, in, _ *governor.GateInfo, _ *governor.AirportInfo) { in.State = wire.Stopped }, "a/in", "gate reopen a/in"},
		"without workers":    {func(_, in, _ *governor.GateInfo, _ *governor.AirportInfo) { in.Scaled, in.WorkersWanted = true, 0 }, "a/in", "gate scale a/in"},
		"held up by a third": {func(_, _, third *governor.GateInfo, _ *governor.AirportInfo) { third.State = wire.Paused }, "a/third", "gate resume a/third"},
		"the third is full":  {func(_, _, third *governor.GateInfo, _ *governor.AirportInfo) { third.Runway = 40 }, "", ""},
		"adopts nothing":     {func(_, in, _ *governor.GateInfo, _ *governor.AirportInfo) { in.State, in.Adopts = wire.Stopped, "" }, "", ""},
		"nothing waits":      {func(_, in, _ *governor.GateInfo, _ *governor.AirportInfo) { in.State, in.Adopted = wire.Stopped, 0 }, "", ""},
		"stopped itself": {func(own, in, _ *governor.GateInfo, _ *governor.AirportInfo) {
			in.State, own.State = wire.Stopped, wire.Stopped
		}, "", ""},
		"has what to fly": {func(own, in, _ *governor.GateInfo, _ *governor.AirportInfo) { in.State, own.Runway = wire.Stopped, 3 }, "", ""},
		"the airport stopped": {func(_, in, _ *governor.GateInfo, a *governor.AirportInfo) {
			in.State, a.State = wire.Stopped, wire.Stopped
		}, "", ""},
	} {
		g, f, n, a := own, in, third, governor.AirportInfo{Airport: "a", State: wire.Open}
		c.change(&g, &f, &n, &a)
		a.Gates = []governor.GateInfo{g, f, n}
		got := Feeders(g, a)
		if c.want == "" {
			if len(got) > 0 {
				t.Errorf("%s: %+v, want none", name, got)
			}
			continue
		}
		if len(got) != 1 || got[0].Gate != c.want || !strings.Contains(got[0].So, "nothing comes from q") || !strings.Contains(strings.Join(Within(g, a), "\n"), c.next) {
			t.Errorf("%s: %+v, next %q", name, got, Within(g, a))
		}
	}
}

// A gate that nobody serves says how to start somebody.
func TestAGateThatNobodyServes(t *testing.T) {
	served := governor.GateInfo{Gate: "a/in", State: wire.Open, WorkersWanted: 3, WorkersActual: 3}
	idle := governor.GateInfo{Gate: "a/in", State: wire.Open, Scaled: true, Processes: []governor.Staff{{Process: "w1"}}}
	alone := governor.GateInfo{Gate: "a/in", State: wire.Open, WorkersWanted: 3}
	for want, gates := range map[bool][]governor.GateInfo{false: {served, idle}, true: {alone}} {
		for _, g := range gates {
			lines := Within(g, governor.AirportInfo{Airport: "a", State: wire.Open, Gates: []governor.GateInfo{g}})
			if got := strings.Contains(strings.Join(lines, "\n"), Start); got != want {
				t.Errorf("%+v: %q", g, lines)
			}
		}
	}
}
