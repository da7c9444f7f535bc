//go:build unix

package e2e

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/traction-go/traction/pkg/governor"
)

// oddIDs are business ids that nobody forbids: they are the caller's.
var oddIDs = []string{
	"two words", " before and after ", "a/b/c", "*", "#", "crm.*.#", "line\nbreak", "tab\there", "\x1b[2J\x1b]0;owned\x07",
	"\u202egnp.exe\u2066", "zero\x00byte", "{tag}", `quo"te'd\`, "ünïcödé 漢字 🛫", strings.Repeat("x", 255), "-o json", "$(id)", "%s%n",
}

func TestOddBusinessIDsFlyAndSteerNothing(t *testing.T) {
	t.Parallel()
	s := newSite(t, "", "")
	// All of them go on a shelf and are shown there.
	s.vendor.saying(func(call) answer { return answer{status: 404} })
	s.start(2, s.config("traction.yaml", `
  crm:acme:
    streaks: {gate_fault: 1000, record_fault: 1000}
    gates:
      contacts: {workers: 4, timeout: 20s, http: {url: "VENDOR/contacts"}}
`))
	var in strings.Builder
	for _, id := range oddIDs {
		b, err := json.Marshal(map[string]string{"id": id})
		if err != nil {
			t.Fatal(err)
		}
		in.Write(append(b, '\n'))
		s.sent[id] = true
	}
	if out, errOut, code := s.ctl(in.String(), "dispatch", contacts, "--business-id", "/id"); code != 0 {
		t.Fatalf("dispatch: exit %d\n%s%s", code, out, errOut)
	}
	s.until("all to be parked", func() bool { return s.look().Parked == len(oddIDs) })
	for _, args := range [][]string{{"parked", "list", contacts}, {"parked", "list", contacts, "-o", "jsonl"}, {"status"}} {
		clean(t, "tractionctl "+strings.Join(args, " "), s.do(args...))
	}
	for _, p := range asJSON[[]struct {
		ID string `json:"business_id"`
	}](s, "parked", "list", contacts) {
		if p.ID == "" {
			t.Error("a flight is shown without its business id")
		}
	}

	// A scope is a name, and no pattern.
	for _, scope := range []string{"crm:*/contacts", "crm:acme/#", "crm:acme/con tacts", "crm:acme/contacts\n", "crm:acme/\x1b[2J", "crm:acme/\u202e", "crm:acme/" + strings.Repeat("x", 300), "crm:acme//contacts"} {
		out, errOut, code := s.ctl(`{"id":"1"}`, "dispatch", scope)
		if code != 2 || !strings.Contains(errOut, "use 1 to 64 characters of") && !strings.Contains(errOut, "want airport") {
			t.Errorf("dispatch to %q: exit %d, want 2 and what a name is\n%s%s", scope, code, out, errOut)
		}
		clean(t, "the refusal of a scope", out+errOut)
	}
	s.vendor.saying(func(call) answer { return ok })
	s.do("parked", "replay", contacts)
	s.until("all to land", func() bool { a := s.look(); return int(a.Landed) == len(oddIDs) && a.Parked == 0 && a.InAir == 0 })
	for _, w := range s.workers {
		clean(t, "a worker's log", w.log.String())
	}
	// What is no header's value arrives in another form; the books of the broker hold it
	// as it was, and nothing is left there.
	s.sent = map[string]bool{}
	if n := s.vendor.count(); n != 2*len(oddIDs) {
		t.Errorf("%d calls, want two for each of %d", n, len(oddIDs))
	}
}

// TestTwoProcessesDeclareDifferentSlots: the newer declaration holds for both, and the
// older says so.
func TestTwoProcessesDeclareDifferentSlots(t *testing.T) {
	t.Parallel()
	s := newSite(t, "", "")
	slots := func(n int) string {
		return fmt.Sprintf(`
  crm:acme:
    slots: %d/1s
    gates:
      contacts: {workers: 4, timeout: 20s, http: {url: "VENDOR/contacts"}}
`, n)
	}
	older := s.start(1, s.config("older.yaml", slots(500)))[0]
	s.dispatch(contacts, "c", 0, 50)
	s.vendor.lands(t, 50)
	newer := s.start(1, s.config("newer.yaml", slots(40)))[0]
	const says = "another process declared other slots, and its declaration is the newer"
	s.until("the older to say so", func() bool {
		for line := range strings.SplitSeq(older.log.String(), "\n") {
			if strings.Contains(line, says) && strings.Contains(line, "ours=500/1s") && strings.Contains(line, "stands=40/1s") {
				return true
			}
		}
		return false
	})
	if strings.Contains(newer.log.String(), says) {
		t.Error("the newer says that it was overruled")
	}
	if a := s.look(); a.Slots != 40 || a.State != governor.OpenState {
		t.Errorf("%d slots stand, and the airport is %s; want 40, OPEN", a.Slots, a.State)
	}
	s.dispatch(contacts, "d", 0, 100)
	s.vendor.lands(t, 150)
	s.close(true)
}
