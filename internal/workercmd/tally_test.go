package workercmd

import (
	"bytes"
	"testing"

	"github.com/traction-go/traction/pkg/governor"
)

// A line is one line of words, whatever a message or a vendor put into it.
func TestATallyPrintsWhatCannotBeSeen(t *testing.T) {
	var out bytes.Buffer
	tally := newTally(&out)
	tally.settled(governor.Settled{Settled: "landed", Scope: "a/g", Flight: "f\x1b[2J", BusinessID: "a\xff\u202e"})
	tally.settled(governor.Settled{Settled: "park", Scope: "a/g", Flight: "f2", Reason: "INTERNAL", Evidence: "two\nlines"})
	want := "landed a/g flight=f\\x1b[2J business_id=a\\xff\\u202e\n" + "park a/g flight=f2 reason=INTERNAL evidence=two\\nlines\n"
	if out.String() != want {
		t.Errorf("got  %s\nwant %s", out.String(), want)
	}
}
