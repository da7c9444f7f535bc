package top

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/traction-go/traction/internal/cli/clitest"
	"github.com/traction-go/traction/internal/cli/exit"
	"github.com/traction-go/traction/pkg/governor"
)

// fake answers readings; it has no verbs, which nothing here may call.
type fake struct {
	looked
	err error
}

func (f fake) Airports(context.Context) ([]governor.AirportInfo, error) {
	return clitest.Airports(), f.err
}
func (f fake) Processes(context.Context) ([]governor.ProcessInfo, error) {
	return clitest.Processes(), nil
}

func opened(c clitest.Cmd, f fake) *options {
	return &options{Factory: c.Factory, Interval: time.Second, Open: func(context.Context) (looked, error) { return f, nil }}
}

func TestOnceAndWithoutATerminal(t *testing.T) {
	c := clitest.New(t, "")
	o := opened(c, fake{})
	o.Once = true
	if err := run(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	got := c.Out.String()
	if !strings.Contains(got, "crm:acme") || !strings.Contains(got, `\x1b[2J`) || strings.Contains(got, "\x1b") {
		t.Errorf("got %q", got)
	}
	if c.Err.Len() > 0 {
		t.Errorf("stderr has %q", c.Err)
	}

	// Without --once it goes on until the context ends, with its cause.
	c = clitest.New(t, "")
	ctx, cancel := context.WithCancelCause(t.Context())
	end := &exit.SignalError{Signal: os.Interrupt}
	o = opened(c, fake{})
	c.Streams.Out = writer(func(p []byte) (int, error) { cancel(end); return len(p), nil })
	if err := run(ctx, o); exit.Code(err) != exit.Interrupted {
		t.Errorf("got %v", err)
	}
}

type writer func([]byte) (int, error)

func (w writer) Write(p []byte) (int, error) { return w(p) }

func TestAStoreThatIsAwayIsTheExitCode(t *testing.T) {
	c := clitest.New(t, "")
	o := opened(c, fake{err: governor.ErrUnreachable})
	o.Once = true
	if err := run(t.Context(), o); exit.Code(err) != exit.Unreachable {
		t.Errorf("got %v", err)
	}
	o.Open = func(context.Context) (looked, error) { return nil, governor.ErrUnreachable }
	if err := run(t.Context(), o); exit.Code(err) != exit.Unreachable {
		t.Errorf("got %v", err)
	}
}

func TestTheLogComesBackAfterTheOpening(t *testing.T) {
	c := clitest.New(t, "")
	c.InTTY, c.OutTTY = true, true
	o := opened(c, fake{})
	var during io.Writer
	o.Open = func(context.Context) (looked, error) { during = c.Factory.Err; return nil, errors.New("no") }
	_ = run(t.Context(), o)
	if during == io.Writer(c.Err) {
		t.Error("the log goes onto the screen of the view")
	}
	if c.Factory.Err != io.Writer(c.Err) {
		t.Error("errors no longer go to stderr")
	}
}

func TestParses(t *testing.T) {
	for args, code := range map[string]int{
		"": 0, "--once": 0, "--read-only --interval 5s": 0, "extra": 2, "--interval 1ms": 2, "--interval soon": 2,
	} {
		cmd := newCmd(clitest.New(t, "").Factory, func(context.Context, *options) error { return nil })
		cmd.SilenceErrors, cmd.SilenceUsage = true, true
		cmd.SetFlagErrorFunc(nil)
		cmd.SetOut(io.Discard)
		cmd.SetErr(io.Discard)
		cmd.SetArgs(strings.Fields(args))
		err := cmd.ExecuteContext(t.Context())
		if got := exit.Code(err); got != code && !(strings.Contains(args, "soon") && err != nil) {
			t.Errorf("%q: %v, want code %d", args, err, code)
		}
	}
	c := clitest.New(t, "")
	c.Output = "json"
	cmd := newCmd(c.Factory, func(context.Context, *options) error { return nil })
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.SetArgs(nil)
	if err := cmd.ExecuteContext(t.Context()); exit.Code(err) != exit.Usage {
		t.Errorf("-o json: got %v", err)
	}
}

func TestReadOnlyComesFromTheFlagOrTheContext(t *testing.T) {
	file := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(file, []byte("current: prod\ncontexts: {prod: {read_only: true}}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := clitest.New(t, "", "TRACTION_CONFIG", file)
	for flag, want := range map[bool]string{true: "--read-only", false: "context prod"} {
		o := opened(c, fake{})
		o.ReadOnly = flag
		s, err := o.Settings()
		if err != nil {
			t.Fatal(err)
		}
		if got := view(o, s, fake{}).ReadOnly; got != want {
			t.Errorf("read-only %q, want %q", got, want)
		}
	}
	if s, _ := clitest.New(t, "").Settings(); view(opened(clitest.New(t, ""), fake{}), s, fake{}).ReadOnly != "" {
		t.Error("read-only, and nobody asked for it")
	}
}

func TestShell(t *testing.T) {
	for _, c := range []struct{ context, named, namespace, want string }{
		{"", "", "tr", "tractionctl"}, {"prod", "", "eu", "tractionctl"}, {"prod", "prod", "eu", "tractionctl --context prod"},
		{"", "", "eu", "tractionctl --namespace eu"},
	} {
		if got := shell(c.context, c.named, c.namespace); got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
}
