//go:build unix

package e2e

import (
	"strings"
	"testing"
	"time"

	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/governor"
)

// auditEntry is one as tractionctl lists it.
type auditEntry struct {
	At     time.Time `json:"at"`
	Actor  string    `json:"actor"`
	Action string    `json:"action"`
	Scope  string    `json:"scope"`
	Reason string    `json:"reason"`
	Result string    `json:"result"`
	Count  int       `json:"count"`
}

func TestAReplayIntoAStoppedGateParksAgainAndStandsInTheAudit(t *testing.T) {
	t.Parallel()
	s := newSite(t, "", "")
	begun := time.Now().Add(-time.Minute) // the store's clock is its own
	s.vendor.saying(func(call) answer { return answer{status: 404} })
	s.start(1, s.config("traction.yaml", oneGate))
	s.becomes(wire.Open)
	s.dispatch(contacts, "c", 0, 40)
	parked := func(n int) func() bool {
		return func() bool {
			a := s.look()
			return len(a.Gates) == 1 && a.Gates[0].State == governor.Stopped && a.Parked == n && a.Runway == 0
		}
	}
	s.until("all of them to be parked at the stopped gate", parked(40))
	calls := s.vendor.count()
	for range 2 {
		if m := asJSON[move](s, "parked", "replay", contacts); m.Moved != 40 || m.Left != 0 {
			t.Errorf("the replay says %+v", m)
		}
		s.until("all of them to be parked again", parked(40))
	}
	if n := s.vendor.count(); n != calls {
		t.Errorf("%d calls went out of the stopped gate", n-calls)
	}

	s.vendor.saying(func(call) answer { return ok })
	s.do("gate", "reopen", contacts, "--wait=false", "--timeout", "60s")
	s.do("airport", "pause", airport, "--reason", "a migration")
	s.do("airport", "reopen", airport, "--wait=false", "--timeout", "60s")
	s.do("gate", "pause", contacts, "--reason", "another")
	s.do("gate", "reopen", contacts, "--wait=false", "--timeout", "60s")
	if m := asJSON[move](s, "parked", "discard", contacts, "--business-id", "c7", "--confirm", contacts); m.Planned != 40 || m.Moved != 1 || m.Skipped["filter"] != 39 {
		t.Errorf("the discard of one says %+v", m)
	}
	delete(s.sent, "c7")
	// What it looked at and left is back when it returns: the next command counts it.
	var a governor.AirportInfo
	s.until("an answer", func() bool { a = s.look(); return a.State != "" && a.Parked != governor.Unread })
	if a.Parked != 39 {
		t.Errorf("the shelf has %d right after the discard, want 39: %+v", a.Parked, a)
	}
	if m := asJSON[move](s, "parked", "replay", contacts, "--canary", "3", "--timeout", "60s"); m.Planned != 39 || m.Moved != 39 {
		t.Errorf("the replay with a canary says %+v", m)
	}
	s.vendor.lands(t, 39)
	if _, errs, code := s.ctl(`{"id":"r1"}`, "dispatch", contacts, "--charter", "import", "--expected", "2", "--business-id", "/id"); code != 6 {
		t.Errorf("a source that is too short: exit %d\n%s", code, errs)
	}
	s.sent["r1"] = true
	s.vendor.lands(t, 40)
	s.do("charter", "abort", contacts+"/import", "--confirm", contacts+"/import", "--reason", "wrong list")

	want := []auditEntry{
		{Action: "parked replay", Scope: contacts, Result: "begun", Count: 40},
		{Action: "parked replay", Scope: contacts, Result: "ok", Count: 40},
		{Action: "reopen", Scope: contacts, Result: "ok"},
		{Action: "pause", Scope: airport, Result: "ok", Reason: "a migration"},
		{Action: "reopen", Scope: airport, Result: "ok"},
		{Action: "pause", Scope: contacts, Result: "ok", Reason: "another"},
		{Action: "parked discard", Scope: contacts, Result: "ok", Count: 1},
		{Action: "parked replay --canary 3", Scope: contacts, Result: "ok", Count: 39},
		{Action: "charter dispatch", Scope: contacts + "/import", Count: 1},
		{Action: "charter abort", Scope: contacts + "/import", Result: "ok", Reason: "wrong list"},
	}
	list := asJSON[[]auditEntry](s, "audit", "list")
	for _, e := range list {
		if e.Actor != "dana" || e.Action == "" || e.Scope == "" || e.Result == "" || e.At.Before(begun) || e.At.After(time.Now().Add(time.Minute)) {
			t.Errorf("who, when, what or the result is missing: %+v", e)
		}
	}
	for _, w := range want {
		found := false
		for _, e := range list {
			found = found || e.Action == w.Action && e.Scope == w.Scope && (w.Result == "" || e.Result == w.Result) &&
				(w.Reason == "" || e.Reason == w.Reason) && (w.Count == 0 || e.Count == w.Count)
		}
		if !found {
			t.Errorf("no entry for %+v", w)
		}
	}
	// What lives in the store is offered where a scope is typed.
	for line, want := range map[string]string{
		"airport show": airport + "\tOPEN", "gate reopen": contacts + "\tOPEN", "parked replay": contacts + "\tOPEN",
		"charter show": contacts + "/import\taborted", "incident show": contacts + "\tits latest incident",
	} {
		out := s.do(append(append([]string{"__complete"}, strings.Fields(line)...), "crm:a")...)
		if !strings.Contains("\n"+out, "\n"+want+"\n") {
			t.Errorf("%s offers\n%s, want %q", line, out, want)
		}
	}
	if t.Failed() {
		for _, e := range list {
			t.Logf("%+v", e)
		}
	}
	s.close(true)
}
