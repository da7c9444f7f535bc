package workercmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/traction-go/traction/internal/cli/exit"
	"github.com/traction-go/traction/internal/health"
	"github.com/traction-go/traction/pkg/governor"
)

// fakeFleet flies nothing: a test says when and how its Run ends.
type fakeFleet struct {
	run    func(ctx context.Context, airports ...governor.Airport) error
	closed bool
}

func (f *fakeFleet) Run(ctx context.Context, a ...governor.Airport) error { return f.run(ctx, a...) }
func (f *fakeFleet) Close(context.Context) error                          { f.closed = true; return nil }
func (f *fakeFleet) Health([]governor.Airport) health.Source              { return fine{} }

type fine struct{}

func (fine) Local() health.Local                           { return health.Local{Broker: true, Store: true} }
func (fine) Fleet(context.Context) ([]health.Fleet, error) { return nil, nil }

// buffer is a log that may be read while it is written.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) { b.mu.Lock(); defer b.mu.Unlock(); return b.b.Write(p) }
func (b *buffer) String() string              { b.mu.Lock(); defer b.mu.Unlock(); return b.b.String() }

func world() (w *World, out, errs *buffer) {
	out, errs = &buffer{}, &buffer{}
	w = &World{Out: out, Err: errs, Wait: func(context.Context, time.Duration) {}}
	w.Env = func(n string) (string, bool) {
		v, ok := map[string]string{"TRACTION_AMQP_URL": "amqp://u:hunter2@rabbit/", "TRACTION_REDIS_URL": "redis://:hunter2@store:6379"}[n]
		return v, ok
	}
	w.Open = func(context.Context, governor.Config) (Fleet, error) { return nil, errors.New("not in this test") }
	return w, out, errs
}

func file(t *testing.T, more string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "w.yaml")
	text := "amqp: ${TRACTION_AMQP_URL}\nredis: ${TRACTION_REDIS_URL}\nnotify: {webhook: 'http://127.0.0.1:9/hook'}\n" + more +
		"airports:\n  crm:acme:\n    gates:\n      c: {http: {url: 'http://127.0.0.1:9/c'}}\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestUsage(t *testing.T) {
	bad := filepath.Join(t.TempDir(), "bad.yaml")
	if err := os.WriteFile(bad, []byte("amqp: ${NOPE}\nslots: 3\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	good := file(t, "")
	for _, c := range []struct {
		args string
		code int
		want string
	}{
		{"run", 2, "traction-worker run: wants a configuration: -c FILE\n  next: traction-worker run --help\n"},
		{"check", 2, "traction-worker check: wants a configuration: -c FILE\n  next: traction-worker check --help\n"},
		{"check -c " + good + " more", 2, "traction-worker check: traction-worker check takes no argument, got \"more\"\n  next: traction-worker check --help\n"},
		{"run --nope", 2, "traction-worker run: unknown flag: --nope\n  next: traction-worker run --help\n"},
		{"run -c " + good + " --max-flights 0", 2, "traction-worker run: --max-flights 0: want 1 or more\n  next: traction-worker run --help\n"},
		{"run -c " + good + " --log-format xml", 2, "traction-worker run: --log-format \"xml\": want text or json\n  next: traction-worker run --help\n"},
		{"run -c " + good + " --log-level loud", 2, "traction-worker run: --log-level \"loud\": want debug, info, warn or error\n  next: traction-worker run --help\n"},
		{"fly", 2, "traction-worker: unknown command \"fly\" for traction-worker\n"},
		{"check -c " + bad, 2, bad + ":1:7: amqp: ${NOPE}: the environment variable NOPE is not set\n" +
			bad + ":2:1: slots: unknown key: want one of amqp, redis, namespace, listen, tower, grace, heartbeat, notify, airports\n" +
			"traction-worker check: the configuration is refused; nothing was started\n"},
		{"run -c " + bad, 2, bad + ":1:7: amqp: ${NOPE}: the environment variable NOPE is not set\n" +
			bad + ":2:1: slots: unknown key: want one of amqp, redis, namespace, listen, tower, grace, heartbeat, notify, airports\n" +
			"traction-worker run: the configuration is refused; nothing was started\n"},
		{"run -c " + bad + "x", 2, bad + "x: cannot be read: no such file or directory\ntraction-worker run: the configuration is refused; nothing was started\n"},
		{"--help", 0, ""},
		{"version", 0, ""},
	} {
		w, _, errs := world()
		code := Run(t.Context(), w, strings.Fields(c.args))
		if code != c.code || !strings.HasPrefix(errs.String(), c.want) || c.code == 0 && errs.String() != "" {
			t.Errorf("%s: exit %d, want %d\ngot  %s\nwant %s", c.args, code, c.code, errs, c.want)
		}
	}
}

func TestCheck(t *testing.T) {
	want, err := os.ReadFile("testdata/check.txt")
	if err != nil {
		t.Fatal(err)
	}
	w, out, errs := world()
	code := Run(t.Context(), w, []string{"check", "-c", "testdata/check.yaml"})
	got := out.String() + "--- stderr\n" + errs.String()
	if code != 0 || got != string(want) {
		t.Errorf("exit %d\n%s", code, got)
	}
}

func TestRunFliesUntilItIsToldToStop(t *testing.T) {
	w, _, errs := world()
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	fleet := &fakeFleet{}
	fleet.run = func(ctx context.Context, airports ...governor.Airport) error {
		if len(airports) != 1 || airports[0].ID != "crm:acme" || airports[0].Gates[0].Pilot == nil {
			t.Errorf("%+v", airports)
		}
		addr := listening(t, errs)
		ready := func() (int, string) {
			res, err := client.Get("http://" + addr + "/readyz")
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			b, _ := io.ReadAll(res.Body)
			return res.StatusCode, string(b)
		}
		if code, text := ready(); code != 200 {
			t.Errorf("flying: %d %s", code, text)
		}
		cancel(&exit.SignalError{Signal: syscall.SIGTERM})
		<-ctx.Done()
		for deadline := time.Now().Add(5 * time.Second); ; {
			if code, text := ready(); code == 503 && text == "draining\n" {
				return nil
			} else if time.Now().After(deadline) {
				t.Errorf("draining: %d %s", code, text)
				return nil
			}
		}
	}
	w.Open = func(_ context.Context, c governor.Config) (Fleet, error) {
		if err := c.Validate(); err != nil || c.AMQP != "amqp://u:hunter2@rabbit/" || c.Grace != 35*time.Second || c.NoTower || c.Logger == nil || c.MaxFlights != 0 {
			t.Errorf("%+v, %v", c, err)
		}
		return fleet, nil
	}
	code := Run(ctx, w, []string{"run", "-c", file(t, "listen: 127.0.0.1:0\n")})
	log := errs.String()
	if code != 0 || !fleet.closed || !strings.Contains(log, "msg=flying") || !strings.Contains(log, `msg=draining because="stopped by terminated" grace=35s`) || !strings.Contains(log, "msg=stopped") {
		t.Errorf("exit %d, closed %v\n%s", code, fleet.closed, log)
	}
	if strings.Contains(log, "hunter2") {
		t.Errorf("a password in the log: %s", log)
	}
}

// listening finds the address in the log.
func listening(t *testing.T, log *buffer) string {
	t.Helper()
	_, after, ok := strings.Cut(log.String(), "listen=")
	addr, _, _ := strings.Cut(after, "\n")
	if !ok {
		t.Fatalf("no address in %s", log)
	}
	return addr
}

func TestABrokerThatIsAwayIsWaitedFor(t *testing.T) {
	w, _, errs := world()
	tries := 0
	fleet := &fakeFleet{run: func(context.Context, ...governor.Airport) error { return nil }}
	w.Open = func(context.Context, governor.Config) (Fleet, error) {
		if tries++; tries < 4 {
			return nil, fmt.Errorf("dialing amqp://u:hunter2@rabbit/: %w", governor.ErrUnreachable)
		}
		return fleet, nil
	}
	var waits []time.Duration
	w.Wait = func(_ context.Context, d time.Duration) { waits = append(waits, d) }
	if code := Run(t.Context(), w, []string{"run", "-c", file(t, ""), "--log-format", "json"}); code != 0 || tries != 4 {
		t.Errorf("exit %d after %d tries: %s", code, tries, errs)
	}
	for i, d := range waits {
		if most := openLeast << i; d < most/2 || d > most {
			t.Errorf("wait %d: %v, want %v to %v", i, d, most/2, most)
		}
	}
	log := errs.String()
	if strings.Count(log, `"level":"WARN"`) != 3 || strings.Contains(log, "hunter2") || !strings.Contains(log, `"try":3`) {
		t.Error(log)
	}
}

func TestToldToStopWhileItWaits(t *testing.T) {
	w, _, errs := world()
	ctx, cancel := context.WithCancelCause(t.Context())
	w.Open = func(context.Context, governor.Config) (Fleet, error) { return nil, governor.ErrUnreachable }
	w.Wait = func(context.Context, time.Duration) { cancel(&exit.SignalError{Signal: syscall.SIGTERM}) }
	if code := Run(ctx, w, []string{"run", "-c", file(t, "")}); code != 0 {
		t.Errorf("exit %d: %s", code, errs)
	}
}

func TestWhatEndsARun(t *testing.T) {
	for _, c := range []struct {
		name    string
		open    error
		run     error
		code    int
		message string
	}{
		{"refused at the start", fmt.Errorf("namespace: %w", governor.ErrRefused), nil, 4, "traction-worker run: namespace: refused\n"},
		{"wrong at the start", fmt.Errorf("Config.Redis: %w", governor.ErrSpec), nil, 2, "traction-worker run: Config.Redis: invalid declaration\n"},
		{"a drain that was cut", nil, errors.New("2 flights were still in the air after 35s"), 1, "traction-worker run: flying: 2 flights were still in the air after 35s\n"},
	} {
		w, _, errs := world()
		w.Open = func(context.Context, governor.Config) (Fleet, error) {
			return &fakeFleet{run: func(context.Context, ...governor.Airport) error { return c.run }}, c.open
		}
		code := Run(t.Context(), w, []string{"run", "-c", file(t, ""), "--log-level", "error"})
		if code != c.code || errs.String() != c.message {
			t.Errorf("%s: exit %d, want %d\n%s", c.name, code, c.code, errs)
		}
	}
}

func TestMaxFlightsPrintsALineEach(t *testing.T) {
	w, out, errs := world()
	w.Open = func(_ context.Context, c governor.Config) (Fleet, error) {
		if c.MaxFlights != 3 {
			t.Errorf("MaxFlights %d, want 3", c.MaxFlights)
		}
		return &fakeFleet{run: func(context.Context, ...governor.Airport) error {
			c.OnSettled(governor.Settled{Flight: "f1", BusinessID: "contact 7", Scope: "crm:acme/c", Outcome: "LANDED", Settled: "landed"})
			c.OnSettled(governor.Settled{Flight: "f2", Scope: "crm:acme/c", Outcome: "GATE_FAULT", Settled: "park", Reason: "GATE_FAULT", Evidence: "404 \x1b[2Jgone"})
			c.OnSettled(governor.Settled{Flight: "f3", BusinessID: "8", Scope: "crm:acme/c", Outcome: "LANDED", Settled: "landed"})
			return nil
		}}, nil
	}
	code := Run(t.Context(), w, []string{"run", "-c", file(t, ""), "--max-flights", "3", "--log-level", "error"})
	const want = `landed crm:acme/c flight=f1 business_id="contact 7" outcome=LANDED
park crm:acme/c flight=f2 outcome=GATE_FAULT reason=GATE_FAULT evidence="404 \\x1b[2Jgone"
landed crm:acme/c flight=f3 business_id=8 outcome=LANDED
`
	if code != 0 || out.String() != want || errs.String() != "3 flights settled: 2 landed, 1 park\n" {
		t.Errorf("exit %d\n%s%s", code, out, errs)
	}
}

func TestAnAddressThatIsTakenEndsTheStart(t *testing.T) {
	w, _, errs := world()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	code := Run(t.Context(), w, []string{"run", "-c", file(t, "listen: "+taken.Addr().String()+"\n")})
	if code != 1 || !strings.Contains(errs.String(), "address already in use") || !strings.Contains(errs.String(), "  next: free the address, or change listen in ") {
		t.Errorf("exit %d: %s", code, errs)
	}
}

func TestSignals(t *testing.T) {
	signals := make(chan os.Signal)
	ended := make(chan int, 1)
	ctx, stop := untilSignal(t.Context(), signals, func(code int) { ended <- code })
	defer stop()
	signals <- os.Interrupt
	<-ctx.Done()
	if code := exit.Code(context.Cause(ctx)); code != 130 || len(ended) != 0 {
		t.Errorf("the first signal: %d, ended %d", code, len(ended))
	}
	signals <- syscall.SIGTERM
	if code := <-ended; code != 143 {
		t.Errorf("the second signal: %d, want 143", code)
	}
}
