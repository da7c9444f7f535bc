package dispatch

import (
	"context"
	"errors"
	"io"
	"iter"
	"os"
	"strings"
	"testing"

	"github.com/traction-go/traction/internal/cli/clitest"
	"github.com/traction-go/traction/internal/cli/exit"
	"github.com/traction-go/traction/internal/cli/render"
	"github.com/traction-go/traction/pkg/governor"
)

// fake confirms what it is given, and fails from the failAt-th on.
type fake struct {
	got    []governor.Outgoing
	failAt int
	err    error

	noted   []governor.DispatchResult
	ended   error
	noStore error
	begun   int
	late    int // flights that were sent before that
	noGate  error
}

func (f *fake) AuditDispatchBegun(context.Context, string) error {
	if f.noStore != nil || f.noGate != nil {
		return errors.Join(f.noStore, f.noGate)
	}
	f.begun++
	f.late += len(f.got)
	return nil
}

func (f *fake) AuditDispatch(ctx context.Context, _ string, r governor.DispatchResult, ended error) error {
	if f.noStore != nil {
		return f.noStore
	}
	f.noted, f.ended = append(f.noted, r), ended
	return ctx.Err()
}

func (f *fake) DispatchAll(_ context.Context, _ string, seq iter.Seq2[governor.Outgoing, error]) (governor.DispatchResult, error) {
	var r governor.DispatchResult
	for out, err := range seq {
		if err != nil {
			return r, err
		}
		if f.failAt > 0 && len(f.got)+1 >= f.failAt {
			r.Failed++
			if f.err != nil {
				return r, f.err
			}
			continue
		}
		f.got = append(f.got, out)
		r.Sent++
	}
	return r, nil
}

func dispatch(t *testing.T, f *fake, input, pointer string, format render.Format) (clitest.Cmd, error) {
	t.Helper()
	c := clitest.New(t, input)
	c.Output, c.Quiet = format, true
	return c, run(t.Context(), &options{Factory: c.Factory, Open: func(context.Context) (dispatcher, error) { return f, nil },
		Gate: "crm:acme/contact-sync", BusinessID: pointer, File: "-"})
}

func TestJSONLines(t *testing.T) {
	f := &fake{}
	c, err := dispatch(t, f, "{\"id\": 7,  \"x\":1}\n\n{\"id\": \"a/b\"}\n", "/id", render.AsTable)
	if err != nil {
		t.Fatal(err)
	}
	if len(f.got) != 2 || string(f.got[0].Payload) != `{"id": 7,  "x":1}` || f.got[0].BusinessID != "7" || f.got[1].BusinessID != "a/b" {
		t.Errorf("sent %+v: want both, byte for byte, with their ids", f.got)
	}
	if want := "dispatched 2 flights to crm:acme/contact-sync\n"; c.Out.String() != want {
		t.Errorf("got %q want %q", c.Out, want)
	}
}

func TestADispatchStandsInTheAudit(t *testing.T) {
	f := &fake{}
	if _, err := dispatch(t, f, "1\n2\n", "", render.AsTable); err != nil || len(f.noted) != 1 || f.noted[0].Sent != 2 || f.ended != nil || f.begun != 1 || f.late != 0 {
		t.Errorf("%v, noted %+v, ended %v", err, f.noted, f.ended)
	}
	f = &fake{failAt: 2, err: governor.ErrUnreachable}
	if _, err := dispatch(t, f, "1\n2\n", "", render.AsTable); exit.Code(err) != exit.Partial || len(f.noted) != 1 || f.noted[0].Sent != 1 || f.ended == nil {
		t.Errorf("%v, noted %+v, ended %v", err, f.noted, f.ended)
	}
	// A dispatch that was begun has an end, whatever became of it; one that could not
	// begin has neither.
	f = &fake{failAt: 1, err: governor.ErrUnreachable}
	if _, err := dispatch(t, f, "1\n", "", render.AsTable); exit.Code(err) != exit.Unreachable || f.begun != 1 || len(f.noted) != 1 || f.noted[0].Sent != 0 || f.ended == nil {
		t.Errorf("%v, begun %d, noted %+v, ended %v", err, f.begun, f.noted, f.ended)
	}
	f = &fake{}
	if _, err := dispatch(t, f, "{]", "", render.AsTable); exit.Code(err) != exit.Usage || f.begun != 0 || len(f.noted) != 0 {
		t.Errorf("%v, begun %d, noted %+v", err, f.begun, f.noted)
	}
	f = &fake{failAt: 1, err: governor.ErrNotFound, noGate: governor.ErrNotFound}
	if _, err := dispatch(t, f, "1\n", "", render.AsTable); exit.Code(err) != exit.NotFound || len(f.noted) != 0 {
		t.Errorf("nothing was sent: %v, noted %+v", err, f.noted)
	}
	// Without a store it is dispatched all the same.
	f = &fake{noStore: governor.ErrUnreachable}
	c := clitest.New(t, "1\n")
	err := run(t.Context(), &options{Factory: c.Factory, Open: func(context.Context) (dispatcher, error) { return f, nil }, Gate: "crm:acme/contact-sync", File: "-"})
	if err != nil || !strings.Contains(c.Out.String(), "dispatched 1 flight") || !strings.Contains(c.Err.String(), "not in the audit: unreachable") {
		t.Errorf("%v\nstdout %s\nstderr %s", err, c.Out, c.Err)
	}
}

func TestOnePayloadOverManyLines(t *testing.T) {
	f := &fake{}
	in := "{\n  \"a\": {\"b~/c\": [10, 12345678901234567890]}\n}"
	c, err := dispatch(t, f, in, "/a/b~0~1c/1", render.AsJSONL)
	if err != nil {
		t.Fatal(err)
	}
	if len(f.got) != 1 || string(f.got[0].Payload) != in || f.got[0].BusinessID != "12345678901234567890" {
		t.Errorf("sent %+v: want one, its number with all its digits", f.got)
	}
	if want := `{"gate":"crm:acme/contact-sync","sent":1,"failed":0}` + "\n"; c.Out.String() != want {
		t.Errorf("got %q want %q", c.Out, want)
	}
}

func TestEmptyInput(t *testing.T) {
	c, err := dispatch(t, &fake{}, "\n \n", "", render.AsTable)
	if err != nil || c.Out.String() != "dispatched 0 flights to crm:acme/contact-sync\n" {
		t.Errorf("%v, %q", err, c.Out)
	}
}

func TestWhatIsDoneAndWhatIsNot(t *testing.T) {
	for name, tt := range map[string]struct {
		input, pointer string
		f              fake
		code, sent     int
		says           string
	}{
		"bad first":          {input: "{]", code: 2, says: "line 1"},
		"bad third":          {input: "1\n2\n\n{\"a\":]\n", code: 6, sent: 2, says: "payload 3, line 4"},
		"cut off":            {input: "1\n{\"a\":\n", code: 6, sent: 1, says: "ends on line 3"},
		"no business id":     {input: "{\"id\":\"1\"}\n{\"x\":1}\n", pointer: "/id", code: 6, sent: 1, says: "line 2: business id: /id is missing"},
		"null business id":   {input: "{\"id\":null}", pointer: "/id", code: 2, says: "neither a string nor a number"},
		"broken business id": {input: "{\"id\":\"a\xff\"}", pointer: "/id", code: 2, says: "/id is not UTF-8"},
		"half a character":   {input: `{"id":"\ud800"}`, pointer: "/id", code: 2, says: "/id is not UTF-8"},
		"empty business id":  {input: "{\"id\":\"\"}", pointer: "/id", code: 2, says: "/id is empty"},
		"long business id":   {input: "{\"id\":\"" + strings.Repeat("x", 300) + "\"}", pointer: "/id", code: 2, says: "300 bytes"},
		"into a string":      {input: "\"abc\"", pointer: "/id", code: 2, says: "/id is missing"},
		"not confirmed":      {input: "1\n2\n3\n", f: fake{failAt: 2}, code: 6, sent: 1, says: "did not confirm 2 flights"},
		"none confirmed":     {input: "1\n", f: fake{failAt: 1, err: governor.ErrUnreachable}, code: 5},
		"broker goes away":   {input: "1\n2\n", f: fake{failAt: 2, err: governor.ErrUnreachable}, code: 6, sent: 1},
		"no such gate":       {input: "1\n", f: fake{failAt: 1, err: governor.ErrNotFound}, code: 3},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := dispatch(t, &tt.f, tt.input, tt.pointer, render.AsTable)
			if exit.Code(err) != tt.code || len(tt.f.got) != tt.sent || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("%v (code %d), sent %d; want code %d, sent %d, %q", err, exit.Code(err), len(tt.f.got), tt.code, tt.sent, tt.says)
			}
		})
	}
}

func TestASignalEndsAReadThatBlocks(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	blocked, release := make(chan struct{}), make(chan struct{})
	defer close(release)
	in := io.MultiReader(strings.NewReader("1\n"), readFunc(func([]byte) (int, error) {
		close(blocked)
		<-release // a pipe that nobody writes to
		return 0, io.EOF
	}))
	c := clitest.New(t, "")
	c.In = in
	f := &fake{}
	go func() {
		<-blocked
		cancel(&exit.SignalError{Signal: os.Interrupt})
	}()
	err := run(ctx, &options{Factory: c.Factory, Open: func(context.Context) (dispatcher, error) { return f, nil }, Gate: "a/b", File: "-"})
	if exit.Code(err) != exit.Interrupted || len(f.got) != 1 || !strings.Contains(c.Out.String(), "dispatched 1 flight ") {
		t.Fatalf("%v, stdout %q: want the signal's code, and what was sent before it", err, c.Out)
	}
}

type readFunc func([]byte) (int, error)

func (f readFunc) Read(p []byte) (int, error) { return f(p) }

func TestParses(t *testing.T) {
	for _, tt := range []struct {
		args string
		tty  bool
		code int
	}{
		{"crm:acme/g", false, 0}, {"crm:acme/g", true, 2}, {"crm:acme/g --file -", true, 0},
		{"crm:acme", false, 2}, {"crm:acme/g/run", false, 2}, {"crm:acme/g --business-id id", false, 2}, {"crm:acme/g --business-id /id", false, 0},
	} {
		c := clitest.New(t, "")
		c.InTTY = tt.tty
		cmd := newCmd(c.Factory, func(context.Context, *options) error { return nil })
		cmd.SilenceErrors, cmd.SilenceUsage = true, true
		cmd.SetOut(io.Discard)
		cmd.SetArgs(strings.Fields(tt.args))
		if err := cmd.ExecuteContext(t.Context()); exit.Code(err) != tt.code {
			t.Errorf("%q (terminal %v): %v, want code %d", tt.args, tt.tty, err, tt.code)
		}
	}
}

// A file that cannot be read is what the command line has wrong, and the hint names it.
func TestAFileThatCannotBeRead(t *testing.T) {
	for _, file := range []string{"/nodir/x", t.TempDir()} {
		c := clitest.New(t, "")
		err := run(t.Context(), &options{Factory: c.Factory, Gate: "crm:acme/contact-sync", File: file,
			Open: func(context.Context) (dispatcher, error) { return &fake{}, nil }})
		var hint *exit.Hint
		if exit.Code(err) != exit.Usage || !errors.As(err, &hint) || hint.Next != file+" must be a file that can be read" {
			t.Errorf("%s: %v, code %d", file, err, exit.Code(err))
		}
	}
}
