package wire_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/traction-go/traction/internal/wire"
)

func batchOf(reports ...wire.Report) wire.ReportBatch {
	return wire.ReportBatch{Version: wire.ReportVersion, Worker: "host-1", Reports: reports}
}

func fullReport() wire.Report {
	seat := 0
	return wire.Report{
		Flight: flightID, BusinessID: "company 17", Scope: "crm:acme/company-sync", Charter: "run-1", Seat: &seat, Epoch: 1_700_000_000_001,
		Outcome: "TRANSIENT", Settled: "hold", Reason: "HOLD_BUDGET", Evidence: &wire.Evidence{Class: "503", Excerpt: "try later"},
		Attempt: 2, At: time.Date(2026, 3, 1, 2, 0, 0, 5_000_000, time.UTC), Applied: true,
	}
}

func TestReportsRoundTrip(t *testing.T) {
	want := batchOf(fullReport(), wire.Report{Flight: "f2", Scope: "a/b", Outcome: "LANDED", Settled: "landed"})
	body, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	got, err := wire.ParseReports(body)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("read back\n got %+v, %v\nwant %+v", got, err, want)
	}
}

// A newer writer may add fields; an older reader leaves them.
func TestReportsOfANewerWriter(t *testing.T) {
	got, err := wire.ParseReports([]byte(`{"v":1,"zone":"b","worker":"w","reports":[{"flight":"f","scope":"a/b","weather":{"rain":1}}]}`))
	if err != nil || len(got.Reports) != 1 || got.Reports[0].Flight != "f" {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestReportsOfAnotherVersion(t *testing.T) {
	for _, body := range []string{`{}`, `null`, `{"v":0}`, `{"v":2,"reports":{"all":"new"},"worker":7}`, `{"v":-1}`, `{"reports":[]}`} {
		if _, err := wire.ParseReports([]byte(body)); !errors.Is(err, wire.ErrVersion) {
			t.Errorf("%s: %v, want ErrVersion", body, err)
		}
	}
}

func TestReportsRefused(t *testing.T) {
	for _, body := range []string{
		"", "x", "[]", `"v"`, `{"v":"1"}`, `{"v":1.5}`, `{"v":1e99}`, `{"v":1}{"v":1}`, `{"v":1,"reports":{}}`, `{"v":1,"reports":[7]}`,
		`{"v":1,"worker":7}`, "\x00\xff", strings.Repeat("[", 100_000), `{"v":1,"worker":"` + strings.Repeat("w", 256) + `"}`,
		`{"v":1,"worker":"` + strings.Repeat("w", 5<<20) + `"}`,
	} {
		if _, err := wire.ParseReports([]byte(body)); err == nil || len(err.Error()) > 600 {
			t.Errorf("%.60q: %v", body, err)
		}
	}
	num := func(n int) *int { return &n }
	for name, change := range map[string]func(*wire.Report){
		"no scope":            func(r *wire.Report) { r.Scope = "" },
		"an airport":          func(r *wire.Report) { r.Scope = "crm:acme" },
		"a run for a scope":   func(r *wire.Report) { r.Scope = "a/b/c" },
		"an evil scope":       func(r *wire.Report) { r.Scope = "a/b\n*" },
		"no flight":           func(r *wire.Report) { r.Flight = "" },
		"an evil flight":      func(r *wire.Report) { r.Flight = "\x1b[2J" },
		"a long business id":  func(r *wire.Report) { r.BusinessID = strings.Repeat("b", 256) },
		"an evil run":         func(r *wire.Report) { r.Charter = "a/{b}" },
		"a seat below zero":   func(r *wire.Report) { r.Seat = num(-1) },
		"a seat beyond sense": func(r *wire.Report) { r.Seat = num(1 << 40) },
		"a charter, no seat":  func(r *wire.Report) { r.Seat = nil },
		"a seat, no charter":  func(r *wire.Report) { r.Charter = "" },
		"an epoch below zero": func(r *wire.Report) { r.Epoch = -1 },
		"attempts below zero": func(r *wire.Report) { r.Attempt = -1 },
		"an evil outcome":     func(r *wire.Report) { r.Outcome = "LANDED\u202e" },
		"a long settlement":   func(r *wire.Report) { r.Settled = strings.Repeat("l", 65) },
		"an evil reason":      func(r *wire.Report) { r.Reason = "\x1b[2J" },
	} {
		r := fullReport()
		change(&r)
		body, err := json.Marshal(batchOf(fullReport(), r))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := wire.ParseReports(body); err == nil || !strings.Contains(err.Error(), "report 1") {
			t.Errorf("%s: %v, want report 1 refused", name, err)
		} else {
			checkVisible(t, err.Error())
		}
	}
}

// Whoever wrote the report, its evidence is clean once it is read.
func TestReportsEvidenceIsCleaned(t *testing.T) {
	r := fullReport()
	r.Evidence = &wire.Evidence{
		Class:   "\x1b[31m" + strings.Repeat("C", 2000),
		Excerpt: "password=s3cr3t \u202e" + strings.Repeat("x", 1<<20),
	}
	body, err := json.Marshal(batchOf(r))
	if err != nil {
		t.Fatal(err)
	}
	got, err := wire.ParseReports(body)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{got.Reports[0].Evidence.Class, got.Reports[0].Evidence.Excerpt} {
		checkEvidence(t, s)
		if strings.Contains(s, "s3cr3t") {
			t.Errorf("leaks: %.80s", s)
		}
	}
}

func TestEvidenceString(t *testing.T) {
	for want, e := range map[string]wire.Evidence{
		"": {}, "503": {Class: "503"}, "try later": {Excerpt: "try later"}, "503 | try later": {Class: "503", Excerpt: "try later"},
	} {
		if e.String() != want {
			t.Errorf("%+v is %q, want %q", e, e, want)
		}
	}
}

func FuzzParseReports(f *testing.F) {
	full, err := json.Marshal(batchOf(fullReport()))
	if err != nil {
		f.Fatal(err)
	}
	for _, s := range []string{string(full), `{"v":1}`, `{"v":2}`, `{}`, `{"v":1,"reports":[{"flight":"f","scope":"a/b","seat":-1}]}`, `{"V":1,"Reports":[null]}`, "\xff"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		b, err := wire.ParseReports(body)
		if err != nil {
			return
		}
		if b.Version != wire.ReportVersion {
			t.Fatalf("version %d", b.Version)
		}
		for _, r := range b.Reports {
			if _, err := wire.ParseGate(r.Scope); err != nil {
				t.Fatal(err)
			}
			if err := wire.CheckFlightID(r.Flight); err != nil {
				t.Fatal(err)
			}
			if r.Seat != nil && *r.Seat < 0 {
				t.Fatalf("seat %d", *r.Seat)
			}
			if r.Evidence != nil {
				checkEvidence(t, r.Evidence.Class)
				checkEvidence(t, r.Evidence.Excerpt)
			}
		}
		again, err := json.Marshal(b)
		if err != nil {
			return // a time that RFC 3339 cannot write
		}
		if _, err := wire.ParseReports(again); err != nil {
			t.Fatal(fmt.Errorf("%s reads once, not twice: %w", body, err))
		}
	})
}
