package scripttest

import (
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/traction-go/traction/internal/cli"
	"github.com/traction-go/traction/internal/workercmd"
)

const root = "../../testdata/scripts"

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"tractionctl":     func() { os.Exit(cli.Main()) },
		"traction-worker": func() { os.Exit(workercmd.Main()) },
	})
}

func TestScripts(t *testing.T) {
	folders, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, f := range folders {
		if !f.IsDir() {
			t.Errorf("%s is in no folder: it would never run", f.Name())
			continue
		}
		found++
		t.Run(f.Name(), func(t *testing.T) {
			t.Parallel()
			suite(t, f.Name())
		})
	}
	if found == 0 {
		t.Fatalf("no folder below %s: nothing was tested", root)
	}
}

func suite(t *testing.T, name string) {
	dir := filepath.Join(root, name)
	scripts, err := filepath.Glob(filepath.Join(dir, "*.txt*"))
	if err != nil || len(scripts) == 0 {
		t.Fatalf("no script in %s (%v): nothing was tested", dir, err)
	}
	setup := closed(t)
	if name == "services" {
		setup = services(t)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 dir,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			// A home of its own, so that nobody's contexts leak in.
			e.Setenv("HOME", e.WorkDir)
			e.Setenv("TRACTION_ACTOR", "script@test")
			return setup(e)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits, "eventually": eventually, "vendor": steer},
	})
}

// closed gives services that do not answer: ports that were free a moment ago.
func closed(t *testing.T) func(*testscript.Env) error {
	t.Helper()
	port := func() string {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		return l.Addr().String()
	}
	amqp, redis := "amqp://ops:hunter2@"+port()+"/", "redis://:hunter2@"+port()
	return func(e *testscript.Env) error {
		e.Setenv("TRACTION_AMQP_URL", amqp)
		e.Setenv("TRACTION_REDIS_URL", redis)
		return nil
	}
}

// exits runs a program and wants exactly the exit code given.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits N program [args...]")
	}
	want, err := strconv.Atoi(args[0])
	if err != nil {
		ts.Fatalf("exits: %q is no exit code", args[0])
	}
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("exits: %v", err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("%s exited with %d, want %d", args[1], got, want)
	}
}
