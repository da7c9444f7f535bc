package gate

import (
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/traction-go/traction/internal/cli/clitest"
	"github.com/traction-go/traction/internal/cli/exit"
	"github.com/traction-go/traction/internal/cli/render"
	"github.com/traction-go/traction/pkg/governor"
)

type fakeScaler struct {
	got governor.ScaleOptions
	s   governor.Scaling
}

func (f *fakeScaler) Scale(_ context.Context, scope string, o governor.ScaleOptions) (governor.Scaling, error) {
	f.got = o
	f.s.Scope = scope
	return f.s, nil
}

func TestScaleSaysWhatStandsAndWhoIsBehind(t *testing.T) {
	c := clitest.New(t, "")
	eight := 8
	f := &fakeScaler{s: governor.Scaling{Changed: true, Unseen: []string{"w\x1b2"}, Gate: governor.GateInfo{WorkersWanted: 8, WorkersActual: 12, Batch: 25,
		Processes: []governor.Staff{{Process: "w1", Workers: 8, Batch: 25}, {Process: "w\x1b2", Workers: 4, Batch: 25}}}}}
	opts := &scaleOptions{Factory: c.Factory, Scope: "crm:acme/events", To: governor.ScaleOptions{Workers: &eight},
		Open: func(context.Context) (scaler, error) { return f, nil }}
	if err := runScale(t.Context(), opts); err != nil {
		t.Fatal(err)
	}
	clitest.Golden(t, "scale.txt", c.Out.Bytes())
	if f.got.Actor != "ops@desk" || *f.got.Workers != 8 || f.got.Batch != nil {
		t.Errorf("scaled with %+v", f.got)
	}
	c = clitest.New(t, "")
	c.Output = render.AsJSONL
	opts.Factory = c.Factory
	f.s.Unseen = nil
	if err := runScale(t.Context(), opts); err != nil {
		t.Fatal(err)
	}
	want := `{"scope":"crm:acme/events","changed":true,"workers_wanted":8,"workers_actual":12,"batch":25,"overtaken":false,"unseen":[]}` + "\n"
	if c.Out.String() != want {
		t.Errorf("got %s want %s", c.Out, want)
	}
}

func TestScaleIsAskedForSomething(t *testing.T) {
	for args, code := range map[string]int{"crm:acme/e": 2, "crm:acme/e --workers=x": 2, "--workers 1": 2, "crm:acme/e --workers 0": 0, "crm:acme/e --batch 1": 0, "crm:acme/e --reset": 0} {
		c := clitest.New(t, "")
		cmd := newScale(c.Factory, func(context.Context, *scaleOptions) error { return nil })
		cmd.SilenceErrors, cmd.SilenceUsage = true, true
		cmd.SetArgs(strings.Fields(args))
		cmd.SetOut(io.Discard)
		err := cmd.ExecuteContext(t.Context())
		if got := exit.Code(err); got != code && !(code == 2 && err != nil && got == 1) {
			t.Errorf("%q: %v, want code %d", args, err, code)
		}
	}
}

func TestStaffNamesWhoDiffers(t *testing.T) {
	now := time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)
	g := governor.GateInfo{WorkersWanted: 4, WorkersActual: 7, Batch: 25, BatchDeclared: 25, Scaled: true, ScaledBy: "ops\x1b@desk", ScaledAt: now.Add(-time.Hour),
		Processes: []governor.Staff{{Process: "w1", Workers: 4, Batch: 25}, {Process: "w2", Workers: 3, Batch: 1}}}
	var b strings.Builder
	for _, f := range staff(g, now) {
		b.WriteString(f.Name + "  " + f.Value + "\n")
	}
	clitest.Golden(t, "staff.txt", []byte(b.String()))
}

// What an operator has set shows beside what is declared, and who it was only where that
// is known.
func TestStaffSaysWhatWasScaled(t *testing.T) {
	now := time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)
	ago := now.Add(-time.Hour)
	const reset = "; what the processes declare counts again after --reset"
	for name, c := range map[string]struct {
		g             governor.GateInfo
		batch, scaled string
	}{
		"no batches":     {governor.GateInfo{Batch: 1}, "", ""},
		"as declared":    {governor.GateInfo{Batch: 10, BatchDeclared: 10}, "10 flights in a call", ""},
		"turned off":     {governor.GateInfo{Batch: 1, BatchDeclared: 10, Scaled: true, ScaledBy: "a", ScaledAt: ago}, "1: each flight in a call of its own, scaled from 10", "by a, 2026-05-04 02:02:01Z (1h ago)" + reset},
		"smaller":        {governor.GateInfo{Batch: 4, BatchDeclared: 10, Scaled: true, ScaledBy: "a"}, "4 flights in a call, scaled from 10", "by a" + reset},
		"workers alone":  {governor.GateInfo{Batch: 10, BatchDeclared: 10, Scaled: true, ScaledAt: ago}, "10 flights in a call", "by somebody, 2026-05-04 02:02:01Z (1h ago)" + reset},
		"store forgot":   {governor.GateInfo{Batch: 1, Scaled: true}, "", "by an operator; by whom and when is lost with what the store forgot" + reset},
		"declared alone": {governor.GateInfo{Batch: 1, BatchDeclared: 1}, "", ""},
	} {
		got := map[string]string{}
		for _, f := range staff(c.g, now) {
			got[f.Name] = f.Value
		}
		if got["batch"] != c.batch || got["scaled"] != c.scaled {
			t.Errorf("%s: batch %q, scaled %q; want %q, %q", name, got["batch"], got["scaled"], c.batch, c.scaled)
		}
	}
}
