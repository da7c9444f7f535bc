//go:build unix

package e2e

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/traction-go/traction/internal/testsvc"
)

// The built binaries, and what ends the processes if this one is killed.
var (
	workerBin, ctlBin string
	guard             watcher
)

// proxies are what the proxy between processes and services leaves behind when a
// connection ends while a toxic holds data back: goroutines of its own that wait to
// hand it on, at either end of the link or within it. The proxy is the tests' alone.
var proxies = []goleak.Option{
	goleak.IgnoreAnyFunction("github.com/Shopify/toxiproxy/v2/toxics.(*ToxicStub).Run"),
	goleak.IgnoreAnyFunction("github.com/Shopify/toxiproxy/v2.(*ToxicLink).read"),
	goleak.IgnoreAnyFunction("github.com/Shopify/toxiproxy/v2.(*ToxicLink).write"),
}

func TestMain(m *testing.M) { os.Exit(run(m)) }

// run is TestMain's work, with its clean-up: the binaries are built once, and the
// shared services stand until the last test is over.
func run(m *testing.M) int {
	if os.Getenv(testsvc.EnvServices) != "1" {
		return m.Run() // every test skips
	}
	fail := func(what string, err error) int {
		fmt.Fprintf(os.Stderr, "%s: %v\n", what, err)
		return 1
	}
	dir, err := os.MkdirTemp("", "traction-test-e2e-")
	if err != nil {
		return fail("making a folder for the binaries", err)
	}
	defer os.RemoveAll(dir)
	workerBin, ctlBin = filepath.Join(dir, "traction-worker"), filepath.Join(dir, "tractionctl")
	build := exec.Command("go", "build", "-o", dir, "../../cmd/traction-worker", "../../cmd/tractionctl")
	if out, err := build.CombinedOutput(); err != nil {
		return fail("building the binaries", fmt.Errorf("%w\n%s", err, out))
	}
	if err := guard.start(); err != nil {
		return fail("starting the watcher", err)
	}
	defer guard.stop()
	if os.Getenv(testsvc.EnvAMQPURL) == "" || os.Getenv(testsvc.EnvRedisURL) == "" {
		amqpURL, redisURL, stop, err := testsvc.StartShared()
		if err != nil {
			return fail("starting the shared services", err)
		}
		defer stop()
		for name, u := range map[string]string{testsvc.EnvAMQPURL: amqpURL, testsvc.EnvRedisURL: redisURL} {
			if err := os.Setenv(name, u); err != nil {
				return fail("telling where the shared services are", err)
			}
		}
	}
	code := m.Run()
	if code == 0 {
		if err := goleak.Find(proxies...); err != nil {
			return fail("goroutines are left after the tests", err)
		}
	}
	return code
}

// watch kills the processes it was told of, and not told the end of, once its
// input closes, which happens when the process that started it is gone.
const watch = `while read -r op pid; do
  if [ "$op" = + ]; then all="$all $pid"; else
    left=; for p in $all; do [ "$p" = "$pid" ] || left="$left $p"; done; all=$left
  fi
done
for p in $all; do kill -s KILL "$p"; done`

type watcher struct {
	mu   sync.Mutex
	cmd  *exec.Cmd
	pipe *os.File
}

func (w *watcher) start() error {
	r, pipe, err := os.Pipe()
	if err != nil {
		return err
	}
	defer r.Close()
	w.cmd, w.pipe = exec.Command("/bin/sh", "-c", watch), pipe
	w.cmd.Stdin = r
	return w.cmd.Start()
}

// tell says + when a process has started and - when it has been reaped.
func (w *watcher) tell(op string, pid int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	fmt.Fprintf(w.pipe, "%s %d\n", op, pid)
}

func (w *watcher) stop() {
	w.pipe.Close()
	_ = w.cmd.Wait()
}

// buffer takes a process's output while tests read it.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) { b.mu.Lock(); defer b.mu.Unlock(); return b.b.Write(p) }
func (b *buffer) String() string              { b.mu.Lock(); defer b.mu.Unlock(); return b.b.String() }
