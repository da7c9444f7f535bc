package health

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fake is a source that says what a test makes it say.
type fake struct {
	mu       sync.Mutex
	local    Local
	fleet    []Fleet
	err      error
	readings int
}

func (f *fake) Local() Local { f.mu.Lock(); defer f.mu.Unlock(); return f.local }

func (f *fake) Fleet(context.Context) ([]Fleet, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.readings++
	return f.fleet, f.err
}

func (f *fake) set(change func(*fake)) { f.mu.Lock(); defer f.mu.Unlock(); change(f) }

func flying() *fake {
	return &fake{
		local: Local{Broker: true, Store: true, Clearance: Histogram{
			Bounds: []time.Duration{time.Millisecond, time.Second}, Counts: []uint64{5, 2, 1}, Sum: 3 * time.Second,
		}, Airports: []Airport{{
			ID: "crm:acme", State: "STOPPED", Unsent: 1,
			Gates: []Gate{{
				ID: "contact-sync", State: "OPEN", Workers: 4, InHand: 9, InAir: 3, Leaked: 1,
				Flights: map[string]uint64{"landed": 10, "parked": 2, "exploded": 7},
				Fresh:   3, Scars: 812, Adopts: true, Moved: 840, Call: 9 * time.Second,
			}},
		}}},
		fleet: []Fleet{{
			ID: "crm:acme", Slots: 20, SlotsUsed: 7, Deaths: 2,
			Gates: []FleetGate{{ID: "contact-sync", Runway: 100, Holding: Unread, Parked: 2, Rejected: 3, ParkedOldest: time.Hour,
				Landed: 120, Acked: 150, Adopted: 2840, Oldest: 3 * time.Hour, AdoptedOldest: Unread, Drain: 90 * time.Minute}},
		}},
	}
}

func start(t *testing.T) (*Server, func(path string) (int, string)) {
	t.Helper()
	s := New("127.0.0.1:0", "v1.2.3", slog.New(slog.NewTextHandler(io.Discard, nil)))
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	t.Cleanup(func() {
		for range 2 { // twice is fine
			if err := s.Stop(context.Background()); err != nil {
				t.Error(err)
			}
		}
	})
	return s, func(path string) (int, string) {
		t.Helper()
		res, err := client.Get("http://" + s.Addr() + path)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		b, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		return res.StatusCode, string(b)
	}
}

func TestHealthAndReadiness(t *testing.T) {
	s, get := start(t)
	is := func(path string, code int, text string) {
		t.Helper()
		if c, b := get(path); c != code || b != text+"\n" {
			t.Errorf("%s: %d %q, want %d %q", path, c, b, code, text)
		}
	}
	is("/healthz", 200, "ok")
	is("/readyz", 503, "starting: the broker or the store has not answered yet")

	f := flying() // its airport is stopped
	s.Follow(f)
	is("/healthz", 200, "ok")
	is("/readyz", 200, "ok")

	f.set(func(f *fake) { f.local.Broker = false })
	is("/healthz", 200, "ok")
	is("/readyz", 503, "the broker is unreachable")
	f.set(func(f *fake) { f.local.Broker, f.local.Store = true, false })
	is("/healthz", 200, "ok")
	is("/readyz", 503, "the store is unreachable")
	f.set(func(f *fake) { f.local.Store = true; f.local.Airports[0].Gates[0].Leaked = 4 })
	is("/healthz", 503, "gate crm:acme/contact-sync clears nothing: 4 pilots ignored the end of their call; restart the process")
	is("/readyz", 200, "ok")
	f.set(func(f *fake) { f.local.Airports[0].Gates[0].Leaked = 0; f.local.Airports[0].Gates[0].State = "BIRTH" })
	is("/readyz", 503, "starting: crm:acme/contact-sync is not declared yet")
	f.set(func(f *fake) { f.local.Airports[0].Gates[0].State = "STOPPED" })
	is("/readyz", 200, "ok")

	s.Drain()
	is("/healthz", 200, "ok")
	is("/readyz", 503, "draining")
}

func TestMetrics(t *testing.T) {
	s, get := start(t)
	if _, b := get("/metrics"); !strings.Contains(b, "traction_broker_up 0") || !strings.Contains(b, "go_goroutines") {
		t.Errorf("before the start: %s", b)
	}
	s.Follow(flying())
	want, err := os.ReadFile("testdata/metrics.txt")
	if err != nil {
		t.Fatal(err)
	}
	code, all := get("/metrics")
	var got strings.Builder
	for line := range strings.SplitAfterSeq(all, "\n") {
		if strings.Contains(line, "traction_") {
			got.WriteString(line)
		}
	}
	if code != 200 || got.String() != string(want) {
		t.Errorf("%d\n%s", code, got.String())
	}
}

func TestTheFleetIsReadOnceForManyScrapes(t *testing.T) {
	f := flying()
	now := time.Unix(1000, 0)
	c := &collector{source: f, log: slog.New(slog.NewTextHandler(io.Discard, nil)), now: func() time.Time { return now }}
	for range 5 {
		if len(c.read()) != 1 {
			t.Fatal("no fleet")
		}
	}
	if f.readings != 1 {
		t.Errorf("%d readings, want 1", f.readings)
	}
	now = now.Add(fleetEvery)
	f.err = errors.New("unreachable")
	if got := c.read(); got != nil || f.readings != 2 {
		t.Errorf("%v after %d readings: old numbers look fresh", got, f.readings)
	}
}

func TestAnAddressThatIsTaken(t *testing.T) {
	s, _ := start(t)
	second := New(s.Addr(), "", slog.New(slog.NewTextHandler(io.Discard, nil)))
	err := second.Start()
	if err == nil || !strings.HasSuffix(err.Error(), "address already in use") {
		t.Errorf("%v", err)
	}
	if err := second.Stop(t.Context()); err != nil {
		t.Error(err)
	}
}
