package config

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/traction-go/traction/internal/config/expand"
	"github.com/traction-go/traction/pkg/governor"
	"github.com/traction-go/traction/pkg/settle"
)

// program is a configuration of one gate that is a program.
func program(exec string) string {
	return "amqp: amqp://h\nredis: redis://h\nnotify: {webhook: 'http://h'}\nairports:\n  a:\n    gates:\n      c:\n        exec: " + exec + "\n"
}

func needLinux(t *testing.T) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("programs with a memory ceiling are flown on Linux")
	}
}

func TestExec(t *testing.T) {
	needLinux(t)
	dir := t.TempDir()
	for name, text := range map[string]string{"token.txt": "s3cret-token\n", "sync": "#!/bin/sh\nexec >&2\necho \"$PWD $TENANT $AUTH\"\nexit 3\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(dir, "w.yaml")
	text := program("{command: [./sync, '${FOUR}', x], memory: 256MiB, env: {TENANT: acme, AUTH: 'Bearer ${file:token.txt}'}}") + "    outcomes: {exit: {3: GATE_FAULT, 4: LANDED}}\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := Load(file, env)
	if err != nil {
		t.Fatal(err)
	}
	if w := c.Warnings(); len(w) > 0 {
		t.Errorf("warnings %q", w)
	}
	x := c.Airports[0].Gates[0].Exec
	same(t, "exec", []any{x.Command, x.Dir, x.Memory}, []any{[]string{"./sync", "4", "x"}, dir, 256 << 20})
	airports, closes, err := c.Declare()
	if err != nil {
		t.Fatal(err)
	}
	defer closes()
	a := airports[0]
	if !strings.Contains(strings.Join(a.Secrets, " "), "s3cret-token") {
		t.Errorf("secrets %q", a.Secrets)
	}
	err = a.Gates[0].Pilot.Fly(t.Context(), governor.Flight[[]byte]{})
	if err == nil || err.Error() != "exit 3: "+dir+" acme [masked]" {
		t.Error(err)
	}
	for code, want := range map[int]settle.Outcome{3: settle.GateFault, 4: settle.Landed, 65: settle.FlightFault, 5: settle.Internal} {
		if r := a.Reporter(t.Context(), governor.Meta{}, &governor.ExitError{Code: code}); r.Outcome != want || (r.Err == nil) != (want == settle.Landed) {
			t.Errorf("exit %d: %v", code, r)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "token.txt"), []byte("rotated-now-1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := x.Spec().LateEnv()["AUTH"]; got != "Bearer rotated-now-1" {
		t.Errorf("after a rotation: %q", got)
	}
}

func TestExecRefusals(t *testing.T) {
	needLinux(t)
	const at, p = "w.yaml:8:", ": airports.a.gates.c.exec"
	for _, c := range []struct{ name, exec, want string }{
		{"no mapping", "./x", at + "15" + p + ": want a mapping with command\n" + at + "15" + p + ": has no command"},
		{"no command", "{memory: 1MiB}", at + "15" + p + ": has no command"},
		{"text", "{command: ./x}", at + "25" + p + ".command: want a program and its arguments, such as [./sync-company]"},
		{"empty", "{command: []}", at + "25" + p + ".command: is empty: want a program and its arguments, such as [./sync-company]"},
		{"nothing", "{command: ['']}", at + "25" + p + ".command: starts with nothing: want a program first"},
		{"secret argument", "{command: [./x, '${file:testdata/token.txt}']}", at + "31" + p + ".command[1]: a file's content would show in the list of processes: give it in env"},
		{"shell", "{command: [./x], shell: true}", at + "32" + p + ".shell: unknown key: want one of command, memory, env"},
		{"memory", "{command: [./x], memory: 256MB}", at + "40" + p + `.memory: "256MB": want a size such as 512KiB or 1MiB, 1024GiB at most`},
		{"little memory", "{command: [./x], memory: 4KiB}", at + "40" + p + `.memory: "4KiB": want a size such as 512KiB or 1MiB, 1MiB at least`},
		{"our variable", "{command: [./x], env: {TRACTION_KEY: x}}", at + "38" + p + ".env.TRACTION_KEY: TRACTION_KEY: names that start with TRACTION_ are set by the worker itself"},
		{"variable", "{command: [./x], env: {A=B: x}}", at + "38" + p + `.env.A=B: "A=B" is no name of an environment variable`},
		{"unset", "{command: [./x], env: {A: '${NOPE}'}}", at + "41" + p + ".env.A: ${NOPE}: the environment variable NOPE is not set"},
		{"two pilots", "{command: [./x]}\n        http: {url: 'http://h'}", "w.yaml:9:15: airports.a.gates.c.http: is a second pilot: a gate has one, http or exec"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Parse("w.yaml", []byte(program(c.exec)), expand.Source{Env: env})
			if err == nil || err.Error() != c.want || !errors.Is(err, ErrConfig) {
				t.Fatalf("got  %v\nwant %s", err, c.want)
			}
		})
	}
}

func TestAProgramThatIsNotThereIsWarnedOf(t *testing.T) {
	needLinux(t)
	c, err := Parse("w.yaml", []byte(program("{command: [./gone]}")+"    outcomes: {exit: {3: GATE_FAULT}}\n"), expand.Source{Env: env, Dir: "/nowhere"})
	if err != nil {
		t.Fatal(err)
	}
	want := "airports.a.gates.c.exec.command: starting ./gone in /nowhere: no such file or directory; see that it is there and may be run"
	if got := strings.Join(c.Warnings(), "\n"); got != want {
		t.Errorf("got\n%s", got)
	}
}
