package incident

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

func incidents() []governor.Incident {
	return []governor.Incident{
		{ID: "crm:acme@1772590269123-7f3a", Scope: "crm:acme", Kind: "GROUND_STOP", Reason: "AIRPORT_FAULT", Evidence: clitest.Evil,
			OpenedAt: clitest.Now.Add(-14 * time.Minute), Records: []string{"7", "8\x07"}, Workers: []string{"w1"}, Faults: 4,
			NotifiedAt: clitest.Now.Add(-13 * time.Minute)},
		{ID: "pay:acme/refund@1772496309123-00aa", Scope: "pay:acme/refund", Kind: "GATE_STOP", Reason: "GATE_FAULT", Observed: true,
			OpenedAt: clitest.Now.Add(-26 * time.Hour), ClosedAt: clitest.Now.Add(-25 * time.Hour), ClosedBy: "ada@desk"},
	}
}

type fake struct{ got governor.IncidentFilter }

func (f *fake) Incidents(_ context.Context, filter governor.IncidentFilter) ([]governor.Incident, error) {
	f.got = filter
	return incidents(), nil
}

func (f *fake) Incident(_ context.Context, id string) (governor.Incident, error) {
	for _, i := range incidents() {
		if i.ID == id || i.Scope == id {
			return i, nil
		}
	}
	return governor.Incident{}, governor.ErrNotFound
}

func TestList(t *testing.T) {
	for name, format := range map[string]render.Format{"list.txt": render.AsTable, "list.json": render.AsJSON} {
		c := clitest.New(t, "")
		c.Output = format
		f := &fake{}
		opts := &listOptions{Factory: c.Factory, OpenGov: func(context.Context) (lister, error) { return f, nil }, Open: true}
		if err := opts.Since.Set("7d"); err != nil {
			t.Fatal(err)
		}
		if err := runList(t.Context(), opts); err != nil {
			t.Fatal(err)
		}
		clitest.Golden(t, name, c.Out.Bytes())
		if !f.got.Open || !f.got.Since.Equal(clitest.Now.Add(-7*24*time.Hour)) {
			t.Errorf("asked for %+v", f.got)
		}
	}
}

func TestShow(t *testing.T) {
	for name, id := range map[string]string{"show-open.txt": "crm:acme", "show-closed.txt": "pay:acme/refund@1772496309123-00aa"} {
		c := clitest.New(t, "")
		opts := &showOptions{c.Factory, func(context.Context) (shower, error) { return &fake{}, nil }, id}
		if err := runShow(t.Context(), opts); err != nil {
			t.Fatal(err)
		}
		clitest.Golden(t, name, c.Out.Bytes())
	}
}

// A poison pill's incident leads to the flight.
func TestShowOfAPillLeadsToItsFlight(t *testing.T) {
	i := governor.Incident{ID: "crm:acme/c@1-7f3a", Scope: "crm:acme/c", Kind: "POISON_PILL", OpenedAt: clitest.Now, Records: []string{"01a2", "7"}}
	got := next(i)
	for _, want := range []string{"tractionctl parked list crm:acme/c --flight 01a2", "tractionctl parked replay crm:acme/c --flight 01a2"} {
		if !strings.Contains(got, want) {
			t.Errorf("says %q, want %q", got, want)
		}
	}
}

func TestListParses(t *testing.T) {
	for args, code := range map[string]int{
		"": 0, "crm:acme --open": 0, "crm:acme/g --since 90m": 0, "--since 7d": 0,
		"a/b/c": 2, "--since soon": 1, "--since 0d": 2, "--since -1h": 1, "x y": 2,
	} {
		cmd := newList(clitest.New(t, "").Factory, func(context.Context, *listOptions) error { return nil })
		cmd.SilenceErrors, cmd.SilenceUsage = true, true
		cmd.SetOut(io.Discard)
		cmd.SetArgs(strings.Fields(args))
		// A flag's error gets its class from the root, which is not here.
		if err := cmd.ExecuteContext(t.Context()); exit.Code(err) != code {
			t.Errorf("%q: %v, want code %d", args, err, code)
		}
	}
}
