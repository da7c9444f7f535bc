package governor

import (
	"fmt"
	"strings"
	"testing"
)

func TestDescribe(t *testing.T) {
	for _, c := range []struct {
		n    Notification
		text string
		next string
	}{
		{
			Notification{Type: "GROUND_STOP", Scope: "crm:acme", Reason: "AIRPORT_FAULT", Evidence: "401 expired", Waiting: 1, Workers: []string{"pod-a"}},
			"crm:acme is stopped by AIRPORT_FAULT (401 expired), seen by pod-a alone; nothing is lost, 1 flight waits; repair the connection (credential, account, endpoint), then reopen: tractionctl airport reopen crm:acme",
			"tractionctl airport show crm:acme; tractionctl airport reopen crm:acme",
		},
		{
			Notification{Type: "GROUND_STOP", Scope: "crm:acme", Reason: "AIRPORT_FAULT", Incident: "i-1", Observed: true},
			"crm:acme would have stopped for AIRPORT_FAULT, but only observes: it flies on; nothing is lost, no flight waits; see whether it was right to: tractionctl incident show i-1",
			"tractionctl incident show i-1",
		},
		{
			Notification{Type: "GATE_STOP", Scope: "crm:acme/c", Reason: "GATE_FAULT", Records: []string{"1", "2", "3"}, Waiting: 7},
			"crm:acme/c is stopped by GATE_FAULT on 3 records (1, 2, 3); nothing is lost, 7 flights wait; fix this kind of work (endpoint, contract, permission), reopen, then replay what was parked: tractionctl gate reopen crm:acme/c",
			"tractionctl gate show crm:acme/c; tractionctl parked replay crm:acme/c; tractionctl gate reopen crm:acme/c",
		},
		{
			Notification{Type: "GATE_STOP", Scope: "crm:acme/c", Reason: "FLIGHT_FAULT", Records: []string{"1", "2", "3", "4", "5"}, Waiting: Unread},
			"crm:acme/c is stopped by FLIGHT_FAULT on 5 records (1, 2, 3, ...); nothing is lost, how much waits could not be read; so many records are hardly all wrong: fix the cause, reopen, then replay what was rejected and parked: tractionctl gate reopen crm:acme/c",
			"tractionctl gate show crm:acme/c; tractionctl rejected replay crm:acme/c; tractionctl parked replay crm:acme/c; tractionctl gate reopen crm:acme/c",
		},
		{
			Notification{Key: "d/GROUND_DELAY", Type: "GROUND_DELAY", Scope: "crm:acme/c", Reason: "TRANSIENT", Evidence: "503", Waiting: 40},
			"crm:acme/c is delayed because its vendor is down (503), with one probe at a time until it answers; nothing is lost, 40 flights wait; no one needs to act here; tell the vendor, and watch: tractionctl gate show crm:acme/c",
			"tractionctl gate show crm:acme/c",
		},
		{
			Notification{Key: "d/GROUND_DELAY/end", Type: "GROUND_DELAY", Scope: "crm:acme/c", Waiting: 40},
			"crm:acme/c flies again: its ground delay has ended; nothing is lost, 40 flights wait; no one needs to act; see how it drains: tractionctl gate show crm:acme/c",
			"tractionctl gate show crm:acme/c",
		},
		{
			Notification{Type: "PARKING", Scope: "crm:acme/c", Reason: "HOLD_BUDGET", Records: []string{"7"}, Evidence: "500", Waiting: 2, Parked: Unread},
			"crm:acme/c parked a flight for HOLD_BUDGET on record 7 (500); nothing is lost, 2 flights wait, how many are parked could not be read; it failed after every hold: see why, then replay: tractionctl parked replay crm:acme/c --reason HOLD_BUDGET",
			"tractionctl parked list crm:acme/c --reason HOLD_BUDGET; tractionctl parked replay crm:acme/c --reason HOLD_BUDGET",
		},
		{
			Notification{Type: "POISON_PILL", Scope: "crm:acme/c", Reason: "POISON_PILL", Records: []string{"01a2", "7"}, Workers: []string{"pod-a", "pod-b"}, Parked: 1},
			"crm:acme/c set aside flight 01a2 (record 7), which was in the air when 2 workers (pod-a, pod-b) died; nothing is lost, no flight waits, 1 parked; look at the payload and fix what it kills, then replay it: tractionctl parked replay crm:acme/c --reason POISON_PILL",
			"tractionctl parked list crm:acme/c --reason POISON_PILL; tractionctl parked replay crm:acme/c --reason POISON_PILL",
		},
		{
			Notification{Type: "POISON_PILL", Scope: "crm:acme/c", Reason: "POISON_PILL", Evidence: "died: signal: killed", Records: []string{"01a2"}, Workers: []string{"pod-a"}, Waiting: 1},
			"crm:acme/c set aside flight 01a2: what flew it died of it twice, at worker pod-a (died: signal: killed); nothing is lost, 1 flight waits; look at the payload and fix what it kills, then replay it: tractionctl parked replay crm:acme/c --reason POISON_PILL",
			"tractionctl parked list crm:acme/c --reason POISON_PILL; tractionctl parked replay crm:acme/c --reason POISON_PILL",
		},
		{
			Notification{Type: "WORKER_DEATHS", Scope: "crm:acme/c", Reason: "LEAKS", Evidence: "4 pilots ignore their ended context", Workers: []string{"a"}, Waiting: 3},
			"crm:acme/c flies nothing more in worker a (4 pilots ignore their ended context); nothing is lost, 3 flights wait; restart it, and have the pilot honour its context: tractionctl gate show crm:acme/c",
			"tractionctl gate show crm:acme/c",
		},
		{
			Notification{Type: "WORKER_DEATHS", Scope: "crm:acme", Reason: "DEATHS", Workers: []string{"a", "b", "c"}, Records: []string{"01a2"}, Waiting: 3},
			"crm:acme lost 3 workers (a, b, c) while flights were in the air, at one of these deaths or more with flight 01a2; nothing is lost, 3 flights wait; look at the workers' last logs and at the suspects: tractionctl suspect list",
			"tractionctl airport show crm:acme; tractionctl suspect list",
		},
		{
			Notification{Type: "CHARTER_COMPLETE", Scope: "crm:acme/c/run-1", Evidence: "landed 10 of 10"},
			"crm:acme/c/run-1 is complete (landed 10 of 10); see the books: tractionctl charter show crm:acme/c/run-1",
			"tractionctl charter show crm:acme/c/run-1",
		},
		{
			Notification{Type: "REOPENED", Scope: "crm:acme", Actor: "ada@host\x1b", Waiting: 9},
			`crm:acme was reopened by ada@host\x1b; nothing is lost, 9 flights wait; replay what was parked meanwhile: tractionctl parked replay crm:acme`,
			"tractionctl parked list crm:acme --group-by reason; tractionctl parked replay crm:acme",
		},
		{
			Notification{Type: "STATE_LOST", Scope: "crm:acme", Waiting: 9},
			"crm:acme is stopped because the store lost what it knew of it; nothing is lost, 9 flights wait; see whether it was stopped before, then reopen: tractionctl airport reopen crm:acme",
			"tractionctl incident list --open; tractionctl airport reopen crm:acme",
		},
		{
			Notification{Type: "TEST", Scope: "crm:acme"},
			"this is a test of the notifications of crm:acme; nothing has happened and nothing needs doing",
			"",
		},
		{
			Notification{Type: "FUTURE", Scope: "crm:acme", Reason: "X", Waiting: 1},
			"crm:acme: FUTURE X; nothing is lost, 1 flight waits; see what stands: tractionctl status",
			"tractionctl status",
		},
	} {
		describe(&c.n)
		if c.n.Text != c.text {
			t.Errorf("%s\n got %s\nwant %s", c.n.Type, c.n.Text, c.text)
		}
		if got := strings.Join(c.n.Next, "; "); got != c.next {
			t.Errorf("%s\n got %s\nwant %s", c.n.Type, got, c.next)
		}
	}
}

func TestDescribeBoundsWhatVendorsSay(t *testing.T) {
	n := Notification{Type: "GROUND_STOP", Scope: "crm:acme", Reason: "AIRPORT_FAULT", Evidence: strings.Repeat("ü", 512)}
	for i := range 20 {
		n.Records = append(n.Records, fmt.Sprint(i)+strings.Repeat("r", 250))
	}
	describe(&n)
	if len(n.Text) > 1000 || !strings.Contains(n.Text, "ü...)") {
		t.Errorf("%d bytes: %s", len(n.Text), n.Text)
	}
}
