package suspect

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

type fake struct{ cleared, by string }

func (f *fake) Suspects(context.Context, string) ([]governor.SuspectInfo, error) {
	return []governor.SuspectInfo{
		{Flight: "01909c3e-8f2a-7c11-b1a4-5f0e9d7c2b10", Airport: "crm:acme", Verdict: "CONVICTED", Workers: []string{"pod-a-17.1", "pod-b-3.1\x1b[31m"},
			LastDeath: clitest.Now.Add(-3 * time.Minute), Incident: "crm:acme/contacts@1772590269123-7f3a"},
		{Flight: "01909c3e-8f2a-7c11-b1a4-5f0e9d7c2b11", Airport: "pay:acme", Verdict: "SUSPECT", Workers: []string{"pod-a-17.1"},
			LastDeath: clitest.Now.Add(-2 * time.Hour)},
		{Flight: met, Airport: "crm:acme", Verdict: "CONVICTED", Workers: []string{"pod-c-1.1", "pod-d-1.1"}, LastDeath: clitest.Now.Add(-4 * time.Second)},
	}, nil
}

func (f *fake) Suspect(ctx context.Context, flight string) (governor.SuspectInfo, error) {
	list, _ := f.Suspects(ctx, "")
	for _, s := range list {
		if s.Flight == flight {
			return s, nil
		}
	}
	return governor.SuspectInfo{}, governor.ErrNotFound
}

func (f *fake) ClearSuspect(ctx context.Context, flight, actor string) (governor.SuspectInfo, error) {
	s, err := f.Suspect(ctx, flight)
	if err == nil {
		f.cleared, f.by = flight, actor
	}
	return s, err
}

const (
	convicted = "01909c3e-8f2a-7c11-b1a4-5f0e9d7c2b10"
	suspected = "01909c3e-8f2a-7c11-b1a4-5f0e9d7c2b11"
	met       = "01909c3e-8f2a-7c11-b1a4-5f0e9d7c2b12" // to be parked by who meets it next
)

func TestList(t *testing.T) {
	for name, format := range map[string]render.Format{"list.txt": render.AsTable, "list.json": render.AsJSON} {
		c := clitest.New(t, "")
		c.Output = format
		opts := &listOptions{Factory: c.Factory, Open: func(context.Context) (lister, error) { return &fake{}, nil }}
		if err := runList(t.Context(), opts); err != nil {
			t.Fatal(err)
		}
		clitest.Golden(t, name, c.Out.Bytes())
	}
}

func TestShow(t *testing.T) {
	for name, id := range map[string]string{"show-convicted.txt": convicted, "show-suspect.txt": suspected, "show-not-yet-parked.txt": met} {
		c := clitest.New(t, "")
		opts := &showOptions{c.Factory, func(context.Context) (shower, error) { return &fake{}, nil }, id}
		if err := runShow(t.Context(), opts); err != nil {
			t.Fatal(err)
		}
		clitest.Golden(t, name, c.Out.Bytes())
	}
}

func TestClear(t *testing.T) {
	c := clitest.New(t, "")
	f := &fake{}
	opts := &clearOptions{c.Factory, func(context.Context) (clearer, error) { return f, nil }, convicted}
	if err := runClear(t.Context(), opts); err != nil {
		t.Fatal(err)
	}
	if f.cleared != convicted || f.by != "ops@desk" {
		t.Errorf("cleared %q by %q", f.cleared, f.by)
	}
	if e := c.Err.String(); !strings.Contains(e, "namespace tr") || !strings.Contains(e, "parked replay crm:acme --flight "+convicted) {
		t.Errorf("said %q: want where it acts, and that it is parked still", e)
	}
	c.Err.Reset()
	opts.Flight = met
	if err := runClear(t.Context(), opts); err != nil || strings.Contains(c.Err.String(), "parked") {
		t.Errorf("%v, said %q of what is not parked", err, c.Err.String())
	}
	show := &showOptions{c.Factory, func(context.Context) (shower, error) { return f, nil }, "nobody"}
	opts.Flight = "nobody"
	for _, err := range []error{runClear(t.Context(), opts), runShow(t.Context(), show)} {
		var hint *exit.Hint
		if exit.Code(err) != exit.NotFound || !errors.As(err, &hint) || !strings.Contains(hint.Next, "tractionctl suspect list") {
			t.Errorf("a flight that is none: %v", err)
		}
	}
}

func TestListParses(t *testing.T) {
	for args, code := range map[string]int{"": 0, "crm:acme": 0, "crm:acme/contacts": 2, "a b": 2, "/": 2} {
		cmd := newList(clitest.New(t, "").Factory, func(context.Context, *listOptions) error { return nil })
		cmd.SilenceErrors, cmd.SilenceUsage = true, true
		cmd.SetOut(io.Discard)
		cmd.SetArgs(strings.Fields(args))
		if err := cmd.ExecuteContext(t.Context()); exit.Code(err) != code {
			t.Errorf("%q: %v, want code %d", args, err, code)
		}
	}
}
