// Package clitest is what the tests of commands share: a factory over streams in
// memory with a fixed clock, sample data with evil text in it, and golden files.
package clitest

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/traction-go/traction/internal/cli/factory"
	"github.com/traction-go/traction/internal/cli/streams"
	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/governor"
	"github.com/traction-go/traction/pkg/settle"
)

// Now is the time at which every test runs.
var Now = time.Date(2026, 3, 4, 2, 25, 9, 0, time.UTC)

// Cmd is one command under test: its factory and what it wrote.
type Cmd struct {
	*factory.Factory
	Out, Err *bytes.Buffer
}

// New gives a factory that knows no environment but env (name, value, ...).
func New(t *testing.T, stdin string, env ...string) Cmd {
	t.Helper()
	s, out, errs := streams.Test(stdin)
	vars := map[string]string{"TRACTION_ACTOR": "ops@desk"}
	for i := 0; i+1 < len(env); i += 2 {
		vars[env[i]] = env[i+1]
	}
	f := factory.New(s, func(k string) string { return vars[k] })
	f.Now = func() time.Time { return Now }
	return Cmd{f, out, errs}
}

// Golden compares got with testdata/name. GOLDEN_UPDATE=1 writes the file instead.
func Golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if os.Getenv("GOLDEN_UPDATE") == "1" {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (GOLDEN_UPDATE=1 writes it)", err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs (GOLDEN_UPDATE=1 accepts it)\n--- got\n%s\n--- want\n%s", path, got, want)
	}
}

// Evil is text that tries to leave its place: an escape sequence, a line break
// and a mark that turns the writing direction.
const Evil = "401 \x1b[2Jinvalid\ngrant \u202e"

// Airports are one of each: stopped, throttled with a stopped gate, open with
// parked flights, and one whose queues could not be counted.
func Airports() []governor.AirportInfo {
	ago := func(d time.Duration) time.Time { return Now.Add(-d) }
	return []governor.AirportInfo{
		{
			Airport: "mail:acme", State: wire.Open, Since: ago(50 * time.Hour), Mode: governor.Enforce, Slots: 10, SlotsUsed: 3,
			Window: time.Second, Runway: 12, Holding: 2, Parked: 3, Rejected: 1, InAir: 4, Landed: 1204511, Workers: 2,
			Gates: []governor.GateInfo{{
				Gate: "mail:acme/welcome", State: wire.Open, Since: ago(50 * time.Hour), WorkersWanted: 4, WorkersActual: 8,
				Batch: 1, Runway: 12, Holding: 2, Parked: 3, Rejected: 1, InAir: 4, Landed: 1204511,
			}},
		},
		{
			Airport: "crm:acme", State: wire.Stopped, Reason: "AIRPORT_FAULT", Evidence: Evil, Since: ago(14 * time.Minute),
			Incident: "crm:acme@1772590269123-7f3a", Mode: governor.Enforce, Slots: 20, SlotsUsed: 0, Window: time.Second,
			Runway: 996, Holding: 0, Parked: 4, Landed: 88, Workers: 3, Deaths: 1, Suspects: 2, Unsent: 1,
			Gates: []governor.GateInfo{{
				Gate: "crm:acme/contact-sync", State: wire.Open, Since: ago(3 * time.Hour), WorkersWanted: 4, WorkersActual: 12,
				Batch: 1, OnStop: settle.StayOnStop, Runway: 996, Parked: 4, Landed: 88,
			}},
		},
		{
			Airport: "pay:acme", State: wire.Throttled, Reason: "RATE_LIMIT", Since: ago(20 * time.Second),
			ThrottledUntil: Now.Add(40 * time.Second), Mode: governor.Enforce, Runway: 5, Workers: 1,
			Gates: []governor.GateInfo{
				{Gate: "pay:acme/refund", State: wire.Stopped, Reason: "GATE_FAULT", Evidence: "404 /v1/refunds", Since: ago(26 * time.Hour),
					Incident: "pay:acme/refund@1772496309123-00aa", WorkersWanted: 1, WorkersActual: 1, Parked: 1, Runway: 0},
				{Gate: "pay:acme/charge", State: wire.Delayed, Reason: "TRANSIENT", Since: ago(5 * time.Minute),
					DelayProbeAt: Now.Add(time.Minute), WorkersWanted: 1, WorkersActual: 1, Runway: 5},
			},
		},
		{
			Airport: "geo", State: wire.Paused, Reason: "vendor maintenance", By: "ada@desk", Since: ago(time.Hour), Mode: governor.Observe,
			Runway: governor.Unread, Holding: 1, Parked: governor.Unread, Rejected: governor.Unread, Workers: 0,
		},
	}
}

// Processes are two workers and a tower.
func Processes() []governor.ProcessInfo {
	return []governor.ProcessInfo{{ID: "w1"}, {ID: "w2"}, {ID: "t1", Tower: true}}
}
