package governor

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/settle"
)

// noticeTest is the type of what `notify test` sends.
const noticeTest = "TEST"

// describe fills Text, one sentence for a person who was woken by it (what
// happened, that nothing is lost, how much waits, what to fix, the command), and
// Next, the commands, the most likely one last. It is pure.
func describe(n *Notification) {
	what, fix, next := story(n)
	if n.Observed {
		what = observedStory(n)
		fix = "see whether it was right to"
		next = []string{"tractionctl incident show " + or(n.Incident, n.Scope)}
	}
	n.Next = next
	s := what
	if n.Type != noticeTest && n.Type != wire.CharterComplete {
		s += "; nothing is lost, " + waitPhrase(n.Waiting) + parkedPhrase(n.Parked)
	}
	if fix != "" {
		s += "; " + fix
	}
	if len(next) > 0 {
		s += ": " + next[len(next)-1]
	}
	n.Text = wire.Visible(s)
}

// story says what happened, what to fix, and the commands.
func story(n *Notification) (what, fix string, next []string) {
	s := n.Scope
	switch n.Type {
	case wire.GroundStop:
		return s + " is stopped by " + causeOf(n), "repair the connection (credential, account, endpoint), then reopen",
			[]string{"tractionctl airport show " + s, "tractionctl airport reopen " + s}
	case wire.GateStop:
		return gateStopStory(n)
	case wire.GroundDelay:
		return delayStory(n)
	case wire.Parking:
		return parkingStory(n)
	case wire.PoisonPill:
		return s + " set aside " + culprit(n) + pillDeaths(n),
			"look at the payload and fix what it kills, then replay it",
			[]string{"tractionctl parked list " + s + " --reason POISON_PILL", "tractionctl parked replay " + s + " --reason POISON_PILL"}
	case wire.WorkerDeaths:
		return deathsStory(n)
	case wire.CharterComplete:
		return s + " is complete" + quoted(n), "see the books",
			[]string{"tractionctl charter show " + s}
	case wire.Reopened:
		verb := "reopened"
		if n.Actor != "" {
			verb += " by " + n.Actor
		}
		return s + " was " + verb + quoted(n), "replay what was parked meanwhile",
			[]string{"tractionctl parked list " + s + " --group-by reason", "tractionctl parked replay " + s}
	case wire.StateLost:
		return s + " is stopped because the store lost what it knew of it", "see whether it was stopped before, then reopen",
			[]string{"tractionctl incident list --open", "tractionctl " + scopeNoun(s) + " reopen " + s}
	case noticeTest:
		return "this is a test of the notifications of " + or(s, "Traction"), "nothing has happened and nothing needs doing", nil
	}
	return strings.TrimSpace(s + ": " + n.Type + " " + n.Reason), "see what stands", []string{"tractionctl status"}
}

func gateStopStory(n *Notification) (what, fix string, next []string) {
	s := n.Scope
	what = s + " is stopped by " + causeOf(n) + onRecords(n)
	show := "tractionctl gate show " + s
	reopen := "tractionctl gate reopen " + s
	if n.Reason == settle.GateFault.String() {
		return what, "fix this kind of work (endpoint, contract, permission), reopen, then replay what was parked",
			[]string{show, "tractionctl parked replay " + s, reopen}
	}
	// So many bad records in a row are no bad records.
	return what, "so many records are hardly all wrong: fix the cause, reopen, then replay what was rejected and parked",
		[]string{show, "tractionctl rejected replay " + s, "tractionctl parked replay " + s, reopen}
}

func delayStory(n *Notification) (what, fix string, next []string) {
	next = []string{"tractionctl gate show " + n.Scope}
	if strings.HasSuffix(n.Key, "/end") {
		return n.Scope + " flies again: its ground delay has ended", "no one needs to act; see how it drains", next
	}
	return n.Scope + " is delayed because its vendor is down" + quoted(n) +
			", with one probe at a time until it answers",
		"no one needs to act here; tell the vendor, and watch", next
}

func parkingStory(n *Notification) (what, fix string, next []string) {
	s := n.Scope
	what = s + " parked a flight for " + n.Reason + onRecords(n) + quoted(n)
	switch settle.Reason(n.Reason) {
	case settle.ReasonHoldBudget:
		fix = "it failed after every hold: see why, then replay"
	case settle.ReasonInternal:
		fix = "the worker's own code failed: fix it, then replay"
	case settle.ReasonMalformed:
		fix = "it could not be read and was never flown: fix the sender, then replay or discard"
	case settle.ReasonDeliveryLimit:
		fix = "the broker gave it out too often: see what the workers do, then replay"
	default:
		fix = "see why, then replay"
	}
	return what, fix, []string{"tractionctl parked list " + s + " --reason " + n.Reason,
		"tractionctl parked replay " + s + " --reason " + n.Reason}
}

func deathsStory(n *Notification) (what, fix string, next []string) {
	s := n.Scope
	if n.Reason == leaksReason { // it lives
		return s + " flies nothing more in " + deadWorkers(n) + quoted(n), "restart it, and have the pilot honour its context",
			[]string{"tractionctl gate show " + s}
	}
	return s + " lost " + deadWorkers(n) + " while flights were in the air" + suspects(n) + quoted(n),
		"look at the workers' last logs and at the suspects",
		[]string{"tractionctl airport show " + s, "tractionctl suspect list"}
}

func observedStory(n *Notification) string {
	return n.Scope + " would have stopped for " + causeOf(n) + onRecords(n) + ", but only observes: it flies on"
}

// cause is the reason, the evidence, and whose it is when it is one worker's: that
// worker may be what is broken.
func causeOf(n *Notification) string {
	s := n.Reason + quoted(n)
	if len(n.Workers) == 1 {
		s += ", seen by " + n.Workers[0] + " alone"
	}
	return s
}

func quoted(n *Notification) string {
	if n.Evidence == "" {
		return ""
	}
	return " (" + bound(n.Evidence, 160) + ")"
}

func onRecords(n *Notification) string {
	if len(n.Records) == 0 {
		return ""
	}
	return " on " + listed(n.Records, "record")
}

// suspects names flights by their ids, as `suspect list` does. How many of the deaths each
// of them saw is not in the notice.
func suspects(n *Notification) string {
	if len(n.Records) == 0 {
		return ""
	}
	return ", at one of these deaths or more with " + listed(n.Records, "flight")
}

// culprit names the one flight of a poison pill: its id, then its record where that
// is another name.
func culprit(n *Notification) string {
	switch len(n.Records) {
	case 0:
		return "a flight"
	case 1:
		return "flight " + bound(n.Records[0], 80)
	}
	return "flight " + bound(n.Records[0], 80) + " (record " + bound(n.Records[1], 80) + ")"
}

// pillDeaths says who died. Evidence means that the worker lived to tell it: it was the
// pilot's program that died, or a pilot that never came back.
func pillDeaths(n *Notification) string {
	if n.Evidence == "" {
		return ", which was in the air when " + deadWorkers(n) + " died"
	}
	return ": what flew it died of it twice, at " + deadWorkers(n) + quoted(n)
}

func deadWorkers(n *Notification) string {
	if len(n.Workers) == 0 {
		return "workers"
	}
	return listed(n.Workers, "worker")
}

// list counts its items and names the first three.
func listed(all []string, noun string) string {
	if len(all) == 1 {
		return noun + " " + bound(all[0], 80)
	}
	return fmt.Sprintf("%d %ss (%s)", len(all), noun, strings.Join(firstFew(all), ", "))
}

func firstFew(all []string) []string {
	var out []string
	for _, s := range all[:min(len(all), 3)] {
		out = append(out, bound(s, 80))
	}
	if len(all) > 3 {
		out = append(out, "...")
	}
	return out
}

func waitPhrase(n int) string {
	switch {
	case n < 0:
		return "how much waits could not be read"
	case n == 0:
		return "no flight waits"
	case n == 1:
		return "1 flight waits"
	}
	return fmt.Sprintf("%d flights wait", n)
}

// parkedPhrase tells apart who waits for a human: what is parked does not wait to fly.
func parkedPhrase(n int) string {
	switch {
	case n < 0:
		return ", how many are parked could not be read"
	case n == 0:
		return ""
	}
	return fmt.Sprintf(", %d parked", n)
}

func scopeNoun(scope string) string {
	if strings.Contains(scope, "/") {
		return "gate"
	}
	return "airport"
}

// bound cuts s to at most n bytes, at a character, and says that it did.
func bound(s string, n int) string {
	if len(s) <= n {
		return s
	}
	n -= len("...")
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "..."
}
