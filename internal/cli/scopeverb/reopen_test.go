package scopeverb

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/traction-go/traction/internal/cli/clitest"
	"github.com/traction-go/traction/internal/cli/exit"
	"github.com/traction-go/traction/internal/cli/render"
	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/governor"
)

// fake answers a reopen and then one look after another; the last one stands.
type fake struct {
	got   governor.ReopenOptions
	scope string
	r     governor.Reopening
	err   error
	looks []governor.AirportInfo
	fails []error // of the looks
	n     int
}

func (f *fake) Reopen(_ context.Context, scope string, o governor.ReopenOptions) (governor.Reopening, error) {
	f.scope, f.got = scope, o
	f.r.Scope = scope
	return f.r, f.err
}

func (f *fake) Airport(context.Context, string) (governor.AirportInfo, error) {
	i := f.n
	f.n++
	if i < len(f.fails) && f.fails[i] != nil {
		return governor.AirportInfo{}, f.fails[i]
	}
	return f.looks[min(i, len(f.looks)-1)], nil
}

func reopenOptions(c clitest.Cmd, f *fake) *ReopenOptions {
	return &ReopenOptions{Factory: c.Factory, Noun: Airport, Scope: "crm:acme", Every: time.Second,
		Open: func(context.Context) (reopener, error) { return f, nil }}
}

func TestReopenSaysWhatWaitsAndWhatToDo(t *testing.T) {
	c := clitest.New(t, "")
	f := &fake{r: governor.Reopening{Changed: true, Was: wire.Stopped, State: wire.Open, Incident: "crm:acme@1-ab",
		Stood: 14 * time.Minute, Waiting: 996, Adopted: 20_000, Parked: 4}}
	if err := runReopen(t.Context(), reopenOptions(c, f)); err != nil {
		t.Fatal(err)
	}
	clitest.Golden(t, "reopen.txt", c.Out.Bytes())
	if f.got.Actor != "ops@desk" || f.scope != "crm:acme" {
		t.Errorf("reopened %q as %q", f.scope, f.got.Actor)
	}
	if want := "broker amqp://guest:xxxxx@localhost:5672/  store redis://localhost:6379  namespace tr\n"; c.Err.String() != want {
		t.Errorf("stderr %q, want the resolved context %q", c.Err, want)
	}
}

func TestReopenJSON(t *testing.T) {
	c := clitest.New(t, "")
	c.Output, c.Quiet = render.AsJSON, true
	f := &fake{r: governor.Reopening{Changed: true, Was: wire.Stopped, State: wire.Canary, Stood: 90 * time.Second, Waiting: governor.Unread, Parked: 4}}
	if err := runReopen(t.Context(), reopenOptions(c, f)); err != nil {
		t.Fatal(err)
	}
	clitest.Golden(t, "reopen.json", c.Out.Bytes())
	if c.Err.Len() > 0 {
		t.Errorf("--quiet, but stderr has %q", c.Err)
	}
}

func TestReopenOfOpenSaysSo(t *testing.T) {
	c := clitest.New(t, "")
	f := &fake{r: governor.Reopening{State: wire.Open, Was: wire.Open, Waiting: 9}, looks: []governor.AirportInfo{{State: wire.Open}}}
	opts := reopenOptions(c, f)
	opts.Wait = true // nothing changed: there is nothing to wait for
	if err := runReopen(t.Context(), opts); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(c.Out.String(), "OPEN already") || strings.Contains(c.Err.String(), "waiting for") {
		t.Errorf("stdout %q, stderr %q", c.Out, c.Err)
	}
}

func TestReadOnlyContextRefuses(t *testing.T) {
	path := t.TempDir() + "/config.yaml"
	if err := os.WriteFile(path, []byte("current: prod\ncontexts:\n  prod:\n    read_only: true\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	f := &fake{}
	err := runReopen(t.Context(), reopenOptions(clitest.New(t, "", "TRACTION_CONFIG", path), f))
	if exit.Code(err) != exit.Refused || f.scope != "" {
		t.Fatalf("got %v, reopened %q; want a refusal that changed nothing", err, f.scope)
	}
}

func TestWait(t *testing.T) {
	open := func(landed int64) governor.AirportInfo {
		return governor.AirportInfo{State: wire.Open, Landed: landed, Workers: 2}
	}
	stopped := governor.AirportInfo{State: wire.Stopped, Reason: "AIRPORT_FAULT", Evidence: "401", Landed: 7, Workers: 2}
	for name, tt := range map[string]struct {
		looks []governor.AirportInfo
		fails []error
		code  int
		says  string
	}{
		"landing":           {looks: []governor.AirportInfo{open(7), open(7), open(7), open(8)}, code: 0, says: "first flight landed after 2s"},
		"stops again":       {looks: []governor.AirportInfo{open(7), open(7), stopped}, code: 1},
		"paused meanwhile":  {looks: []governor.AirportInfo{open(7), {State: wire.Paused, Landed: 7, Workers: 2}}, code: 0, says: "was paused meanwhile"},
		"no worker":         {looks: []governor.AirportInfo{open(7), {State: wire.Open, Landed: 7}}, code: 0, says: "NO WORKER serves crm:acme"},
		"a look that fails": {looks: []governor.AirportInfo{open(7), open(7), open(8)}, fails: []error{nil, governor.ErrUnreachable}, code: 0, says: "cannot be followed now"},
		"gone":              {looks: []governor.AirportInfo{open(7)}, fails: []error{nil, governor.ErrNotFound}, code: 3},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := clitest.New(t, "")
				c.Now = time.Now
				f := &fake{looks: tt.looks, fails: tt.fails, r: governor.Reopening{Changed: true, Was: wire.Stopped, State: wire.Open, Waiting: 9}}
				opts := reopenOptions(c, f)
				opts.Wait = true
				err := runReopen(t.Context(), opts)
				if exit.Code(err) != tt.code || !strings.Contains(c.Err.String(), tt.says) {
					t.Fatalf("err %v (want code %d), stderr %q (want %q)", err, tt.code, c.Err, tt.says)
				}
			})
		})
	}
}

// What waits in the queue that a gate adopts is waited for like what is on its runway.
func TestWaitForTheFirstOfAnAdoptedQueue(t *testing.T) {
	for what, adopted := range map[string]int{"200": 200, "not counted": governor.Unread} {
		synctest.Test(t, func(t *testing.T) {
			c := clitest.New(t, "")
			c.Now = time.Now
			open := governor.AirportInfo{State: wire.Open, Workers: 1}
			landed := open
			landed.Landed = 1
			f := &fake{looks: []governor.AirportInfo{open, open, landed}, r: governor.Reopening{Changed: true, Was: wire.Paused, State: wire.Open, Adopted: adopted}}
			opts := reopenOptions(c, f)
			opts.Wait = true
			if err := runReopen(t.Context(), opts); err != nil || !strings.Contains(c.Err.String(), "first flight landed after 1s") {
				t.Errorf("%s: %v, stderr %q", what, err, c.Err)
			}
		})
	}
}

// A wait that cannot end says so and ends; one that may wait for a neighbour says that.
func TestWaitSaysWhatItWaitsFor(t *testing.T) {
	idle := governor.GateInfo{Gate: "crm:acme/events", State: wire.Open, Scaled: true, ScaledBy: "ada@desk", WorkersDeclared: 3, Runway: 9,
		Processes: []governor.Staff{{Process: "w1"}}}
	quick := governor.GateInfo{Gate: "crm:acme/quick", State: wire.Open, WorkersWanted: 2, Processes: []governor.Staff{{Process: "w1", Workers: 2}}}
	with := func(g governor.GateInfo, change func(*governor.GateInfo)) governor.GateInfo { change(&g); return g }
	adopts := with(idle, func(g *governor.GateInfo) { g.Runway, g.Adopts, g.Adopted = 0, "q", 200 })
	routes := with(adopts, func(g *governor.GateInfo) { g.Scaled, g.WorkersWanted = false, 3 })
	for name, tt := range map[string]struct {
		scope string
		gates []governor.GateInfo
		code  int
		says  string
	}{
		"gate without workers":         {"crm:acme/events", []governor.GateInfo{idle, quick}, 1, "NO_WORKERS: crm:acme/events was scaled to no workers by ada@desk"},
		"its adopted backlog":          {"crm:acme/events", []governor.GateInfo{adopts, quick}, 1, "NO_WORKERS"},
		"airport of one":               {"crm:acme", []governor.GateInfo{quick, idle}, 1, "NO_WORKERS: crm:acme/events was scaled"},
		"another gate can land":        {"crm:acme", []governor.GateInfo{idle, with(quick, func(g *governor.GateInfo) { g.Runway = 1 })}, 130, ""},
		"something is in the air":      {"crm:acme/events", []governor.GateInfo{with(idle, func(g *governor.GateInfo) { g.InAir = 1 })}, 130, ""},
		"nobody serves the gate":       {"crm:acme/events", []governor.GateInfo{with(idle, func(g *governor.GateInfo) { g.Processes = nil })}, 0, "NO WORKER serves crm:acme/events"},
		"a neighbour of its route":     {"crm:acme/events", []governor.GateInfo{routes, with(quick, func(g *governor.GateInfo) { g.State = wire.Paused })}, 130, "it may wait for crm:acme/quick, which is PAUSED: tractionctl gate resume crm:acme/quick"},
		"went to another gate":         {"crm:acme/events", []governor.GateInfo{with(routes, func(g *governor.GateInfo) { g.Adopted = 0 }), quick}, 0, "nothing waits any more"},
		"the neighbour is not its own": {"crm:acme/quick", []governor.GateInfo{idle, with(quick, func(g *governor.GateInfo) { g.Runway = 1 })}, 130, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := clitest.New(t, "")
				c.Now = time.Now
				a := governor.AirportInfo{Airport: "crm:acme", State: wire.Open, Workers: 1, Gates: tt.gates}
				for _, g := range tt.gates {
					a.Runway, a.Adopted, a.InAir = a.Runway+g.Runway, a.Adopted+g.Adopted, a.InAir+g.InAir
				}
				f := &fake{looks: []governor.AirportInfo{a}, r: governor.Reopening{Changed: true, Was: wire.Paused, State: wire.Open, Waiting: 9}}
				opts := reopenOptions(c, f)
				opts.Scope, opts.Wait = tt.scope, true
				if tt.scope != "crm:acme" {
					opts.Noun = Gate
				}
				ctx, cancel := context.WithCancelCause(t.Context())
				defer cancel(nil)
				time.AfterFunc(time.Minute, func() { cancel(&exit.SignalError{Signal: os.Interrupt}) })
				err := runReopen(ctx, opts)
				said := c.Err.String()
				if err != nil {
					said += err.Error()
				}
				if exit.Code(err) != tt.code || !strings.Contains(said, tt.says) {
					t.Fatalf("err %v (want code %d), said %q (want %q)", err, tt.code, said, tt.says)
				}
				var hint *exit.Hint
				if tt.code == 1 && (!errors.As(err, &hint) || hint.Next != "tractionctl gate scale crm:acme/events --workers 3") {
					t.Errorf("hint %+v", hint)
				}
			})
		})
	}
}

func TestWaitEndsOnASignal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := clitest.New(t, "")
		f := &fake{looks: []governor.AirportInfo{{State: wire.Open, Workers: 1}}, r: governor.Reopening{Changed: true, State: wire.Open, Waiting: 9}}
		opts := reopenOptions(c, f)
		opts.Wait = true
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(5*time.Second, func() { cancel(&exit.SignalError{Signal: os.Interrupt}) })
		if err := runReopen(ctx, opts); exit.Code(err) != exit.Interrupted {
			t.Fatalf("got %v, want the signal", err)
		}
	})
}

func TestGateFollowsItsAirport(t *testing.T) {
	f := &fake{looks: []governor.AirportInfo{{State: wire.Stopped, Workers: 1, Reason: "AIRPORT_FAULT", Gates: []governor.GateInfo{{Gate: "crm:acme/contact-sync", State: wire.Open, Landed: 3}}}}}
	got, err := look(t.Context(), f, "crm:acme/contact-sync")
	if err != nil || got.state != wire.Stopped || got.landed != 3 {
		t.Fatalf("got %+v, %v: a gate under a stopped airport does not fly", got, err)
	}
	if v := judge(got, got); v != airportHolds {
		t.Errorf("verdict %d: the airport was stopped before the reopen, so nothing stopped again", v)
	}
	if v := judge(sight{above: wire.Open, landed: 3}, got); v != stoppedAgain {
		t.Errorf("verdict %d: the airport stopped meanwhile", v)
	}
	c := clitest.New(t, "")
	opts := reopenOptions(c, f)
	opts.Scope = "crm:acme/contact-sync"
	if err := conclude(opts, airportHolds, got, 0); err != nil || !strings.Contains(c.Err.String(), "nothing flies before tractionctl airport reopen crm:acme\n") {
		t.Errorf("%v, stderr %q", err, c.Err)
	}
}

func TestReopenParses(t *testing.T) {
	for _, tt := range []struct {
		args   string
		tty    bool
		code   int
		canary int
		wait   bool
	}{
		{args: "crm:acme"},
		{args: "crm:acme", tty: true, wait: true},
		{args: "crm:acme --wait=false", tty: true},
		{args: "crm:acme --canary 3 --wait", canary: 3, wait: true},
		{args: "crm:acme --canary -1", code: 2}, {args: "crm:acme --canary 10001", code: 2},
		{args: "", code: 2},
		{args: "a b", code: 2},
	} {
		c := clitest.New(t, "")
		c.OutTTY = tt.tty
		var got *ReopenOptions
		cmd := NewReopen(c.Factory, Airport, func(_ context.Context, o *ReopenOptions) error { got = o; return nil })
		cmd.SilenceErrors, cmd.SilenceUsage = true, true
		cmd.SetArgs(strings.Fields(tt.args))
		cmd.SetOut(io.Discard)
		err := cmd.ExecuteContext(t.Context())
		if exit.Code(err) != tt.code {
			t.Errorf("%q: %v, want code %d", tt.args, err, tt.code)
			continue
		}
		if tt.code == 0 && (got.Canary != tt.canary || got.Wait != tt.wait || got.Scope != "crm:acme") {
			t.Errorf("%q: got %+v", tt.args, got)
		}
	}
}

func TestScopeIsCheckedBeforeAnythingOpens(t *testing.T) {
	c := clitest.New(t, "")
	opts := reopenOptions(c, nil)
	opts.Open = func(context.Context) (reopener, error) { return nil, errors.New("opened") }
	opts.Scope = "crm:acme/contact-sync" // a gate, where an airport is wanted
	if err := runReopen(t.Context(), opts); exit.Code(err) != exit.Usage {
		t.Fatalf("got %v, want a usage error", err)
	}
}

func TestReopenNamesTheGatesThatStayStopped(t *testing.T) {
	c := clitest.New(t, "")
	f := &fake{r: governor.Reopening{State: wire.Open, Parked: 12, Gates: []governor.GateState{{Gate: "crm:acme/company-sync", State: wire.Stopped}}}}
	if err := runReopen(t.Context(), reopenOptions(c, f)); err != nil {
		t.Fatal(err)
	}
	out := c.Out.String()
	gate, replay := strings.Index(out, "gate reopen crm:acme/company-sync"), strings.Index(out, "parked replay")
	if !strings.Contains(out, "crm:acme/company-sync is STOPPED") || gate < 0 || replay < gate {
		t.Errorf("want the stopped gate, its reopen, and then the replay:\n%s", out)
	}
}
