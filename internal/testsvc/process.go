//go:build unix

package testsvc

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// patience bounds the start and the end of a server on a busy machine.
const patience = 90 * time.Second

// watch ends process group $1 and removes the folder $2 once its standard input
// closes, which happens when the process that started it is gone.
const watch = `read -r _
kill -s TERM -- "-$1" 2>/dev/null
i=0
while kill -s 0 -- "-$1" 2>/dev/null && [ "$i" -lt 50 ]; do sleep 0.1; i=$((i+1)); done
kill -s KILL -- "-$1" 2>/dev/null
case "$2" in */traction-test-*) rm -rf -- "$2";; esac`

// process is a server in a process group of its own. Its methods are not for
// several goroutines at once.
type process struct {
	name  string
	dir   string // data and logs; the watcher removes it when we die
	pid   int    // of the leader, which is the group's id too
	gone  bool
	log   string
	guard *exec.Cmd
	pipe  *os.File // closing it sets the watcher off
}

// start runs argv with env and its output in dir/<name>.log.
func start(name, dir string, env, argv []string) (*process, error) {
	p := &process{name: name, dir: dir, log: filepath.Join(dir, name+".log")}
	out, err := os.OpenFile(p.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("starting %s: %w", name, err)
	}
	defer out.Close()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = env, dir, out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting %s with %q: %w", name, strings.Join(argv, " "), err)
	}
	p.pid = cmd.Process.Pid
	// The leader is awaited with wait4, without a goroutine that would wait all
	// the time and show up in the leak checks of the package under test.
	if err := cmd.Process.Release(); err != nil {
		p.end(syscall.SIGKILL)
		return nil, fmt.Errorf("starting %s: %w", name, err)
	}
	if err := p.guardIt(); err != nil {
		p.end(syscall.SIGKILL)
		return nil, fmt.Errorf("starting the watcher of %s: %w", name, err)
	}
	return p, nil
}

func (p *process) guardIt() error {
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	defer r.Close()
	cmd := exec.Command("/bin/sh", "-c", watch, "watch", strconv.Itoa(p.pid), p.dir)
	cmd.Stdin = r
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		w.Close()
		return err
	}
	p.guard, p.pipe = cmd, w
	return nil
}

// exited reports whether the leader has ended, and reaps it.
func (p *process) exited() bool {
	if p.gone {
		return true
	}
	pid, err := syscall.Wait4(p.pid, nil, syscall.WNOHANG, nil)
	p.gone = pid == p.pid || errors.Is(err, syscall.ECHILD)
	return p.gone
}

// end signals the group and waits for its leader, at the last with SIGKILL.
func (p *process) end(sig syscall.Signal) {
	if !p.exited() {
		_ = syscall.Kill(-p.pid, sig)
		if !until(patience/3, p.exited) {
			_ = syscall.Kill(-p.pid, syscall.SIGKILL)
			until(patience/3, p.exited)
		}
	}
	// Whatever the leader left in its group goes too; an empty group is fine.
	_ = syscall.Kill(-p.pid, syscall.SIGKILL)
	if p.guard != nil {
		// Before the pipe closes: the group's id may be another's by then.
		_ = p.guard.Process.Kill()
		_ = p.guard.Wait()
		_ = p.pipe.Close()
		p.guard = nil
	}
}

// tail is the end of the server's own log, for an error message.
func (p *process) tail() string {
	b, err := os.ReadFile(p.log)
	if err != nil {
		return err.Error()
	}
	if len(b) > 2000 {
		b = b[len(b)-2000:]
	}
	return strings.TrimSpace(string(b))
}

// accepts reports whether somebody listens on the loopback's port.
func accepts(port int) bool {
	c, err := net.DialTimeout("tcp", addr(port), time.Second)
	if err != nil {
		return false
	}
	c.Close()
	return true
}

func addr(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }
