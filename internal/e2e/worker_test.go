//go:build unix

package e2e

import (
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/traction-go/traction/internal/testsvc"
)

// long is the patience with real processes on a busy machine. Nothing waits for it
// that goes well.
const long = 2 * time.Minute

// client keeps no connection, which the leak check would find.
var client = &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}

// worker is a running traction-worker.
type worker struct {
	t    *testing.T
	cmd  *exec.Cmd
	out  *buffer
	log  *buffer
	done chan struct{} // closed when it was reaped
	stat *os.ProcessState
}

// start runs a worker with a configuration file, and returns at once. env is added to
// its environment.
func start(t *testing.T, file string, env ...string) *worker {
	t.Helper()
	w := &worker{t: t, out: &buffer{}, log: &buffer{}, done: make(chan struct{})}
	w.cmd = exec.Command(workerBin, "run", "-c", file)
	w.cmd.Env = append(os.Environ(), env...)
	w.cmd.Stdout, w.cmd.Stderr = w.out, w.log
	if err := w.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	guard.tell("+", w.cmd.Process.Pid)
	go func() {
		_ = w.cmd.Wait()
		guard.tell("-", w.cmd.Process.Pid)
		w.stat = w.cmd.ProcessState
		close(w.done)
	}()
	t.Cleanup(func() {
		w.kill()
		if t.Failed() {
			t.Logf("the log of worker %d ends with:\n%s", w.cmd.Process.Pid, tail(w.log.String(), 6000))
		}
	})
	return w
}

func tail(s string, n int) string {
	if len(s) > n {
		return "..." + s[len(s)-n:]
	}
	return s
}

// ready waits until the worker says that it is.
func (w *worker) ready() *worker {
	w.t.Helper()
	testsvc.Until(w.t, long, "the worker to be ready", func() bool { code, _ := w.get("/readyz"); return code == 200 || w.gone() })
	if w.gone() {
		w.t.Fatalf("the worker ended: %v\n%s", w.stat, w.log)
	}
	return w
}

func (w *worker) gone() bool {
	select {
	case <-w.done:
		return true
	default:
		return false
	}
}

// kill ends it with SIGKILL and returns when it has been reaped.
func (w *worker) kill() {
	_ = w.cmd.Process.Kill()
	<-w.done
}

func (w *worker) term() {
	w.t.Helper()
	if err := w.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		w.t.Error(err)
	}
}

// exits waits for an orderly end.
func (w *worker) exits() {
	w.t.Helper()
	testsvc.Until(w.t, long, "the worker to exit", w.gone)
	if code := w.stat.ExitCode(); code != 0 {
		w.t.Errorf("a worker told to stop exits %d, want 0: %v", code, w.stat)
	}
}

// get asks the worker's own listener.
func (w *worker) get(path string) (int, string) {
	_, after, ok := strings.Cut(w.log.String(), "listen=")
	if !ok {
		return 0, ""
	}
	addr, _, _ := strings.Cut(after, "\n")
	res, err := client.Get("http://" + addr + path)
	if err != nil {
		return 0, err.Error()
	}
	defer res.Body.Close()
	b, _ := io.ReadAll(res.Body)
	return res.StatusCode, string(b)
}
