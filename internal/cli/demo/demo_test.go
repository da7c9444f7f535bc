package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/traction-go/traction/internal/cli/clitest"
	"github.com/traction-go/traction/internal/cli/exit"
	"github.com/traction-go/traction/internal/cli/render"
	"github.com/traction-go/traction/internal/demo"
)

// player stands for the scenarios: it records what it was asked to play.
type player struct {
	names []string
	got   []demo.Options
	fail  string // the scenario that differs
}

func (p *player) play(_ context.Context, name string, o demo.Options) (*demo.Result, error) {
	p.names, p.got = append(p.names, name), append(p.got, o)
	r := &demo.Result{Scenario: name, Label: name, Facts: []demo.Fact{{Name: "lost", Value: 3}, {Name: "error lines", Value: 12}}}
	if name == p.fail {
		r.Differences = []string{"lost: 3, want 0"}
		return r, fmt.Errorf("%w: lost: 3, want 0", demo.ErrDiffers)
	}
	return r, nil
}

func runWith(t *testing.T, c clitest.Cmd, p *player, args ...string) error {
	t.Helper()
	cmd := newCmd(c.Factory, func(ctx context.Context, o *options) error {
		o.Play = p.play
		return run(ctx, o)
	})
	cmd.SetArgs(args)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	return cmd.ExecuteContext(t.Context())
}

func TestBothByDefault(t *testing.T) {
	c, p := clitest.New(t, ""), &player{}
	if err := runWith(t, c, p); err != nil {
		t.Fatal(err)
	}
	if got, want := c.Out.String(), "naive: lost: 3 · error lines: 12\noutage: lost: 3 · error lines: 12\n"; got != want {
		t.Errorf("stdout\n%swant\n%s", got, want)
	}
	if !strings.Contains(c.Err.String(), "not for production") {
		t.Errorf("stderr does not say what embedded means: %s", c.Err)
	}
	if o := p.got[0]; !o.Services.Embedded() || o.Rate != demo.DefaultRate || o.Actor != "ops@desk" {
		t.Errorf("played with %+v", o)
	}
}

func TestWhereItPlays(t *testing.T) {
	real := []string{"TRACTION_AMQP_URL", "amqp://u:hunter2@mq/", "TRACTION_REDIS_URL", "redis://st", "TRACTION_NAMESPACE", "prod"}
	for name, tt := range map[string]struct {
		env       []string
		embedded  bool
		flag      string // --namespace
		namespace string // its beginning
		args      []string
	}{
		"urls in the environment":     {env: real, namespace: "demo-"},
		"a namespace that was asked":  {env: real, flag: "mine", namespace: "mine"},
		"embedded all the same":       {env: real, embedded: true, args: []string{"--embedded"}},
		"a namespace needs no broker": {env: []string{"TRACTION_NAMESPACE", "prod"}, embedded: true},
	} {
		t.Run(name, func(t *testing.T) {
			c, p := clitest.New(t, "", tt.env...), &player{}
			c.Flags.Namespace = tt.flag
			if err := runWith(t, c, p, append([]string{"outage", "--rate", "20"}, tt.args...)...); err != nil {
				t.Fatal(err)
			}
			s := p.got[0].Services
			if s.Embedded() != tt.embedded || !strings.HasPrefix(s.Namespace, tt.namespace) || p.got[0].Rate != 20 || !slices.Equal(p.names, []string{"outage"}) {
				t.Errorf("played %v with %+v", p.names, p.got[0])
			}
			if strings.Contains(c.Err.String(), "hunter2") {
				t.Errorf("stderr shows a password: %s", c.Err)
			}
			if !tt.embedded && !strings.Contains(c.Err.String(), "namespace "+s.Namespace) {
				t.Errorf("stderr does not name the namespace: %s", c.Err)
			}
		})
	}
}

func TestADifferenceFails(t *testing.T) {
	c, p := clitest.New(t, ""), &player{fail: "naive"}
	err := runWith(t, c, p)
	var hint *exit.Hint
	if exit.Code(err) != exit.Failed || !strings.Contains(err.Error(), "naive: ") || !strings.Contains(err.Error(), "lost: 3, want 0") || !errors.As(err, &hint) {
		t.Errorf("got %v", err)
	}
	if !strings.HasPrefix(c.Out.String(), "naive: lost: 3") || len(p.names) != 1 {
		t.Errorf("played %v: %s", p.names, c.Out)
	}
}

func TestJSON(t *testing.T) {
	c, p := clitest.New(t, ""), &player{fail: "outage"}
	c.Output = render.AsJSON
	if err := runWith(t, c, p); exit.Code(err) != exit.Failed {
		t.Errorf("got %v", err)
	}
	var got []form
	if err := json.Unmarshal(c.Out.Bytes(), &got); err != nil || len(got) != 2 {
		t.Fatalf("%v: %s", err, c.Out)
	}
	if !got[0].Passed || got[1].Passed || got[0].Measured["error_lines"] != 12.0 || got[0].Differences == nil {
		t.Errorf("got %+v", got)
	}
}

// A scenario that compares two consumers tells of both.
func TestBothConsumersOfOneScenario(t *testing.T) {
	play := func(_ context.Context, name string, _ demo.Options) (*demo.Result, error) {
		took := []demo.Fact{{Name: "drain", Value: 41250 * time.Millisecond}}
		return &demo.Result{Scenario: name, Label: "traction", Facts: took, Against: &demo.Result{Scenario: name, Label: "naive", Facts: took}}, nil
	}
	for output, want := range map[render.Format]string{
		render.AsTable: "naive: drain: 41s\ntraction: drain: 41s\n",
		render.AsJSONL: `{"scenario":"batch","label":"naive","passed":true,"measured":{"drain_s":41.25},"differences":[]}
{"scenario":"batch","label":"traction","passed":true,"measured":{"drain_s":41.25},"differences":[]}
`,
	} {
		c := clitest.New(t, "")
		c.Output = output
		if err := run(t.Context(), &options{Factory: c.Factory, Play: play, Scenarios: []string{"batch"}}); err != nil {
			t.Fatal(err)
		}
		if c.Out.String() != want {
			t.Errorf("got\n%swant\n%s", c.Out, want)
		}
	}
}

func TestUsage(t *testing.T) {
	for _, args := range [][]string{{"nope"}, {"naive", "outage"}, {"--rate", "0"}, {"--rate", "20000"}} {
		if err := runWith(t, clitest.New(t, ""), &player{}, args...); exit.Code(err) != exit.Usage {
			t.Errorf("%v: got %v, want a usage error", args, err)
		}
	}
}

func TestFold(t *testing.T) {
	text := "traction: lost: 0 · notifications: 1 · calls to the dead vendor: 12 · recovery: one command"
	want := "traction: lost: 0 · notifications: 1 · calls to the dead vendor: 12 ·\n  recovery: one command"
	if got := fold(text, 80); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
