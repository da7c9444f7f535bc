package charter

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/traction-go/traction/internal/cli/clitest"
	"github.com/traction-go/traction/internal/cli/exit"
	"github.com/traction-go/traction/internal/cli/render"
	"github.com/traction-go/traction/pkg/charter"
	"github.com/traction-go/traction/pkg/governor"
)

func runs() []governor.CharterInfo {
	at := func(d time.Duration) time.Time { return clitest.Now.Add(-d) }
	return []governor.CharterInfo{
		{Charter: "crm:acme/contact-sync/import-7", State: governor.CharterOpen, OpenedAt: at(10 * time.Minute), OpenedBy: "ada@desk", ETA: 5 * time.Minute,
			Books: charter.Books{Expected: 3000, Dispatched: 400, Landed: 1996, Rejected: 1, Parked: 3}},
		{Charter: "crm:acme/contact-sync/import-6", State: governor.CharterComplete, OpenedAt: at(25 * time.Hour), OpenedBy: clitest.Evil, ToldAt: at(24 * time.Hour),
			Books: charter.Books{Expected: 500, Landed: 498, Discarded: 2}},
		{Charter: "crm:acme/company-sync/wrong", State: governor.CharterAborted, OpenedAt: at(time.Hour), OpenedBy: "ada@desk", ETA: time.Minute,
			Books: charter.Books{Expected: 100, Dispatched: 10, Landed: 20, Skipped: 68, Parked: 2}},
		{Charter: "mail:acme/welcome/spring", State: governor.CharterLost, OpenedAt: at(time.Hour), OpenedBy: "ada@desk", Books: charter.Books{Expected: 10}},
	}
}

type fake struct {
	list    []governor.CharterInfo
	one     governor.CharterInfo
	err     error
	aborted []string
}

func (f *fake) Charters(context.Context, string) ([]governor.CharterInfo, error) {
	return f.list, f.err
}
func (f *fake) Charter(_ context.Context, run string) (governor.CharterInfo, error) {
	return f.one, f.err
}
func (f *fake) AbortCharter(_ context.Context, run, confirm, actor, reason string) (governor.CharterInfo, error) {
	f.aborted = append(f.aborted, run, confirm, actor, reason)
	return f.one, f.err
}

func TestList(t *testing.T) {
	for name, format := range map[string]render.Format{"list.txt": render.AsTable, "list.json": render.AsJSON, "list.jsonl": render.AsJSONL} {
		c := clitest.New(t, "")
		c.Output = format
		if err := runList(t.Context(), &listOptions{Factory: c.Factory, Open: func(context.Context) (lister, error) { return &fake{list: runs()}, nil }}); err != nil {
			t.Fatal(err)
		}
		clitest.Golden(t, name, c.Out.Bytes())
	}
}

func TestAnEmptyListIsAList(t *testing.T) {
	c := clitest.New(t, "")
	c.Output = render.AsJSON
	if err := runList(t.Context(), &listOptions{Factory: c.Factory, Open: func(context.Context) (lister, error) { return &fake{}, nil }}); err != nil || c.Out.String() != "[]\n" {
		t.Errorf("%v, %q", err, c.Out)
	}
}

func TestShow(t *testing.T) {
	for i, name := range []string{"open.txt", "complete.txt", "aborted.txt", "lost.txt"} {
		c := clitest.New(t, "")
		f := &fake{one: runs()[i]}
		if err := runShow(t.Context(), &showOptions{Factory: c.Factory, Open: func(context.Context) (shower, error) { return f, nil }, Charter: f.one.Charter}); err != nil {
			t.Fatal(err)
		}
		clitest.Golden(t, name, c.Out.Bytes())
	}
}

func TestAlmostAllIsNotAll(t *testing.T) {
	c := governor.CharterInfo{Books: charter.Books{Expected: 1000, Landed: 999}}
	if got := progress(c); got != "999 of 1,000 (99%)" {
		t.Errorf("got %s", got)
	}
}

func TestAnAbortWantsItsCharter(t *testing.T) {
	run := "crm:acme/contact-sync/import-7"
	for confirm, code := range map[string]int{"": 4, "crm:acme/contact-sync": 4, run + " ": 4, "import-7": 4, run: 0} {
		c := clitest.New(t, "")
		f := &fake{one: runs()[0]}
		err := runAbort(t.Context(), &abortOptions{Factory: c.Factory, Open: func(context.Context) (aborter, error) { return f, nil }, Charter: run, Confirm: confirm, Reason: "wrong list"})
		if exit.Code(err) != code || (len(f.aborted) == 0) != (code != 0) {
			t.Errorf("--confirm %q: %v, aborted %v", confirm, err, f.aborted)
		}
		if code == 0 && strings.Join(f.aborted, "|") != run+"|"+run+"|ops@desk|wrong list" {
			t.Errorf("aborted %v", f.aborted)
		}
	}
}

func TestWhatIsNotThere(t *testing.T) {
	c := clitest.New(t, "")
	f := &fake{err: fmt.Errorf("charter x: %w", governor.ErrNotFound)}
	err := runShow(t.Context(), &showOptions{Factory: c.Factory, Open: func(context.Context) (shower, error) { return f, nil }, Charter: "crm:acme/g/x"})
	if exit.Code(err) != exit.NotFound {
		t.Errorf("got %v", err)
	}
}

func TestParses(t *testing.T) {
	for args, code := range map[string]int{
		"list": 0, "list crm:acme": 0, "list crm:acme/g": 0, "list crm:acme/g/run": 2, "list a b": 2, "show": 2, "show crm:acme/g": 2, "show crm:acme/g/run": 0,
		"abort crm:acme/g": 2, "abort": 2, "abort crm:acme/g/run --confirm crm:acme/g/run": 0,
	} {
		words := strings.Fields(args)
		f := clitest.New(t, "").Factory
		cmd := newList(f, func(context.Context, *listOptions) error { return nil })
		switch words[0] {
		case "show":
			cmd = newShow(f, func(context.Context, *showOptions) error { return nil })
		case "abort":
			cmd = newAbort(f, func(context.Context, *abortOptions) error { return nil })
		}
		cmd.SilenceErrors, cmd.SilenceUsage = true, true
		cmd.SetOut(io.Discard)
		cmd.SetArgs(words[1:])
		if err := cmd.ExecuteContext(t.Context()); exit.Code(err) != code {
			t.Errorf("%q: %v, want code %d", args, err, code)
		}
	}
}
