//go:build unix

package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/traction-go/traction/internal/testsvc"
	"github.com/traction-go/traction/pkg/governor"
)

const (
	airport  = "crm:acme"
	contacts = airport + "/contacts"

	goodToken = "good-token"
	deadToken = "dead-token-5d1c"
)

// site is one installation: a namespace, a vendor, a hook, and who was dispatched.
type site struct {
	t           *testing.T
	amqp, redis string
	ns          string
	dir         string
	vendor      *vendor
	vendorURL   string
	hook        *hook
	hookURL     string
	gov         *governor.Governor // to look with; tractionctl acts
	workers     []*worker
	env         []string        // added to that of workers and commands
	sent        map[string]bool // business ids dispatched
	gates       []string
	holds       []string // the delays of the configuration, as in queue names
}

// newSite makes a site on the given services; "" is the shared one.
func newSite(t *testing.T, amqpURL, redisURL string) *site {
	t.Helper()
	testsvc.Need(t)
	if amqpURL == "" {
		amqpURL = testsvc.SharedRabbitMQ(t)
	}
	if redisURL == "" {
		redisURL = testsvc.SharedRedis(t)
	}
	s := &site{t: t, amqp: amqpURL, redis: redisURL, ns: testsvc.Namespace(t), dir: t.TempDir(), vendor: newVendor(), hook: &hook{},
		sent: map[string]bool{}, gates: []string{contacts}, holds: []string{"30s", "2m", "10m"}}
	s.vendorURL, s.hookURL = serve(t, s.vendor), serve(t, s.hook)
	s.token(goodToken)
	return s
}

func serve(t *testing.T, h http.Handler) string {
	srv := httptest.NewServer(h)
	t.Cleanup(func() { srv.CloseClientConnections(); srv.Close() })
	return srv.URL
}

// token writes the credential file that the workers read.
func (s *site) token(token string) { s.write("token.txt", token+"\n") }

func (s *site) write(name, text string) string {
	s.t.Helper()
	path := filepath.Join(s.dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
	return path
}

// config writes a configuration. airports is YAML under "airports:", with VENDOR in
// place of the vendor's URL and TOKEN of the header with the credential; options
// are further lines at the top.
func (s *site) config(name, airports string, options ...string) string {
	s.t.Helper()
	airports = strings.NewReplacer("VENDOR", s.vendorURL,
		"TOKEN", `headers: {Authorization: "Bearer ${file:token.txt}"}`).Replace(strings.TrimLeft(airports, "\n"))
	top := map[string]string{"heartbeat": "300ms", "tower": "true", "notify": fmt.Sprintf(`{webhook: "%s/hook"}`, s.hookURL)}
	for _, o := range options {
		key, value, _ := strings.Cut(o, ": ")
		top[key] = value
	}
	text := fmt.Sprintf("amqp: %s\nredis: %s\nnamespace: %s\nlisten: 127.0.0.1:0\n", s.amqp, s.redis, s.ns)
	for key, value := range top {
		text += key + ": " + value + "\n"
	}
	return s.write(name, text+"airports:\n"+airports)
}

// oneGate is an airport with one gate of four workers.
const oneGate = `
  crm:acme:
    gates:
      contacts: {workers: 4, timeout: 20s, http: {url: "VENDOR/contacts", TOKEN}}
`

// start runs n workers with a configuration and waits until all are ready.
func (s *site) start(n int, file string) []*worker {
	s.t.Helper()
	var list []*worker
	for range n {
		list = append(list, start(s.t, file, s.env...))
	}
	s.workers = append(s.workers, list...)
	for _, w := range list {
		w.ready()
	}
	return list
}

// ctl runs tractionctl.
func (s *site) ctl(stdin string, args ...string) (out, errOut string, code int) {
	s.t.Helper()
	cmd := exec.Command(ctlBin, args...)
	cmd.Env = append(os.Environ(), "TRACTION_AMQP_URL="+s.amqp, "TRACTION_REDIS_URL="+s.redis, "TRACTION_NAMESPACE="+s.ns,
		"TRACTION_ACTOR=dana", "TRACTION_CONFIG=", "HOME="+s.dir, "XDG_CONFIG_HOME="+s.dir, "NO_COLOR=1")
	cmd.Env = append(cmd.Env, s.env...)
	var o, e bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &o, &e
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		s.t.Fatal(err)
	}
	return o.String(), e.String(), cmd.ProcessState.ExitCode()
}

// do runs tractionctl, which must exit 0.
func (s *site) do(args ...string) string {
	s.t.Helper()
	out, errOut, code := s.ctl("", args...)
	if code != 0 {
		s.t.Fatalf("tractionctl %s: exit %d\n%s%s", strings.Join(args, " "), code, out, errOut)
	}
	return out
}

// asJSON runs tractionctl with -o json and reads what it prints.
func asJSON[T any](s *site, args ...string) T {
	s.t.Helper()
	out := s.do(append(args, "-o", "json")...)
	var v T
	if err := json.Unmarshal([]byte(out), &v); err != nil {
		s.t.Fatalf("tractionctl %s -o json: %v\n%s", strings.Join(args, " "), err, out)
	}
	return v
}

// reopening is what a reopen prints.
type reopening struct {
	Changed bool   `json:"changed"`
	Was     string `json:"was"`
	State   string `json:"state"`
	Waiting int    `json:"waiting"`
	Parked  int    `json:"parked"`
}

func (s *site) reopen() reopening {
	s.t.Helper()
	return asJSON[reopening](s, "airport", "reopen", airport, "--wait=false", "--timeout", "40s")
}

// incident is one as tractionctl lists it.
type incident struct {
	ID         string   `json:"id"`
	Scope      string   `json:"scope"`
	Kind       string   `json:"kind"`
	State      string   `json:"state"`
	Evidence   string   `json:"evidence"`
	Records    []string `json:"records"`
	Workers    []string `json:"workers"`
	ClosedBy   string   `json:"closed_by"`
	NotifiedAt string   `json:"notified_at"`
}

func (s *site) incidents(args ...string) []incident {
	s.t.Helper()
	return asJSON[[]incident](s, append([]string{"incident", "list"}, args...)...)
}

// dispatch sends flights n..m-1 to a gate; their business ids are prefix and number.
func (s *site) dispatch(gate, prefix string, n, m int) {
	s.t.Helper()
	var in strings.Builder
	for i := n; i < m; i++ {
		id := fmt.Sprintf("%s%d", prefix, i)
		fmt.Fprintf(&in, `{"id":%q}`+"\n", id)
		s.sent[id] = true
	}
	if out, errOut, code := s.ctl(in.String(), "dispatch", gate, "--business-id", "/id"); code != 0 {
		s.t.Fatalf("dispatch: exit %d\n%s%s", code, out, errOut)
	}
}

// look gives what stands of the airport; an empty one where nothing can be read.
func (s *site) look() governor.AirportInfo {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), 20*time.Second)
	defer cancel()
	if s.gov == nil {
		g, err := governor.Open(ctx, governor.Config{AMQP: s.amqp, Redis: s.redis, Namespace: s.ns,
			Logger: slog.New(slog.DiscardHandler), StoreTimeout: 10 * time.Second})
		if err != nil {
			return governor.AirportInfo{}
		}
		s.gov = g
		s.t.Cleanup(func() {
			ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
			defer cancel()
			_ = g.Close(ctx)
		})
	}
	a, err := s.gov.Airport(ctx, airport)
	if err != nil {
		return governor.AirportInfo{}
	}
	return a
}

// becomes waits for the airport's state.
func (s *site) becomes(state governor.State) {
	s.t.Helper()
	s.until("the airport to be "+string(state), func() bool { return s.look().State == state })
}

// waits waits until n flights are on the runways and none is in hand.
func (s *site) waits(n int) {
	s.t.Helper()
	s.until(fmt.Sprintf("%d flights back on the runway", n), func() bool { a := s.look(); return a.Runway == n && a.InAir == 0 })
}

// until polls, and says what stands when it gives up.
func (s *site) until(what string, cond func() bool) {
	s.t.Helper()
	if !eventually(cond) {
		a := s.look()
		s.t.Fatalf("waited %v for %s in vain; calls %d, landed %d, told %+v\n%+v", long, what, s.vendor.count(), len(s.vendor.landed()), s.hook.of(""), a)
	}
}

// eventually polls for what a process will do.
func eventually(cond func() bool) bool { return within(long, cond) }

// within is eventually with a patience of its own.
func within(d time.Duration, cond func() bool) bool {
	tick := time.NewTicker(25 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(d); ; <-tick.C {
		if cond() {
			return true
		}
		if time.Now().After(end) {
			return false
		}
	}
}

// steady waits until a count has been the same for two seconds, and gives it.
func (s *site) steady(count func() int) int {
	s.t.Helper()
	n, since := count(), time.Now()
	s.until("a count that stays", func() bool {
		if now := count(); now != n {
			n, since = now, time.Now()
		}
		return time.Since(since) > 2*time.Second
	})
	return n
}

// stays watches that something remains true for d: what must not happen cannot be
// waited for.
func (s *site) stays(what string, d time.Duration, cond func() bool) {
	s.t.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(d); time.Now().Before(end); <-tick.C {
		if !cond() {
			s.t.Fatalf("%s: no longer so; %+v", what, s.look())
		}
	}
}
