package shelf

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/traction-go/traction/internal/cli/clitest"
	"github.com/traction-go/traction/internal/cli/exit"
	"github.com/traction-go/traction/internal/cli/render"
	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/governor"
	"github.com/traction-go/traction/pkg/settle"
)

// fakeMove answers with res and err, after having shown its progress.
type fakeMove struct {
	verbs    []string
	got      governor.MoveOptions
	scope    string
	res      governor.MoveResult
	err      error
	airport  governor.AirportInfo
	progress []governor.MoveResult
	waits    []string
}

func (f *fakeMove) move(verb, scope string, o governor.MoveOptions) (governor.MoveResult, error) {
	f.verbs, f.got, f.scope = append(f.verbs, verb), o, scope
	for _, p := range f.progress {
		o.Progress(p)
	}
	for _, w := range f.waits {
		o.Waits(w)
	}
	return f.res, f.err
}

func (f *fakeMove) Replay(_ context.Context, s governor.Shelf, scope string, o governor.MoveOptions) (governor.MoveResult, error) {
	return f.move(string(s)+" replay", scope, o)
}

func (f *fakeMove) Discard(_ context.Context, s governor.Shelf, scope string, o governor.MoveOptions) (governor.MoveResult, error) {
	return f.move(string(s)+" discard", scope, o)
}

func (f *fakeMove) Airport(context.Context, string) (governor.AirportInfo, error) {
	return f.airport, nil
}

func open(airport string) governor.AirportInfo {
	return governor.AirportInfo{Airport: airport, State: wire.Open, Gates: []governor.GateInfo{{Gate: airport + "/contact-sync", State: wire.Open}}}
}

func moving(t *testing.T, f *fakeMove, verb string, set func(*MoveOptions)) (clitest.Cmd, error) {
	t.Helper()
	c := clitest.New(t, "")
	if f.airport.Airport == "" {
		f.airport = open("crm:acme")
	}
	o := newMove(c.Factory, Parked, verb)
	o.Open = func(context.Context) (mover, error) { return f, nil }
	o.Scope = "crm:acme"
	if set != nil {
		set(o)
	}
	return c, runMove(t.Context(), o)
}

var partly = governor.MoveResult{Planned: 1500, Moved: 1200, Skipped: map[string]int{"filter": 100}, Left: 200}

func TestCountsAddUpAndAreAlwaysPrinted(t *testing.T) {
	cut, cancel := context.WithCancelCause(t.Context())
	cancel(&exit.SignalError{Signal: os.Interrupt})
	for name, tt := range map[string]struct {
		ctx  context.Context
		res  governor.MoveResult
		err  error
		code int
		says string
	}{
		"all":        {t.Context(), governor.MoveResult{Planned: 2, Moved: 2}, nil, 0, "replayed 2 of 2 parked at crm:acme; left 0\nnext  tractionctl airport show crm:acme\n"},
		"none there": {t.Context(), governor.MoveResult{}, nil, 0, "replayed 0 of 0 parked at crm:acme; left 0\n"},
		"cut": {t.Context(), governor.MoveResult{Planned: 10, Moved: 4, Unknown: 2, Left: 4}, fmt.Errorf("%w: x", governor.ErrPartial), 6,
			"replayed 4 of 10 parked at crm:acme; unknown 2 (acknowledged as the connection was lost: left or replayed); left 4\nnext  tractionctl airport show crm:acme\n"},
		"partly":       {t.Context(), partly, fmt.Errorf("%w: x", governor.ErrPartial), 6, "replayed 1,200 of 1,500 parked at crm:acme; skipped 100 (not asked for); left 200\nnext  tractionctl airport show crm:acme\n"},
		"nothing came": {t.Context(), governor.MoveResult{Planned: 2, Left: 2}, fmt.Errorf("%w: x", governor.ErrPartial), 6, "replayed 0 of 2 parked at crm:acme; left 2\n"},
		"interrupted":  {cut, partly, fmt.Errorf("%w: %w", governor.ErrPartial, context.Cause(cut)), 130, "replayed 1,200 of 1,500 parked at crm:acme; skipped 100 (not asked for); left 200\nnext  tractionctl airport show crm:acme\n"},
		"locked":       {t.Context(), governor.MoveResult{}, fmt.Errorf("%w: dana moves", governor.ErrRefused), 4, ""},
		"unreachable":  {t.Context(), governor.MoveResult{}, governor.ErrUnreachable, 5, ""},
		"no such":      {t.Context(), governor.MoveResult{}, governor.ErrNotFound, 3, ""},
	} {
		t.Run(name, func(t *testing.T) {
			c := clitest.New(t, "")
			f := &fakeMove{res: tt.res, err: tt.err, airport: open("crm:acme")}
			o := newMove(c.Factory, Parked, "replay")
			o.Open, o.Scope = func(context.Context) (mover, error) { return f, nil }, "crm:acme"
			err := runMove(tt.ctx, o)
			if exit.Code(err) != tt.code || c.Out.String() != tt.says {
				t.Errorf("%v (code %d, want %d)\ngot  %swant %s", err, exit.Code(err), tt.code, c.Out, tt.says)
			}
		})
	}
}

func TestACanaryThatWaitsSaysWhy(t *testing.T) {
	f := &fakeMove{res: partly, progress: []governor.MoveResult{partly}, waits: []string{"crm:acme/contact-sync is DELAYED; the next probe at noon"}}
	c, err := moving(t, f, "replay", func(o *MoveOptions) { o.ErrTTY, o.ErrWidth = true, 100 })
	want := "the canary waits: crm:acme/contact-sync is DELAYED; the next probe at noon (Ctrl-C stops waiting, and the rest stays parked)\n"
	if err != nil || !strings.Contains(c.Err.String(), want) || strings.Contains(c.Out.String(), "waits") {
		t.Errorf("%v\nstdout %s\nstderr %q", err, c.Out, c.Err)
	}
}

func TestMovedAsJSON(t *testing.T) {
	c, err := moving(t, &fakeMove{res: partly}, "replay", func(o *MoveOptions) { o.Output = render.AsJSON })
	if err != nil {
		t.Fatal(err)
	}
	clitest.Golden(t, "replay.json", c.Out.Bytes())
	c, err = moving(t, &fakeMove{res: governor.MoveResult{Planned: 3, Moved: 3}}, "discard", func(o *MoveOptions) { o.Output, o.DryRun = render.AsJSON, true })
	if err != nil {
		t.Fatal(err)
	}
	clitest.Golden(t, "discard-dry-run.json", c.Out.Bytes())
}

func TestADiscardWantsItsScope(t *testing.T) {
	for confirm, code := range map[string]int{"": 4, "crm": 4, "crm:acme ": 4, "CRM:acme": 4, "crm:acme/contact-sync": 4, "crm:acme": 0} {
		f := &fakeMove{}
		_, err := moving(t, f, "discard", func(o *MoveOptions) { o.Confirm = confirm })
		if exit.Code(err) != code || (len(f.verbs) == 0) != (code != 0) {
			t.Errorf("--confirm %q: %v, ran %v", confirm, err, f.verbs)
		}
	}
	f := &fakeMove{}
	c, err := moving(t, f, "discard", func(o *MoveOptions) { o.DryRun = true })
	if err != nil || !f.got.DryRun || !strings.HasPrefix(c.Out.String(), "would have discarded 0") {
		t.Errorf("a dry run: %v %+v %s", err, f.got, c.Out)
	}
}

func TestAReplayIntoWhatDoesNotFlyWarnsAndGoesOn(t *testing.T) {
	stopped := open("crm:acme")
	stopped.Gates[0].State, stopped.Gates[0].Reason, stopped.Gates[0].Evidence = wire.Stopped, "GATE_FAULT", "404"
	stay := open("crm:acme")
	stay.Gates[0].State, stay.Gates[0].OnStop = wire.Stopped, settle.StayOnStop
	other := open("crm:acme")
	other.Gates[0] = governor.GateInfo{Gate: "crm:acme/other", State: wire.Stopped}
	ground := open("crm:acme")
	ground.State, ground.Reason = wire.Paused, "maintenance"
	for name, tt := range map[string]struct {
		airport governor.AirportInfo
		verb    string
		says    string
	}{
		"a stopped gate":           {stopped, "replay", "crm:acme/contact-sync is STOPPED (GATE_FAULT: 404): what is replayed now is parked again; fix the cause, tractionctl gate reopen crm:acme/contact-sync, then replay"},
		"a gate that keeps order":  {stay, "replay", "what is replayed now waits"},
		"a paused airport":         {ground, "replay", "crm:acme is PAUSED (maintenance): what is replayed now waits"},
		"an open one":              {open("crm:acme"), "replay", ""},
		"a discard does not care":  {stopped, "discard", ""},
		"another gate that stands": {other, "replay of a gate", ""},
	} {
		t.Run(name, func(t *testing.T) {
			f := &fakeMove{airport: tt.airport}
			verb, narrow := strings.CutSuffix(tt.verb, " of a gate")
			c, err := moving(t, f, verb, func(o *MoveOptions) {
				if narrow {
					o.Scope = "crm:acme/contact-sync"
				}
				o.Confirm = o.Scope
			})
			if err != nil || len(f.verbs) != 1 {
				t.Fatalf("%v, ran %v", err, f.verbs)
			}
			if got := strings.Contains(c.Err.String(), "warning"); got != (tt.says != "") || !strings.Contains(c.Err.String(), tt.says) {
				t.Errorf("stderr %s\nwant %q", c.Err, tt.says)
			}
		})
	}
}

func TestProgressIsForTerminals(t *testing.T) {
	for _, tty := range []bool{false, true} {
		f := &fakeMove{res: partly, progress: []governor.MoveResult{partly}}
		c, err := moving(t, f, "replay", func(o *MoveOptions) { o.ErrTTY, o.ErrWidth = tty, 100 })
		if err != nil {
			t.Fatal(err)
		}
		if got := bytes.Contains(c.Err.Bytes(), []byte("\r\x1b[K")); got != tty {
			t.Errorf("terminal %v: stderr %q", tty, c.Err)
		}
		if tty && !strings.Contains(c.Err.String(), "replayed [#########################.....] 1,200 of 1,400") {
			t.Errorf("stderr %q", c.Err)
		}
		if strings.Contains(c.Out.String(), "\x1b") {
			t.Errorf("stdout %q", c.Out)
		}
	}
}

func TestMovesParse(t *testing.T) {
	for args, code := range map[string]int{
		"replay crm:acme": 0, "replay crm:acme --rate 0.5 --canary 3 --dry-run": 0, "replay crm:acme --canary 0": 2, "replay crm:acme --rate 0": 2,
		"replay crm:acme --rate NaN": 2, "replay crm:acme --rate +Inf": 2, "replay": 2, "replay crm:acme/g/run": 2, "replay crm:acme --confirm x": 2,
		"replay crm:acme --canary 10000": 0, "replay crm:acme --canary 99999999999": 2, "replay crm:acme --charter ''": 2, "replay crm:acme --limit 0": 2,
		"discard crm:acme --confirm crm:acme --limit 0": 2, "discard crm:acme --confirm crm:acme --business-id ''": 2,
		"discard crm:acme --confirm crm:acme --older-than 30d": 0, "discard crm:acme --canary 1": 2, "discard": 2,
	} {
		words := typed(args)
		var got *MoveOptions
		runF := func(_ context.Context, o *MoveOptions) error { got = o; return nil }
		c := clitest.New(t, "")
		cmd := NewReplay(c.Factory, Parked, runF)
		if words[0] == "discard" {
			cmd = NewDiscard(c.Factory, Parked, runF)
		}
		cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return exit.Usagef("%w", err) })
		cmd.SilenceErrors, cmd.SilenceUsage = true, true
		cmd.SetOut(io.Discard)
		cmd.SetArgs(words[1:])
		if err := cmd.ExecuteContext(t.Context()); exit.Code(err) != code {
			t.Errorf("%q: %v, want code %d", args, err, code)
		}
		if strings.Contains(args, "0.5") && (got.Rate != 0.5 || got.Canary != 3 || !got.DryRun) {
			t.Errorf("%q: got %+v", args, got)
		}
		if strings.Contains(args, "30d") && (got.Confirm != "crm:acme" || got.Filter.OlderThan != 30*24*time.Hour) {
			t.Errorf("%q: got %+v", args, got)
		}
	}
}
