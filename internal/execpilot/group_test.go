//go:build linux

package execpilot_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/traction-go/traction/internal/execpilot"
	"github.com/traction-go/traction/pkg/governor"
	"github.com/traction-go/traction/pkg/settle"
)

// alive reports whether the process runs: a zombie does not.
func alive(pid int) bool {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return false
	}
	_, rest, _ := strings.Cut(string(text), ") ")
	return !strings.HasPrefix(rest, "Z") && !strings.HasPrefix(rest, "X")
}

// pids reads the process ids that a program wrote, once there are n.
func pids(t *testing.T, file string, n int) []int {
	t.Helper()
	var all []int
	until(t, strconv.Itoa(n)+" processes", func() bool {
		text, _ := os.ReadFile(file)
		all = nil
		for _, word := range strings.Fields(string(text)) {
			pid, _ := strconv.Atoi(word)
			all = append(all, pid)
		}
		return len(all) == n && strings.HasSuffix(string(text), "\n")
	})
	return all
}

func allGone(t *testing.T, all []int) {
	t.Helper()
	for _, pid := range all {
		until(t, "the end of "+strconv.Itoa(pid), func() bool { return !alive(pid) })
	}
}

// family starts a child and a grandchild, and a child in a group of its own.
const family = `
(sleep 300 & echo $! >> "$1"; wait) &
echo $! >> "$1"
"$2" lead "$1" &
echo $$ >> "$1"
wait; sleep 300`

// self is this test's binary, see TestMain.
func self(t *testing.T) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func TestTheTimeoutKillsTheGroup(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pids")
	// Long enough for a busy machine to start the four.
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
	defer cancel()
	begin := time.Now()
	err := governor.Exec(sh("echo slow >&2\n"+family, file, self(t))).Fly(ctx, flight(""))
	if took := time.Since(begin); took > time.Minute {
		t.Errorf("it took %v", took)
	}
	if outcome(err) != settle.Transient || !errors.Is(err, context.DeadlineExceeded) || err.Error() != "killed at its timeout: slow" {
		t.Errorf("%v, %v", err, outcome(err))
	}
	allGone(t, pids(t, file, 4))
}

func TestWhatIsLeftBehindEnds(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pids")
	begin := time.Now()
	if err := fly(t, sh(`sleep 300 & echo $! > "$1"; exit 0`, file)); err != nil {
		t.Error(err)
	}
	if took := time.Since(begin); took > time.Minute {
		t.Errorf("it took %v", took)
	}
	allGone(t, pids(t, file, 1))
}

func TestOneThatLeftItsSessionHoldsNothingUp(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pids")
	begin := time.Now()
	err := fly(t, sh(`setsid sleep 300 & until [ "$(ps -o sid= -p $! | tr -d ' ')" = $! ]; do :; done; echo $! > "$1"; exit 65`, file))
	if took := time.Since(begin); took > time.Minute {
		t.Errorf("it took %v", took)
	}
	for _, pid := range pids(t, file, 1) {
		_ = unix.Kill(pid, unix.SIGKILL)
	}
	if outcome(err) != settle.FlightFault {
		t.Error(err)
	}
}

// TestOrphansAreReaped makes this process one that inherits orphans, as the first
// process of a container does.
func TestOrphansAreReaped(t *testing.T) {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0) }()
	file := filepath.Join(t.TempDir(), "pids")
	if err := fly(t, sh(`(sleep 300 & echo $! >> "$1"; wait) & sleep 300 & echo $! >> "$1"; until [ $(wc -l < "$1") = 2 ]; do :; done`, file)); err != nil {
		t.Fatal(err)
	}
	for _, pid := range pids(t, file, 2) {
		if _, err := os.Stat("/proc/" + strconv.Itoa(pid)); err == nil {
			t.Errorf("%d is still listed", pid)
		}
	}
}

func TestAnEaterDiesAtItsCeilingAlone(t *testing.T) {
	var all sync.WaitGroup
	bystander := make(chan error, 1)
	all.Go(func() {
		s := sh(`sleep 2; exit 65`)
		s.Memory = 64 << 20
		bystander <- governor.Exec(s).Fly(t.Context(), flight(""))
	})
	err := fly(t, governor.ExecSpec{Command: []string{self(t), "eat", "4096"}, Memory: 256 << 20})
	var d *governor.DeathError
	if !errors.As(err, &d) || d.Why != "memory ceiling of 256MiB" || strings.Contains(err.Error(), "ate") {
		t.Errorf("%v, want a death at the ceiling", err)
	}
	all.Wait()
	if err := <-bystander; outcome(err) != settle.FlightFault {
		t.Errorf("the bystander: %v", err)
	}
}

func TestTheCeilingIsTheGroups(t *testing.T) {
	s := sh(`"$1" eat 90 & "$1" eat 90 & "$1" eat 90 & wait; exit 1`, self(t))
	s.Memory = 200 << 20
	err := fly(t, s)
	var d *governor.DeathError
	if !errors.As(err, &d) {
		t.Errorf("%v, want a death at the ceiling", err)
	}
}

func TestBelowTheCeilingNothingHappens(t *testing.T) {
	s := sh(`"$1" eat 60 & p=$!; sleep 1; kill $p; wait; exit 76`, self(t))
	s.Memory = 256 << 20
	if err := fly(t, s); outcome(err) != settle.GateFault {
		t.Error(err)
	}
}

func TestSharedMemoryCountsOnce(t *testing.T) {
	s := sh(`x=$(head -c 41943040 /dev/zero | tr '\0' x); for i in 1 2 3 4; do (sleep 1; exit 0) & done; wait; exit 76`)
	s.Memory = 128 << 20 // four children that share 40 MiB with their parent
	if err := fly(t, s); outcome(err) != settle.GateFault {
		t.Error(err)
	}
}

func TestKillAllLeavesNothing(t *testing.T) {
	defer execpilot.Revive()
	file := filepath.Join(t.TempDir(), "pids")
	done := make(chan error, 1)
	go func() { done <- governor.Exec(sh(family, file, self(t))).Fly(t.Context(), flight("")) }()
	all := pids(t, file, 4)
	execpilot.KillAll()
	if err := <-done; outcome(err) != settle.Transient || !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want no death", err)
	}
	allGone(t, all)
	if err := fly(t, sh(`exit 0`)); outcome(err) != settle.Transient {
		t.Errorf("started after the end: %v", err)
	}
}

func TestAKilledWorkersProgramDies(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pids")
	worker := exec.Command(self(t), "fly", file)
	if err := worker.Start(); err != nil {
		t.Fatal(err)
	}
	all := pids(t, file, 1)
	if err := worker.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = worker.Wait()
	allGone(t, all)
}

func TestTheKernelTakesTheProgramFirst(t *testing.T) {
	file := filepath.Join(t.TempDir(), "score")
	own, err := os.ReadFile("/proc/self/oom_score_adj")
	if err != nil {
		t.Fatal(err)
	}
	mine, _ := strconv.Atoi(strings.TrimSpace(string(own)))
	// It is told once the program has started, so the program may see the old one first.
	err = fly(t, sh(`until [ "$(cat /proc/$$/oom_score_adj)" = $2 ]; do :; done; cat /proc/$$/oom_score_adj > "$1"`, file, strconv.Itoa(min(mine+500, 1000))))
	if err != nil {
		t.Error(err)
	}
}
