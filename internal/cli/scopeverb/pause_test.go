package scopeverb

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/traction-go/traction/internal/cli/clitest"
	"github.com/traction-go/traction/internal/cli/exit"
	"github.com/traction-go/traction/internal/cli/render"
	"github.com/traction-go/traction/pkg/governor"
)

type fakePauser struct {
	got governor.PauseOptions
	p   governor.Pausing
}

func (f *fakePauser) Pause(_ context.Context, scope string, o governor.PauseOptions) (governor.Pausing, error) {
	f.got = o
	f.p.Scope = scope
	return f.p, nil
}

func pauseOptions(c clitest.Cmd, f *fakePauser) *PauseOptions {
	return &PauseOptions{Factory: c.Factory, Noun: Gate, Scope: "crm:acme/contact-sync", Reason: "schema\nchange",
		Open: func(context.Context) (pauser, error) { return f, nil }}
}

func TestPauseSaysWhoHasNotSeenIt(t *testing.T) {
	c := clitest.New(t, "")
	f := &fakePauser{p: governor.Pausing{Changed: true, Unseen: []string{"w1", "w\x1b2"}}}
	if err := runPause(t.Context(), pauseOptions(c, f)); err != nil {
		t.Fatal(err)
	}
	clitest.Golden(t, "pause.txt", c.Out.Bytes())
	if f.got.Actor != "ops@desk" || f.got.Reason != "schema\nchange" {
		t.Errorf("paused with %+v", f.got)
	}
}

func TestPauseJSON(t *testing.T) {
	c := clitest.New(t, "")
	c.Output = render.AsJSONL
	if err := runPause(t.Context(), pauseOptions(c, &fakePauser{})); err != nil {
		t.Fatal(err)
	}
	if want := `{"scope":"crm:acme/contact-sync","changed":false,"unseen":[]}` + "\n"; c.Out.String() != want {
		t.Errorf("got %s want %s", c.Out, want)
	}
}

func TestPauseNeedsAReason(t *testing.T) {
	for args, code := range map[string]int{"crm:acme": 2, "crm:acme --reason=": 2, "crm:acme --reason x": 0} {
		c := clitest.New(t, "")
		cmd := NewPause(c.Factory, Airport, func(context.Context, *PauseOptions) error { return nil })
		cmd.SilenceErrors, cmd.SilenceUsage = true, true
		cmd.SetArgs(strings.Fields(args))
		cmd.SetOut(io.Discard)
		if err := cmd.ExecuteContext(t.Context()); exit.Code(err) != code {
			t.Errorf("%q: %v, want code %d", args, err, code)
		}
	}
}
