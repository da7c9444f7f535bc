package rehearse

import (
	"strings"
	"testing"

	amqp "github.com/rabbitmq/amqp091-go"
)

func TestVerdict(t *testing.T) {
	pass, fail, skip, not := Step{Name: "land", Result: Passed}, Step{Name: "hold", Result: Failed}, Step{Name: "intake", Result: Skipped}, Step{Name: "books", Result: NotRun}
	for _, c := range []struct {
		r      Report
		want   string
		passed bool
	}{
		{Report{Steps: []Step{pass, pass}}, "passed: 2 steps; nothing of namespace n is left", true},
		{Report{Steps: []Step{pass, skip}, Books: []Books{{Tally: Tally{Sent: 3, Landed: 2, Left: 1}}, {Tally: Tally{Sent: 1, Parked: 1}}}},
			"passed: 1 step, 1 skipped; 4 sent = 2 landed + 0 rejected + 1 parked + 0 discarded + 1 left; nothing of namespace n is left", true},
		{Report{Steps: []Step{pass, fail, not}}, "failed at hold; 1 step not run; nothing of namespace n is left", false},
		{Report{Steps: []Step{fail, not}, Interrupted: true}, "interrupted after 0 steps; failed at hold; nothing of namespace n is left", false},
		{Report{Steps: []Step{pass, not}, Interrupted: true}, "interrupted after 1 step; nothing of namespace n is left", false},
		{Report{Steps: []Step{pass, {Name: "clean", Result: Failed}}, Left: []string{"queue n.q"}}, "failed at clean; left of namespace n: queue n.q", false},
	} {
		c.r.Namespace = "n"
		if got := c.r.Verdict(); got != c.want || c.r.Passed() != c.passed {
			t.Errorf("got  %s (%v)\nwant %s (%v)", got, c.r.Passed(), c.want, c.passed)
		}
	}
}

func TestTallies(t *testing.T) {
	if got := (Tally{Sent: 5, Landed: 1, Rejected: 1, Parked: 1, Discarded: 1, Left: 1}); !got.Balanced() || strings.Contains(got.String(), "≠") {
		t.Error(got)
	}
	if got := (Tally{Sent: 2, Landed: 1}); got.Balanced() || !strings.Contains(got.String(), "2 sent ≠ 1 landed") {
		t.Error(got)
	}
	want := map[string]Tally{"a/x": {Sent: 1, Landed: 1}, "a/y": {Sent: 1, Parked: 1}, "a/z": {}}
	if m := differ(want, want); m != nil {
		t.Error(m)
	}
	m := differ(want, map[string]Tally{"a/x": {Sent: 1, Left: 1}})
	if m == nil || m.Wanted != "a/x: landed 1, left 0" || m.Seen != "a/x: landed 0, left 1; gates that differ too: 1" {
		t.Errorf("%+v", m)
	}
}

// The texts are RabbitMQ 3.10's.
func TestARefusalTeachesOneArgument(t *testing.T) {
	const at = " for queue 'q' in vhost '/': "
	d := declaration{durable: true, args: amqp.Table{}}
	for _, c := range []struct {
		reason string
		learns bool
	}{
		{"PRECONDITION_FAILED - inequivalent arg 'durable'" + at + "received 'true' but current is 'false'", true},
		{"PRECONDITION_FAILED - inequivalent arg 'x-dead-letter-exchange'" + at + "received none but current is the value 'it's dlx' of type 'longstr'", true},
		{"PRECONDITION_FAILED - inequivalent arg 'x-max-priority'" + at + "received none but current is the value '5' of type 'signedint'", true},
		{"PRECONDITION_FAILED - inequivalent arg 'x-single-active-consumer'" + at + "received none but current is the value 'true' of type 'bool'", true},
		{"PRECONDITION_FAILED - inequivalent arg 'x-max-priority'" + at + "received '5' but current is '6'", false},
		{"PRECONDITION_FAILED - inequivalent arg 'x-max-priority'" + at + "received none but current is the value '5' of type 'signedint'", false},
		{"PRECONDITION_FAILED - inequivalent arg 'x-message-ttl'" + at + "received the value '3' of type 'long' but current is none", false},
		{"PRECONDITION_FAILED - inequivalent arg 'x-odd'" + at + "received none but current is the value '3.5' of type 'double'", false},
		{"PRECONDITION_FAILED - something else", false},
	} {
		if got := d.learn(c.reason); got != c.learns {
			t.Errorf("%s: learned %v", c.reason, got)
		}
	}
	if d.durable || len(d.args) != 3 || d.args["x-dead-letter-exchange"] != "it's dlx" || d.number("x-max-priority") != 5 || d.args["x-single-active-consumer"] != true || d.kind() != "classic" || !d.deadLetters() {
		t.Errorf("%+v", d)
	}
}

func TestWhatAStandInSays(t *testing.T) {
	for want, like := range map[string]declaration{
		"q is not on this broker: a classic queue without arguments stands in":                           {},
		"q could not be asked for its arguments (ACCESS_REFUSED): a classic queue without any stands in": {exists: true, unknown: "ACCESS_REFUSED"},
		"q is classic": {exists: true},
		"q is quorum with max-length=9 and more that could not be read (x)":                            {exists: true, unknown: "x", args: amqp.Table{"x-queue-type": "quorum", "x-max-length": int64(9)}},
		"q is classic with dead-letter-exchange=a; the stand-in has a dead-letter exchange of its own": {exists: true, args: amqp.Table{"x-dead-letter-exchange": "a"}},
	} {
		a := &adopted{standIn{Queue: "q"}, like}
		if got := a.says(); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	a := &adopted{standIn{}, declaration{args: amqp.Table{"x-max-length": int64(9)}}}
	if a.limit(20) != 9 || a.limit(3) != 3 || (&adopted{}).limit(20) != 20 {
		t.Error("a queue with a length limit takes as many as it has room for")
	}
}
