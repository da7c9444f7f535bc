package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/traction-go/traction/internal/cli/clitest"
	"github.com/traction-go/traction/internal/cli/exit"
	"github.com/traction-go/traction/pkg/governor"
)

// walk visits every command of the tree but cobra's own completions.
func walk(cmd *cobra.Command, visit func(*cobra.Command)) {
	visit(cmd)
	for _, sub := range cmd.Commands() {
		if sub.Name() != "completion" {
			walk(sub, visit)
		}
	}
}

func TestEveryCommandIsComplete(t *testing.T) {
	walk(NewRoot(clitest.New(t, "").Factory), func(cmd *cobra.Command) {
		path := cmd.CommandPath()
		if cmd.Short == "" || !strings.Contains(cmd.Example, "  tractionctl") {
			t.Errorf("%s: want a short text and an example", path)
		}
		if !cmd.Runnable() {
			t.Errorf("%s: cobra would print its help and exit 0 for whatever is typed", path)
		}
		if cmd.HasParent() && !cmd.Parent().HasParent() && cmd.GroupID == "" {
			t.Errorf("%s: in no group, so the help does not list it", path)
		}
	})
}

func TestEveryScopeIsCompleted(t *testing.T) {
	n := 0
	walk(NewRoot(clitest.New(t, "").Factory), func(cmd *cobra.Command) {
		if live[argument(cmd)] == nil {
			return
		}
		if n++; cmd.ValidArgsFunction == nil && cmd.ValidArgs == nil {
			t.Errorf("%s: nothing completes its %s", cmd.CommandPath(), argument(cmd))
		}
	})
	if n < 20 {
		t.Errorf("%d commands take a scope, want 20 at least: are they named otherwise in the usage lines?", n)
	}
}

func TestEveryHelpStartsWithExamples(t *testing.T) {
	walk(NewRoot(clitest.New(t, "").Factory), func(cmd *cobra.Command) {
		c := clitest.New(t, "")
		args := append(strings.Fields(cmd.CommandPath())[1:], "--help")
		if code := Run(t.Context(), c.Factory, args); code != 0 {
			t.Errorf("%v: exit %d, stderr %s", args, code, c.Err)
		}
		lines := strings.SplitN(c.Out.String(), "\n", 4)
		if len(lines) < 4 || lines[2] != "Examples:" {
			t.Errorf("%v: the help begins with\n%s", args, c.Out)
		}
	})
}

func TestUsageErrors(t *testing.T) {
	for _, line := range []string{
		"nope", "airport", "airport nope", "gate", "incident nope", "completion", "completion nope", "help nope", "help airport nope",
		"airport list extra", "airport show", "airport list -o xml", "--nope", "status --timeout 0s", "--timeout soon",
		"airport reopen a/b", "gate reopen a", "airport pause a", "incident list --since soon", "--namespace A_B", "--amqp-url localhost",
	} {
		c := clitest.New(t, "")
		if code := Run(t.Context(), c.Factory, strings.Fields(line)); code != exit.Usage {
			t.Errorf("%q: exit %d, want 2; stderr %s", line, code, c.Err)
		}
		if n := strings.Count(c.Err.String(), "\n"); c.Out.Len() > 0 || n == 0 || n > 3 {
			t.Errorf("%q: stdout %q, stderr of %d lines: want nothing and at most 3\n%s", line, c.Out, n, c.Err)
		}
	}
}

func TestReport(t *testing.T) {
	for name, tt := range map[string]struct {
		err  error
		want string
	}{
		"not found": {fmt.Errorf("airport \"x\": %w", governor.ErrNotFound),
			"tractionctl airport show: not found\n  airport \"x\": not found\n  next: tractionctl airport list shows what there is in namespace tr\n"},
		"a hint": {exit.WithHint(fmt.Errorf("a lock: %w", governor.ErrRefused), "wait"),
			"tractionctl airport show: refused\n  a lock: refused\n  next: wait\n"},
		"unreachable, with a password and line breaks": {fmt.Errorf("dial amqp://ops:hunter2@prod/: %w", errors.Join(errors.New("refused\x1b[2J"), governor.ErrUnreachable)),
			"tractionctl airport show: unreachable\n  dial amqp://[masked]@prod/: refused\\x1b[2J; unreachable\n  next: check that broker amqp://guest:xxxxx@localhost:5672/ and store redis://localhost:6379 are right (--amqp-url, --redis-url) and up\n"},
		"timed out": {context.DeadlineExceeded,
			"tractionctl airport show: unreachable\n  no answer within 10s: context deadline exceeded\n  next: check that broker amqp://guest:xxxxx@localhost:5672/ and store redis://localhost:6379 are right (--amqp-url, --redis-url) and up\n"},
		"interrupted": {&exit.SignalError{Signal: os.Interrupt}, "tractionctl airport show: interrupted\n"},
	} {
		t.Run(name, func(t *testing.T) {
			c := clitest.New(t, "")
			cmd, _, err := NewRoot(c.Factory).Find([]string{"airport", "show"})
			if err != nil {
				t.Fatal(err)
			}
			report(c.Factory, cmd, tt.err)
			if c.Err.String() != tt.want {
				t.Errorf("got\n%swant\n%s", c.Err, tt.want)
			}
		})
	}
}

func TestAnErrorIsBounded(t *testing.T) {
	c := clitest.New(t, "")
	cmd := NewRoot(c.Factory)
	report(c.Factory, cmd, errors.New(strings.Repeat("é\x1b", 1<<20)))
	if c.Err.Len() > 2000 || strings.Contains(c.Err.String(), "\x1b") {
		t.Errorf("%d bytes", c.Err.Len())
	}
}
