package dispatch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/traction-go/traction/internal/cli/clitest"
	"github.com/traction-go/traction/internal/cli/exit"
	"github.com/traction-go/traction/internal/cli/render"
	"github.com/traction-go/traction/pkg/governor"
)

// fakeCharter reads its source twice, as the governor does.
type fakeCharter struct {
	spec governor.CharterSpec
	read [2][]string
	res  governor.CharterResult
	err  error
	seen func() // called while the source is in use
}

func (f *fakeCharter) DispatchCharter(_ context.Context, _ string, spec governor.CharterSpec, source governor.Source) (governor.CharterResult, error) {
	f.spec = spec
	if f.seen != nil {
		f.seen()
	}
	for i := range f.read {
		for o, err := range source() {
			if err != nil {
				return f.res, err
			}
			f.read[i] = append(f.read[i], o.BusinessID+" "+string(o.Payload))
		}
	}
	return f.res, f.err
}

func charter(t *testing.T, f *fakeCharter, stdin, file string, format render.Format) (clitest.Cmd, error) {
	t.Helper()
	t.Setenv("TMPDIR", t.TempDir())
	c := clitest.New(t, stdin)
	c.Output, c.Quiet = format, true
	return c, run(t.Context(), &options{Factory: c.Factory, Charters: func(context.Context) (charterer, error) { return f, nil },
		Gate: "crm:acme/contact-sync", BusinessID: "/id", File: file, bulk: bulk{Run: "import-7", Expected: 2, Again: true}})
}

const twoFlights = "{\"id\": 7}\n{\"id\": \"a\"}\n"

func TestASourceIsReadTwice(t *testing.T) {
	named := filepath.Join(t.TempDir(), "flights.jsonl")
	if err := os.WriteFile(named, []byte(twoFlights), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"-", named} {
		f := &fakeCharter{res: governor.CharterResult{Sent: 2}}
		spooled := 0
		f.seen = func() { spooled = len(spool(t)) }
		c, err := charter(t, f, twoFlights, file, render.AsTable)
		if err != nil {
			t.Fatal(err)
		}
		for _, got := range f.read {
			if strings.Join(got, "|") != `7 {"id": 7}|a {"id": "a"}` {
				t.Errorf("%s: read %q", file, f.read)
			}
		}
		if f.spec != (governor.CharterSpec{Run: "import-7", Expected: 2, Again: true, Actor: "ops@desk"}) {
			t.Errorf("spec %+v", f.spec)
		}
		if c.Out.String() != "dispatched 2 flights of crm:acme/contact-sync/import-7\nnext  tractionctl charter show crm:acme/contact-sync/import-7\n" {
			t.Errorf("got %s", c.Out)
		}
		if want := map[bool]int{true: 1, false: 0}[file == "-"]; spooled != want || len(spool(t)) != 0 {
			t.Errorf("%s: %d temporary files meanwhile, want %d; %v afterwards", file, spooled, want, spool(t))
		}
	}
}

func spool(t *testing.T) []string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(os.TempDir(), "traction-dispatch-*"))
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestHowARunEnds(t *testing.T) {
	for name, tt := range map[string]struct {
		in   string
		res  governor.CharterResult
		err  error
		code int
		out  string
	}{
		"again":         {twoFlights, governor.CharterResult{Standing: 2}, nil, 0, "dispatched 0 flights of crm:acme/contact-sync/import-7; 2 left alone"},
		"shorter":       {twoFlights, governor.CharterResult{Sent: 2, Missing: 3}, fmt.Errorf("%w: shorter", governor.ErrPartial), 6, "2 flights of crm:acme/contact-sync/import-7; 3 expected and not in the source"},
		"not confirmed": {twoFlights, governor.CharterResult{Sent: 1, Failed: 1}, governor.ErrPartial, 6, "1 not confirmed"},
		"other source":  {twoFlights, governor.CharterResult{}, governor.ErrRefused, 4, ""},
		"not JSON":      {"{\"id\":1}\n{]", governor.CharterResult{}, nil, 2, ""},
		"no such gate":  {twoFlights, governor.CharterResult{}, governor.ErrNotFound, 3, ""},
		"unreachable":   {twoFlights, governor.CharterResult{}, governor.ErrUnreachable, 5, ""},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := charter(t, &fakeCharter{res: tt.res, err: tt.err}, tt.in, "-", render.AsTable)
			if exit.Code(err) != tt.code || !strings.Contains(c.Out.String(), tt.out) || tt.out == "" && c.Out.Len() > 0 {
				t.Errorf("%v (code %d, want %d), stdout %s", err, exit.Code(err), tt.code, c.Out)
			}
			if len(spool(t)) != 0 {
				t.Errorf("%v is left", spool(t))
			}
		})
	}
	c, err := charter(t, &fakeCharter{res: governor.CharterResult{Sent: 2, Missing: 1}, err: governor.ErrPartial}, twoFlights, "-", render.AsJSONL)
	if want := `{"gate":"crm:acme/contact-sync","charter":"crm:acme/contact-sync/import-7","sent":2,"standing":0,"failed":0,"missing":1}` + "\n"; !errors.Is(err, governor.ErrPartial) || c.Out.String() != want {
		t.Errorf("%v, got %s", err, c.Out)
	}
}

func TestBulkFlags(t *testing.T) {
	for args, code := range map[string]int{
		"a/b --charter run --expected 3": 0, "a/b --charter run --expected 3 --again": 0, "a/b --charter run": 2, "a/b --expected 3": 2, "a/b --again": 2,
		"a/b --charter run --expected 0": 2, "a/b --charter r/n --expected 1": 2, "a/b --charter= --expected 1": 2,
	} {
		cmd := newCmd(clitest.New(t, "").Factory, func(context.Context, *options) error { return nil })
		cmd.SilenceErrors, cmd.SilenceUsage = true, true
		cmd.SetOut(io.Discard)
		cmd.SetArgs(strings.Fields(args))
		if err := cmd.ExecuteContext(t.Context()); exit.Code(err) != code {
			t.Errorf("%q: %v, want code %d", args, err, code)
		}
	}
}
