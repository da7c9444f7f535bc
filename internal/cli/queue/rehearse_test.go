package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/traction-go/traction/internal/cli/clitest"
	"github.com/traction-go/traction/internal/cli/exit"
	"github.com/traction-go/traction/internal/cli/render"
	"github.com/traction-go/traction/internal/rehearse"
	"github.com/traction-go/traction/pkg/governor"
)

// configured writes a worker's configuration.
func configured(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "traction.yaml")
	text := "amqp: amqp://file\nredis: redis://file\nnamespace: mine\nairports:\n  crm:acme:\n    gates:\n      contacts:\n        http: {url: 'http://127.0.0.1:1/'}\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestRehearseParsing(t *testing.T) {
	for line, code := range map[string]int{
		"-c f":                    exit.Done,
		"--config f --flights 50": exit.Done,
		"":                        exit.Usage,
		"f":                       exit.Usage,
		"-c f --flights 0":        exit.Usage,
		"-c f --flights 1001":     exit.Usage,
	} {
		c := clitest.New(t, "")
		cmd := newRehearse(c.Factory, func(_ context.Context, o *rehearseOptions) error {
			if o.Config != "f" || o.Flights < 20 {
				return fmt.Errorf("%+v", o)
			}
			return nil
		})
		cmd.SetArgs(strings.Fields(line))
		cmd.SilenceErrors, cmd.SilenceUsage = true, true
		if err := cmd.Execute(); exit.Code(err) != code {
			t.Errorf("%q: %v, want code %d", line, err, code)
		}
	}
}

// Flag, environment, then the file; the default of other commands says nothing.
func TestWhereItRehearses(t *testing.T) {
	file := configured(t)
	for name, c := range map[string]struct {
		env   []string
		flag  []string
		ns    string
		want  string
		redis string
	}{
		"the file":        {want: "amqp://file", redis: "redis://file"},
		"the environment": {env: []string{"TRACTION_AMQP_URL", "amqp://env", "TRACTION_NAMESPACE", "theirs"}, want: "amqp://env", redis: "redis://file"},
		"a flag":          {env: []string{"TRACTION_AMQP_URL", "amqp://env"}, flag: []string{"amqp://guest:guest@localhost:5672/"}, ns: "throw", want: "amqp://guest:guest@localhost:5672/", redis: "redis://file"},
	} {
		k := clitest.New(t, "", c.env...)
		k.Flags.AMQP, k.Flags.Namespace = c.flag, c.ns
		var got rehearse.Options
		err := runRehearse(t.Context(), &rehearseOptions{Factory: k.Factory, Config: file, Flights: 7, Rehearse: func(_ context.Context, o rehearse.Options) (*rehearse.Report, error) {
			got = o
			return nil, governor.ErrRefused
		}})
		if exit.Code(err) != exit.Refused || got.AMQP != c.want || got.Redis != c.redis || got.Namespace != c.ns || got.Wanted != "mine" || got.Flights != 7 || len(got.Airports) != 1 || got.Actor != "ops@desk" {
			t.Errorf("%s: %v %+v", name, err, got)
		}
	}
	k := clitest.New(t, "")
	if err := runRehearse(t.Context(), &rehearseOptions{Factory: k.Factory, Config: "nowhere.yaml"}); exit.Code(err) != exit.Usage {
		t.Errorf("a file that is not there: %v", err)
	}
}

func sampleReport() *rehearse.Report {
	return &rehearse.Report{Namespace: "rehearse-1", Flights: 7, Notes: []string{"holds are shortened"},
		Steps: []rehearse.Step{
			{Name: "compare", Result: rehearse.Failed, Took: 1234 * time.Millisecond, Wanted: "none refused", Seen: "406 " + clitest.Evil, Next: "delete it"},
			{Name: "land", Result: rehearse.Passed, Seen: "7 flights landed"}, {Name: "clean", Result: rehearse.Passed}},
		Books: []rehearse.Books{{Gate: "crm:acme/contacts", Tally: rehearse.Tally{Sent: 7, Landed: 7}}}}
}

func TestRehearsalOutput(t *testing.T) {
	file := configured(t)
	mismatch := &rehearse.Mismatch{Step: "compare", Wanted: "none refused", Seen: "406", Next: "delete it"}
	for _, c := range []struct {
		format render.Format
		err    error
		code   int
		want   []string
	}{
		{render.AsTable, mismatch, exit.Failed, []string{"rehearsal of traction.yaml in namespace rehearse-1, 7 flights to each gate", "compare         failed     1.2s  wanted none refused; saw 406",
			"land            passed     0.0s  7 flights landed\n", "clean           passed     0.0s  -\n", "crm:acme/contacts     7       7         0",
			"\nnext: delete it\nverdict: failed at compare; 7 sent = 7 landed + 0 rejected + 0 parked + 0 discarded + 0 left; nothing of namespace rehearse-1 is left\n"}},
		{render.AsJSON, mismatch, exit.Failed, []string{`"passed": false`, `"left_behind": []`, `"step": "compare"`}},
		{render.AsJSONL, &exit.SignalError{Signal: syscall.SIGINT}, exit.Interrupted, []string{`"verdict":"failed at compare; `}},
		{render.AsTable, fmt.Errorf("step land: %w", governor.ErrUnreachable), exit.Unreachable, []string{"verdict: "}},
	} {
		k := clitest.New(t, "")
		k.Output = c.format
		err := runRehearse(t.Context(), &rehearseOptions{Factory: k.Factory, Config: file, Flights: 7, Rehearse: func(_ context.Context, o rehearse.Options) (*rehearse.Report, error) {
			r := sampleReport()
			o.Begun(r)
			for _, s := range r.Steps {
				o.Told(s)
			}
			return r, c.err
		}})
		out := k.Out.String()
		for _, want := range c.want {
			if !strings.Contains(out, want) {
				t.Errorf("%s: no %q in\n%s", c.format, want, out)
			}
		}
		var hint *exit.Hint
		if exit.Code(err) != c.code || c.err == error(mismatch) && (!errors.As(err, &hint) || hint.Next != "delete it") {
			t.Errorf("%v, code %d, want %d", err, exit.Code(err), c.code)
		}
		if strings.ContainsAny(out, "\x1b\u202e") || !strings.Contains(k.Err.String(), "broker amqp://file  store redis://file  namespace rehearse-1\n") {
			t.Errorf("stdout %q stderr %q", out, k.Err)
		}
		if c.format == render.AsJSON && !json.Valid(k.Out.Bytes()) {
			t.Errorf("not JSON: %s", out)
		}
	}
}

func TestAReadOnlyContextRehearsesNothing(t *testing.T) {
	contexts := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(contexts, []byte("current: look\ncontexts:\n  look: {amqp: 'amqp://b', redis: 'redis://s', read_only: true}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	k := clitest.New(t, "", "TRACTION_CONFIG", contexts)
	err := runRehearse(t.Context(), &rehearseOptions{Factory: k.Factory, Config: configured(t), Rehearse: func(context.Context, rehearse.Options) (*rehearse.Report, error) {
		t.Error("it was rehearsed")
		return nil, nil
	}})
	if exit.Code(err) != exit.Refused {
		t.Error(err)
	}
}
