package workercmd

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/traction-go/traction/internal/testsvc"
	"github.com/traction-go/traction/pkg/governor"
)

// vendor answers 401 to any credential but the right one, and remembers who called.
type vendor struct {
	mu    sync.Mutex
	token string
	calls []*http.Request
	good  map[string]int // calls that were let in, by business id
}

func (v *vendor) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	v.mu.Lock()
	defer v.mu.Unlock()
	v.calls = append(v.calls, r)
	if r.Header.Get("Authorization") != "Bearer "+v.token {
		w.WriteHeader(401)
		_, _ = io.WriteString(w, `{"error":"expired","sent":"`+r.Header.Get("Authorization")+`"}`)
		return
	}
	v.good[r.Header.Get("Traction-Business-Id")]++
}

func (v *vendor) called() int { v.mu.Lock(); defer v.mu.Unlock(); return len(v.calls) }
func (v *vendor) landed() int { v.mu.Lock(); defer v.mu.Unlock(); return len(v.good) }

// hook takes webhooks.
type hook struct {
	mu   sync.Mutex
	told []map[string]any
	keys []string
}

func (h *hook) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	var n map[string]any
	_ = json.NewDecoder(r.Body).Decode(&n)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.told = append(h.told, n)
	h.keys = append(h.keys, r.Header.Get("Idempotency-Key"))
}

func (h *hook) of(kind string) (all []map[string]any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, n := range h.told {
		if n["type"] == kind {
			all = append(all, n)
		}
	}
	return all
}

// beWorker makes the test binary a traction-worker: the real Main in a process of
// its own, with whatever the tests were built with.
const beWorker = "TRACTION_TEST_BE_WORKER"

func TestMain(m *testing.M) {
	if os.Getenv(beWorker) == "1" {
		os.Exit(Main())
	}
	testsvc.Main(m)
}

// worker is a running traction-worker.
type worker struct {
	t    *testing.T
	cmd  *exec.Cmd
	out  *buffer
	log  *buffer
	done chan error
}

func startWorker(t *testing.T, file string, args ...string) *worker {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	w := &worker{t: t, out: &buffer{}, log: &buffer{}, done: make(chan error, 1)}
	w.cmd = exec.Command(path, append([]string{"run", "-c", file}, args...)...)
	w.cmd.Env = append(os.Environ(), beWorker+"=1")
	w.cmd.Stdout, w.cmd.Stderr = w.out, w.log
	if err := w.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { w.done <- w.cmd.Wait() }()
	t.Cleanup(func() {
		_ = w.cmd.Process.Kill()
		if w.done != nil {
			<-w.done
		}
		if t.Failed() {
			t.Logf("the worker's log:\n%s", w.log)
		}
	})
	return w
}

func (w *worker) exits(want int) {
	w.t.Helper()
	select {
	case <-w.done:
		w.done = nil
		if code := w.cmd.ProcessState.ExitCode(); code != want {
			w.t.Errorf("exit %d, want %d", code, want)
		}
	case <-time.After(patience):
		w.t.Error("the worker does not exit")
	}
}

// get asks the worker's own listener.
func (w *worker) get(path string) (int, string) {
	_, after, ok := strings.Cut(w.log.String(), "listen=")
	if !ok {
		return 0, ""
	}
	addr, _, _ := strings.Cut(after, "\n")
	res, err := http.Get("http://" + addr + path)
	if err != nil {
		return 0, err.Error()
	}
	defer res.Body.Close()
	b, _ := io.ReadAll(res.Body)
	return res.StatusCode, string(b)
}

type site struct {
	vendor *vendor
	hook   *hook
	file   string
	token  string // the file of the credential
	gov    *governor.Governor
}

const gate = "crm:acme/contact-sync"

// patience bounds what a worker on a busy machine takes; what goes well waits for
// nothing.
const patience = 90 * time.Second

// newSite writes a configuration of one airport against servers of this test.
func newSite(t *testing.T) *site {
	t.Helper()
	testsvc.Need(t)
	t.Parallel()
	s := &site{vendor: &vendor{token: "good-token", good: map[string]int{}}, hook: &hook{}}
	vendor, hook := httptest.NewServer(s.vendor), httptest.NewServer(s.hook)
	t.Cleanup(vendor.Close)
	t.Cleanup(hook.Close)
	t.Cleanup(http.DefaultClient.CloseIdleConnections)
	dir, ns := t.TempDir(), testsvc.Namespace(t)
	amqp, redis := testsvc.SharedRabbitMQ(t), testsvc.SharedRedis(t)
	s.file, s.token = filepath.Join(dir, "traction.yaml"), filepath.Join(dir, "token.txt")
	text := fmt.Sprintf(`
amqp: %s
redis: %s
namespace: %s
listen: 127.0.0.1:0
heartbeat: 200ms
notify: {webhook: "%s/hook"}
airports:
  crm:acme:
    gates:
      contact-sync:
        workers: 4
        timeout: 60s
        http:
          url: %s/contacts
          headers: {Authorization: "Bearer ${file:token.txt}"}
`, amqp, redis, ns, hook.URL, vendor.URL)
	write(t, s.file, text)
	write(t, s.token, "good-token\n")
	gov, err := governor.Open(t.Context(), governor.Config{AMQP: amqp, Redis: redis, Namespace: ns, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = within(closeTimeout, gov.Close) })
	s.gov = gov
	return s
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (s *site) dispatch(t *testing.T, from, to int) {
	t.Helper()
	for i := from; i < to; i++ {
		id := fmt.Sprint(i)
		if i == from { // the runway is declared after the scope is
			testsvc.Until(t, patience, "the runway", func() bool {
				_, err := s.gov.Dispatch(t.Context(), gate, map[string]string{"id": id}, governor.BusinessID(id))
				return err == nil
			})
			continue
		}
		if _, err := s.gov.Dispatch(t.Context(), gate, map[string]string{"id": id}, governor.BusinessID(id)); err != nil {
			t.Fatal(err)
		}
	}
}

func TestWorkerFliesAndDrains(t *testing.T) {
	s := newSite(t)
	w := startWorker(t, s.file)
	testsvc.Until(t, patience, "the worker is ready", func() bool { code, _ := w.get("/readyz"); return code == 200 })
	s.dispatch(t, 0, 50)
	testsvc.Until(t, patience, "50 records landed", func() bool { return s.vendor.landed() == 50 })
	testsvc.Until(t, patience, "the metrics count them", func() bool {
		_, m := w.get("/metrics")
		return strings.Contains(m, `traction_flights_total{airport="crm:acme",gate="contact-sync",settlement="landed"} 50`)
	})
	if code, text := w.get("/healthz"); code != 200 {
		t.Errorf("/healthz: %d %s", code, text)
	}
	r := s.vendor.calls[0]
	if r.Header.Get("Idempotency-Key") == "" || r.Header.Get("Idempotency-Key") != r.Header.Get("Traction-Flight") || r.Header.Get("Traction-Attempt") != "1" || r.Header.Get("Traction-Deadline") == "" {
		t.Errorf("headers %v", r.Header)
	}
	if err := w.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	w.exits(0)
}

func TestWorkerStopsAtADeadCredentialAndTellsOnce(t *testing.T) {
	s := newSite(t)
	write(t, s.token, "expired-token\n")
	w := startWorker(t, s.file)
	testsvc.Until(t, patience, "the worker is ready", func() bool { code, _ := w.get("/readyz"); return code == 200 })
	s.dispatch(t, 0, 40)
	testsvc.Until(t, patience, "the stop is told", func() bool { return len(s.hook.of("GROUND_STOP")) > 0 })
	testsvc.Until(t, patience, "the metrics show it", func() bool {
		_, m := w.get("/metrics")
		return strings.Contains(m, `traction_airport_state{airport="crm:acme",state="STOPPED"} 1`)
	})
	if n := s.vendor.called(); n < 1 || n > 4 {
		t.Errorf("%d calls into a dead credential, want what was in the air: 4 at most", n)
	}
	if code, text := w.get("/readyz"); code != 200 {
		t.Errorf("/readyz during a stop: %d %s", code, text)
	}
	n := s.hook.of("GROUND_STOP")[0]
	text, _ := n["text"].(string)
	if n["scope"] != "crm:acme" || n["reason"] != "AIRPORT_FAULT" || !strings.Contains(text, "tractionctl airport reopen crm:acme") {
		t.Errorf("%v", n)
	}
	if all, _ := json.Marshal(n); bytes.Contains(all, []byte("expired-token")) || strings.Contains(w.log.String(), "expired-token") {
		t.Errorf("the credential is shown: %s", all)
	}
	if err := w.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	w.exits(0)
	if told := s.hook.of("GROUND_STOP"); len(told) != 1 {
		t.Errorf("told %d times, want once", len(told))
	}
}

func TestWorkerSettlesMaxFlightsAndExits(t *testing.T) {
	s := newSite(t)
	w := startWorker(t, s.file, "--max-flights", "5")
	testsvc.Until(t, patience, "the worker is ready", func() bool { code, _ := w.get("/readyz"); return code == 200 })
	s.dispatch(t, 0, 20)
	w.exits(0)
	if n := strings.Count(w.out.String(), "landed "+gate); n != 5 || s.vendor.called() != 5 {
		t.Errorf("%d lines for %d calls, want 5\n%s", n, s.vendor.called(), w.out)
	}
	if !strings.Contains(w.log.String(), "5 flights settled: 5 landed") {
		t.Error("no sum")
	}
}

// flying starts a worker whose vendor holds its calls until the test lets go, with
// one flight in the air.
func flying(t *testing.T) (w *worker, s *site, release func()) {
	t.Helper()
	s = newSite(t)
	gateway := make(chan struct{})
	release = sync.OnceFunc(func() { close(gateway) })
	inAir := make(chan struct{}, 10)
	slow := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		inAir <- struct{}{}
		<-gateway
		s.vendor.ServeHTTP(w, r)
	}))
	t.Cleanup(slow.Close)
	t.Cleanup(release) // before the server closes, which waits for its calls
	text, err := os.ReadFile(s.file)
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(text), "url: ")
	old, _, _ := strings.Cut(after, "\n")
	write(t, s.file, strings.Replace(string(text), old, slow.URL, 1))
	w = startWorker(t, s.file)
	testsvc.Until(t, patience, "the worker is ready", func() bool { code, _ := w.get("/readyz"); return code == 200 })
	s.dispatch(t, 0, 1)
	select {
	case <-inAir:
	case <-time.After(patience):
		t.Fatal("no flight in the air")
	}
	testsvc.Until(t, patience, "the metrics count it", func() bool {
		_, m := w.get("/metrics")
		return strings.Contains(m, `traction_flights_in_hand{airport="crm:acme",gate="contact-sync"} 1`)
	})
	return w, s, release
}

func (w *worker) signal(s os.Signal) {
	w.t.Helper()
	if err := w.cmd.Process.Signal(s); err != nil {
		w.t.Fatal(err)
	}
}

func TestWorkerLetsCallsInTheAirFinish(t *testing.T) {
	w, s, release := flying(t)
	w.signal(syscall.SIGTERM)
	testsvc.Until(t, patience, "the drain", func() bool { code, text := w.get("/readyz"); return code == 503 && text == "draining\n" })
	if code, _ := w.get("/healthz"); code != 200 {
		t.Errorf("/healthz while draining: %d", code)
	}
	release()
	w.exits(0)
	if s.vendor.landed() != 1 {
		t.Errorf("%d landed, want 1", s.vendor.landed())
	}
	// It was acknowledged: nobody flies it again.
	again := startWorker(t, s.file)
	testsvc.Until(t, patience, "the worker is ready", func() bool { code, _ := again.get("/readyz"); return code == 200 })
	s.dispatch(t, 1, 2)
	testsvc.Until(t, patience, "the next flight", func() bool { return s.vendor.landed() == 2 })
	again.signal(os.Interrupt)
	again.exits(0)
	if s.vendor.called() != 2 {
		t.Errorf("%d calls, want 2", s.vendor.called())
	}
}

func TestWorkerEndsAtOnceAtASecondSignal(t *testing.T) {
	w, _, _ := flying(t)
	w.signal(syscall.SIGTERM)
	testsvc.Until(t, patience, "the drain", func() bool { code, _ := w.get("/readyz"); return code == 503 })
	w.signal(syscall.SIGTERM)
	w.exits(143)
}

func TestWorkerWaitsForABrokerThatIsAway(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "away.yaml")
	write(t, file, "amqp: amqp://guest:hunter2@127.0.0.1:1/\nredis: redis://:hunter2@127.0.0.1:1\nlisten: 127.0.0.1:0\n"+
		"airports: {a: {gates: {c: {http: {url: 'http://127.0.0.1:9/c'}}}}}\n")
	t.Cleanup(http.DefaultClient.CloseIdleConnections)
	w := startWorker(t, file)
	testsvc.Until(t, patience, "a second try", func() bool { return strings.Contains(w.log.String(), "try=2") })
	if code, _ := w.get("/healthz"); code != 200 {
		t.Errorf("/healthz: %d", code)
	}
	if code, text := w.get("/readyz"); code != 503 || !strings.HasPrefix(text, "starting") {
		t.Errorf("/readyz: %d %s", code, text)
	}
	w.signal(syscall.SIGTERM)
	w.exits(0)
	if strings.Contains(w.log.String(), "hunter2") {
		t.Error("a password in the log")
	}
}
