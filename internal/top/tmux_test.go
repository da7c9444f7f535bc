package top

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// screenOf is the view in a real terminal: tmux runs a shell, the shell runs this
// test binary as the program.
type screenOf struct {
	t      *testing.T
	socket string
	pid    string // a file with the program's process id
}

// inTmux starts the program in a terminal of 80x24; env are its settings.
func inTmux(t *testing.T, env ...string) *screenOf {
	t.Helper()
	if testing.Short() {
		t.Skip("a real terminal takes seconds")
	}
	if _, err := exec.LookPath("tmux"); err != nil {
		if os.Getenv("TRACTION_TEST_SERVICES") == "1" {
			t.Fatal("tmux is not installed: the whole run needs it")
		}
		t.Skip("tmux is not installed")
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "top") // a socket's path must be short
	if err != nil {
		t.Fatal(err)
	}
	s := &screenOf{t: t, socket: filepath.Join(dir, "s"), pid: filepath.Join(dir, "pid")}
	settings := "LANG=C.UTF-8 " + envFake + "=run " + strings.Join(env, " ")
	s.tmux("new-session", "-d", "-x", "80", "-y", "24", "env -u NO_COLOR PS1='$ ' sh")
	t.Cleanup(func() {
		_ = exec.Command("tmux", "-S", s.socket, "kill-server").Run()
		_ = os.RemoveAll(dir)
	})
	// The quotes keep the echo of the command from looking like its output.
	s.tmux("send-keys", "stty -g > "+dir+"/before; env "+settings+" sh -c 'echo $$ > "+s.pid+"; exec "+exe+"'; echo code $?; stty -g > "+
		dir+"/after; cmp "+dir+"/before "+dir+"/after && echo the ter''minal is as it was", "Enter")
	return s
}

func (s *screenOf) tmux(args ...string) string {
	s.t.Helper()
	out, err := exec.Command("tmux", append([]string{"-S", s.socket, "-f", "/dev/null", "-u"}, args...)...).CombinedOutput()
	if err != nil {
		s.t.Fatalf("tmux %s: %v: %s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

func (s *screenOf) screen() string { return s.tmux("capture-pane", "-p") }

// await polls until the screen shows all of it.
func (s *screenOf) await(what ...string) string {
	s.t.Helper()
	deadline := time.Now().Add(time.Minute)
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		got := s.screen()
		missing := ""
		for _, w := range what {
			if !strings.Contains(got, w) {
				missing = w
			}
		}
		if missing == "" {
			return got
		}
		if time.Now().After(deadline) {
			s.t.Fatalf("the terminal never showed %q:\n%s", missing, got)
		}
		<-tick.C
	}
}

func (s *screenOf) signal(sig syscall.Signal) {
	s.t.Helper()
	b, err := os.ReadFile(s.pid)
	if err != nil {
		s.t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil {
		s.t.Fatal(err)
	}
	if err := syscall.Kill(pid, sig); err != nil {
		s.t.Fatal(err)
	}
}

// restored checks that the shell has its terminal back, cursor and all.
func (s *screenOf) restored(ended string) {
	s.t.Helper()
	got := s.await("ended: "+ended, "the terminal is as it was")
	if strings.Contains(got, "enter open") {
		s.t.Errorf("the view is still on the screen:\n%s", got)
	}
	flags := strings.TrimSpace(s.tmux("display-message", "-p", "#{alternate_on} #{cursor_flag}"))
	if flags != "0 1" {
		s.t.Errorf("alternate screen and cursor are %q, want 0 1", flags)
	}
	s.tmux("send-keys", "echo typed $((6*7))", "Enter")
	s.await("typed 42")
}

func TestTerminalQuit(t *testing.T) {
	s := inTmux(t)
	s.await("crm:acme", "STOPPED", "? help  q quit")
	s.tmux("send-keys", "q")
	s.restored("<nil>")
}

func TestTerminalResize(t *testing.T) {
	s := inTmux(t)
	s.await("? help  q quit")
	s.tmux("resize-window", "-x", "120", "-y", "40")
	got := s.await("WORKERS SLOTS")
	if n := strings.Count(strings.TrimRight(got, "\n"), "\n") + 1; n != 40 {
		t.Errorf("%d lines on a terminal of 40:\n%s", n, got)
	}
	s.tmux("resize-window", "-x", "50", "-y", "12")
	s.await("enter open  / filter  s sort  r reopen  p pause")
	s.tmux("resize-window", "-x", "80", "-y", "24")
	s.await("y cmd  ? help  q quit", "next: fix the cause")
	s.tmux("send-keys", "q")
	s.restored("<nil>")
}

func TestTerminalKill(t *testing.T) {
	for sig, ended := range map[syscall.Signal]string{
		syscall.SIGTERM: "terminated signal received", syscall.SIGHUP: "the terminal hung up", syscall.SIGINT: "interrupt signal received",
	} {
		t.Run(sig.String(), func(t *testing.T) {
			t.Parallel()
			s := inTmux(t)
			s.await("q quit")
			s.signal(sig)
			s.restored(ended)
		})
	}
}

func TestTerminalPanic(t *testing.T) {
	for mode, ended := range map[string]string{"panic": "top: the reading panicked: a reading broke", "bug": "top: the view panicked: runtime error: index out of range"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			s := inTmux(t, envFake+"="+mode)
			s.restored(ended)
		})
	}
}

func TestTerminalActs(t *testing.T) {
	s := inTmux(t)
	s.await("crm:acme     STOPPED")
	s.tmux("send-keys", "r")
	s.await("Type y, then enter, to reopen crm:acme; esc leaves it as it is.")
	s.tmux("send-keys", "y", "Enter")
	s.await("crm:acme is OPEN, was STOPPED", "crm:acme     OPEN")
	s.tmux("send-keys", "q")
	s.restored("<nil>")
}

func TestTerminalStaleComesBack(t *testing.T) {
	s := inTmux(t, "TOP_TEST_STALE=1")
	s.await("STALE", `\x1b[2J`, "crm:acme")
	s.await("read 0s ago")
	s.tmux("send-keys", "q")
	s.restored("<nil>")
}
