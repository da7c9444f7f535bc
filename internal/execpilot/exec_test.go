//go:build linux

package execpilot_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/governor"
	"github.com/traction-go/traction/pkg/settle"
)

// sh is a pilot whose program is a shell script.
func sh(script string, args ...string) governor.ExecSpec {
	return governor.ExecSpec{Command: append([]string{"/bin/sh", "-c", script, "sh"}, args...)}
}

func flight(payload string) governor.Flight[[]byte] {
	return governor.Flight[[]byte]{Meta: governor.Meta{ID: "f-1", Scope: "crm:acme/sync", Key: "f-1", Attempt: 1, Seat: -1}, Payload: []byte(payload)}
}

func fly(t *testing.T, s governor.ExecSpec) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	return governor.Exec(s).Fly(ctx, flight("payload"))
}

func outcome(err error) settle.Outcome {
	return governor.DefaultReporter(context.Background(), governor.Meta{}, err).Outcome
}

// until polls what only the system can tell.
func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	deadline, tick := time.After(time.Minute), time.NewTicker(2*time.Millisecond)
	defer tick.Stop()
	for !is() {
		select {
		case <-deadline:
			t.Fatalf("not after a minute: %s", what)
		case <-tick.C:
		}
	}
}

func TestEveryExitCode(t *testing.T) {
	want := map[int]settle.Outcome{0: settle.Landed, 65: settle.FlightFault, 69: settle.Transient, 75: settle.Transient,
		76: settle.GateFault, 77: settle.AirportFault, 78: settle.AirportFault}
	for code := range 256 {
		w, ok := want[code]
		if !ok {
			w = settle.Internal
		}
		err := fly(t, sh(`echo "it was $1" >&2; exit $1`, strconv.Itoa(code)))
		if got := outcome(err); got != w {
			t.Errorf("exit %d: %v (%v), want %v", code, got, err, w)
		}
		if code == 0 {
			continue
		}
		var e *governor.ExitError
		if !errors.As(err, &e) || e.Code != code || err.Error() != fmt.Sprintf("exit %d: it was %d", code, code) {
			t.Errorf("exit %d: %v", code, err)
		}
	}
}

func TestASignalIsADeath(t *testing.T) {
	for _, s := range []syscall.Signal{syscall.SIGKILL, syscall.SIGSEGV, syscall.SIGABRT, syscall.SIGBUS, syscall.SIGQUIT} {
		err := fly(t, sh(`ulimit -c 0; echo last words >&2; kill -$1 $$`, strconv.Itoa(int(s))))
		var d *governor.DeathError
		if !errors.As(err, &d) || !strings.HasPrefix(d.Why, "signal: "+s.String()) || !strings.HasSuffix(err.Error(), ": last words") {
			t.Errorf("%v: %v", s, err)
		}
	}
}

func TestASignalThatAsksIsNoDeath(t *testing.T) {
	for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP} {
		if signal.Ignored(s) {
			continue // as under nohup: programs inherit it
		}
		err := fly(t, sh(`kill -$1 $$`, strconv.Itoa(int(s))))
		var d *governor.DeathError
		if errors.As(err, &d) || outcome(err) != settle.Transient || !strings.Contains(err.Error(), s.String()) {
			t.Errorf("%v: %v, %v", s, err, outcome(err))
		}
	}
}

func TestThePayloadIsOnStdin(t *testing.T) {
	payload := strings.Repeat("0123456789abcdef", 1<<16) + "\x00\xff tail"
	file := filepath.Join(t.TempDir(), "got")
	if err := governor.Exec(sh(`cat > "$1"`, file)).Fly(t.Context(), flight(payload)); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(file); err != nil || string(got) != payload {
		t.Errorf("%d bytes, %v, want %d", len(got), err, len(payload))
	}
}

func TestStdinMayStayUnread(t *testing.T) {
	big := strings.Repeat("x", 8<<20)
	for script, want := range map[string]settle.Outcome{`exit 0`: settle.Landed, `exec <&-; exit 65`: settle.FlightFault, `head -c 1 >/dev/null`: settle.Landed} {
		if err := governor.Exec(sh(script)).Fly(t.Context(), flight(big)); outcome(err) != want {
			t.Errorf("%s: %v", script, err)
		}
	}
}

func TestTheEnvironmentIsWhatIsGiven(t *testing.T) {
	t.Setenv("TRACTION_AMQP_URL", "amqp://u:hunter2@h")
	t.Setenv("SOME_SECRET", "hunter2")
	file := filepath.Join(t.TempDir(), "env")
	s := governor.ExecSpec{
		Command: []string{"/bin/sh", "-c", `tr '\0' '\n' < /proc/$$/environ > "$OUT"`},
		Env:     map[string]string{"OUT": file, "GIVEN": "a b=c", "OVER": "old"},
		LateEnv: func() map[string]string { return map[string]string{"OVER": "new", "TRACTION_FLIGHT": "forged"} },
	}
	f := flight("")
	f.Meta = governor.Meta{ID: "f-1", Scope: "crm:acme/sync", BusinessID: "é \x00\n7", Key: "f-1-2", Charter: "run-1", Seat: 7, Attempt: 3, Replays: 2,
		Deadline: time.Date(2026, 1, 2, 3, 4, 5, 6_000_000, time.FixedZone("", 3600)), ContentType: "text/csv", Headers: map[string]any{"x": "y"}}
	if err := governor.Exec(s).Fly(t.Context(), f); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	want := "GIVEN=a b=c\nOUT=" + file + "\nOVER=new\nPATH=" + governor.DefaultPath + `
TRACTION_ATTEMPT=3
TRACTION_BUSINESS_ID=é %00
7
TRACTION_CHARTER=run-1
TRACTION_CONTENT_TYPE=text/csv
TRACTION_DEADLINE=2026-01-02T02:04:05.006Z
TRACTION_FLIGHT=f-1
TRACTION_KEY=f-1-2
TRACTION_REPLAYS=2
TRACTION_SCOPE=crm:acme/sync
TRACTION_SEAT=7
`
	if string(got) != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestTheEndOfStderrIsTheEvidence(t *testing.T) {
	err := fly(t, sh(`i=0; while [ $i -lt 2000 ]; do echo "line $i" >&2; i=$((i+1)); done; echo the reason >&2; exit 1`))
	var e *governor.ExitError
	if !errors.As(err, &e) || len(err.Error()) > wire.MaxEvidence || len(e.Stderr) < 512 || !strings.HasPrefix(e.Stderr, "...") || !strings.HasSuffix(e.Stderr, `line 1999\nthe reason`) {
		t.Errorf("%v", err)
	}
	if kept := wire.CleanEvidence(err.Error()); kept != err.Error() {
		t.Errorf("it is cut again: %s", kept)
	}
	err = fly(t, sh(`printf 'a\033[2Jb\n' >&2; exit 1`))
	if err.Error() != `exit 1: a\x1b[2Jb` {
		t.Errorf("%q", err)
	}
}

func TestSecretsAreMaskedBeforeTheyAreCut(t *testing.T) {
	const secret = "tok-5f1c9e2a77b04d"
	s := sh(`echo "with $TOKEN" >&2; exit 1`)
	s.LateEnv = func() map[string]string { return map[string]string{"TOKEN": secret} }
	if err := fly(t, s); err.Error() != "exit 1: with [masked]" {
		t.Error(err)
	}
	for n := range 40 { // wherever the cut falls
		s := sh(`printf '%s' "$TOKEN" >&2; head -c $1 /dev/zero | tr '\0' 'x' >&2; exit 1`, strconv.Itoa(880+n))
		s.LateEnv = func() map[string]string { return map[string]string{"TOKEN": secret} }
		if err := fly(t, s); strings.Contains(err.Error(), secret[len(secret)-5:]) {
			t.Fatalf("%d: %v", n, err)
		}
	}
}

func TestFloodsNeitherBlockNorFill(t *testing.T) {
	err := fly(t, sh(`head -c 67108864 /dev/zero | tr '\0' 'e' >&2; head -c 67108864 /dev/zero; echo done >&2; exit 65`))
	if outcome(err) != settle.FlightFault || !strings.HasSuffix(err.Error(), "done") || len(err.Error()) > wire.MaxEvidence {
		t.Errorf("%.200v", err)
	}
}

func TestWhatCannotBeStarted(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string, mode os.FileMode) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	write("plain", "#!/bin/sh\n", 0o600)
	write("garbage", "\x00\x01", 0o700)
	write("good", "#!/bin/sh\nexit 75\n", 0o700)
	for _, c := range []struct {
		command, dir, want string
		class              error
	}{
		{"./gone", dir, "starting ./gone in " + dir + ": no such file or directory; see that it is there and may be run", fs.ErrNotExist},
		{"./plain", dir, "starting ./plain in " + dir + ": permission denied; see that it is there and may be run", fs.ErrPermission},
		{"./garbage", dir, "starting ./garbage in " + dir + ": exec format error; see that it is there and may be run", syscall.ENOEXEC},
		{"no-such-program", "", "starting no-such-program: executable file not found in $PATH; see that it is there and may be run", nil},
		{"good", dir, "starting good in " + dir + ": executable file not found in $PATH; see that it is there and may be run", nil},
		{"/", "", "starting /: permission denied; see that it is there and may be run", fs.ErrPermission},
		{"/bin/true", dir + "/gone", "starting /bin/true in " + dir + "/gone: no such file or directory; see that it is there and may be run", fs.ErrNotExist},
	} {
		err := fly(t, governor.ExecSpec{Command: []string{c.command}, Dir: c.dir})
		if err == nil || err.Error() != c.want || c.class != nil && !errors.Is(err, c.class) || outcome(err) != settle.Internal {
			t.Errorf("%s: %v (%v), want %s", c.command, err, outcome(err), c.want)
		}
	}
	t.Chdir(dir)
	for _, s := range []governor.ExecSpec{
		{Command: []string{"./good"}}, {Command: []string{"./good"}, Dir: "."}, {Command: []string{"good"}, Env: map[string]string{"PATH": dir}},
		{Command: []string{"./" + filepath.Base(dir) + "/good"}, Dir: ".."},
	} {
		if err := fly(t, s); outcome(err) != settle.Transient {
			t.Errorf("%+v: %v", s, err)
		}
	}
}

func TestAnEndedContextStartsNothing(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	file := filepath.Join(t.TempDir(), "ran")
	err := governor.Exec(sh(`: > "$1"`, file)).Fly(ctx, flight(""))
	if outcome(err) != settle.Transient || !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("it ran")
	}
}

func TestManyAtOnce(t *testing.T) {
	dir := t.TempDir()
	p := governor.Exec(sh(`cat > "$1/$TRACTION_FLIGHT"; exit 0`, dir))
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			for k := range 5 {
				f := flight(fmt.Sprint(i, k))
				f.ID = fmt.Sprintf("f-%d-%d", i, k)
				if err := p.Fly(t.Context(), f); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	for i := range 20 {
		for k := range 5 {
			got, err := os.ReadFile(filepath.Join(dir, fmt.Sprintf("f-%d-%d", i, k)))
			if err != nil || !bytes.Equal(got, []byte(fmt.Sprint(i, k))) {
				t.Errorf("%d %d: %q, %v", i, k, got, err)
			}
		}
	}
}
