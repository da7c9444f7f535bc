package scopeverb

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/traction-go/traction/internal/cli/clitest"
	"github.com/traction-go/traction/internal/cli/exit"
	"github.com/traction-go/traction/internal/cli/render"
	"github.com/traction-go/traction/pkg/governor"
)

type fakeRemover struct {
	err   error
	calls int
	got   governor.RemoveOptions
}

func (f *fakeRemover) Remove(_ context.Context, scope string, o governor.RemoveOptions) (governor.Removal, error) {
	f.calls, f.got = f.calls+1, o
	return governor.Removal{Scope: scope, Moved: 3}, f.err
}

func TestRemove(t *testing.T) {
	gate := "crm:acme/contacts"
	for _, c := range []struct {
		noun          Noun
		args          []string
		format        render.Format
		err           error
		code, reached int
		out           string
	}{
		{Gate, []string{gate}, render.AsTable, nil, exit.Refused, 0, ""},
		{Gate, []string{gate, "--confirm", "crm:acme"}, render.AsTable, nil, exit.Refused, 0, ""},
		{Gate, []string{gate, "--confirm", gate}, render.AsTable, nil, exit.Done, 1, gate + " is removed\n"},
		{Gate, []string{gate, "--confirm", gate, "--to", "q\x1b"}, render.AsTable, nil, exit.Done, 1, gate + ` is removed; 3 flights moved to queue q\x1b` + "\n"},
		{Gate, []string{gate, "--confirm", gate, "--to", "q"}, render.AsJSONL, nil, exit.Done, 1, `{"scope":"crm:acme/contacts","moved":3,"to":"q"}` + "\n"},
		{Gate, []string{gate, "--confirm", gate, "--to", ""}, render.AsTable, nil, exit.Usage, 0, ""},
		{Gate, []string{gate, "--confirm", gate}, render.AsTable, fmt.Errorf("x: %w", governor.ErrPartial), exit.Partial, 1, ""},
		{Gate, []string{"crm:acme", "--confirm", "crm:acme"}, render.AsTable, nil, exit.Usage, 0, ""},
		{Airport, []string{"crm:acme", "--confirm", "crm:acme"}, render.AsTable, nil, exit.Done, 1, "crm:acme is removed\n"},
		{Airport, []string{"crm:acme", "--confirm", "crm:acme", "--to", "q"}, render.AsTable, nil, exit.Failed, 0, ""},
	} {
		k := clitest.New(t, "")
		k.Output = c.format
		f := &fakeRemover{err: c.err}
		cmd := NewRemove(k.Factory, c.noun, func(ctx context.Context, o *RemoveOptions) error {
			o.Open = func(context.Context) (removerOf, error) { return f, nil }
			return runRemove(ctx, o)
		})
		cmd.SilenceErrors, cmd.SilenceUsage = true, true
		cmd.SetArgs(c.args)
		if err := cmd.Execute(); exit.Code(err) != c.code || f.calls != c.reached || k.Out.String() != c.out {
			t.Errorf("%q: %v, %d calls, stdout %q", c.args, err, f.calls, k.Out)
		}
		if f.calls > 0 && f.got.Actor != "ops@desk" {
			t.Errorf("%+v", f.got)
		}
	}
}

// Told to stop, it says how far it came and what is next, with --quiet too: the error of
// a signal has no text of its own.
func TestAnInterruptedRemovalSaysHowFarItCame(t *testing.T) {
	gate := "crm:acme/contacts"
	for name, c := range map[string]struct {
		noun Noun
		args []string
		err  error
		code int
		want []string
	}{
		"moving": {Gate, []string{gate, "--confirm", gate, "--to", "q"}, errors.Join(governor.ErrPartial, &exit.SignalError{Signal: os.Interrupt}), exit.Interrupted,
			[]string{"moved 3 flights to queue q", "tractionctl gate remove " + gate + " --confirm " + gate + " --to q\n", "tractionctl gate reopen " + gate}},
		"an airport": {Airport, []string{"crm:acme", "--confirm", "crm:acme"}, errors.Join(governor.ErrPartial, &exit.SignalError{Signal: syscall.SIGTERM}), exit.Terminated,
			[]string{"removal of crm:acme was told to stop", "tractionctl airport remove crm:acme --confirm crm:acme\n", "tractionctl airport reopen crm:acme"}},
		"before": {Gate, []string{gate, "--confirm", gate}, &exit.SignalError{Signal: os.Interrupt}, exit.Interrupted, []string{gate + " was not removed"}},
	} {
		k := clitest.New(t, "")
		k.Quiet = true
		f := &fakeRemover{err: c.err}
		cmd := NewRemove(k.Factory, c.noun, func(ctx context.Context, o *RemoveOptions) error {
			o.Open = func(context.Context) (removerOf, error) { return f, nil }
			return runRemove(ctx, o)
		})
		cmd.SilenceErrors, cmd.SilenceUsage = true, true
		cmd.SetArgs(c.args)
		if err := cmd.Execute(); exit.Code(err) != c.code || k.Out.Len() > 0 {
			t.Errorf("%s: %v, stdout %q", name, err, k.Out)
		}
		for _, want := range c.want {
			if !strings.Contains(k.Err.String(), want) {
				t.Errorf("%s: stderr %q, want %q in it", name, k.Err, want)
			}
		}
	}
}
