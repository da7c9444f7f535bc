package rehearse

import (
	"fmt"
	"slices"
	"strings"
)

// Tally is what has become of the flights sent to a gate.
type Tally struct {
	Sent      int
	Landed    int // distinct flights, by the pilots' book
	Rejected  int
	Parked    int
	Discarded int
	Left      int // on the runway, on hold, in the air, or taken back by the old consumer
}

// Balanced reports whether nothing is missing and nothing there twice.
func (t Tally) Balanced() bool {
	return t.Sent == t.Landed+t.Rejected+t.Parked+t.Discarded+t.Left
}

// String writes the books as an equation.
func (t Tally) String() string {
	sign := "="
	if !t.Balanced() {
		sign = "≠"
	}
	return fmt.Sprintf("%d sent %s %d landed + %d rejected + %d parked + %d discarded + %d left", t.Sent, sign, t.Landed, t.Rejected, t.Parked, t.Discarded, t.Left)
}

func (t Tally) plus(o Tally) Tally {
	return Tally{t.Sent + o.Sent, t.Landed + o.Landed, t.Rejected + o.Rejected, t.Parked + o.Parked, t.Discarded + o.Discarded, t.Left + o.Left}
}

// apart says in which fields two tallies differ, as each has them; "" for none.
func apart(want, seen Tally) (wanted, saw string) {
	var w, s []string
	for _, f := range []struct {
		name       string
		want, seen int
	}{
		{"sent", want.Sent, seen.Sent}, {"landed", want.Landed, seen.Landed}, {"rejected", want.Rejected, seen.Rejected},
		{"parked", want.Parked, seen.Parked}, {"discarded", want.Discarded, seen.Discarded}, {"left", want.Left, seen.Left},
	} {
		if f.want != f.seen {
			w = append(w, fmt.Sprintf("%s %d", f.name, f.want))
			s = append(s, fmt.Sprintf("%s %d", f.name, f.seen))
		}
	}
	return strings.Join(w, ", "), strings.Join(s, ", ")
}

// differ is a Mismatch where any gate's tally is not what it must be, naming the
// first one; nil where all are.
func differ(want, seen map[string]Tally) *Mismatch {
	var m *Mismatch
	more := 0
	for _, gate := range sorted(want) {
		w, s := apart(want[gate], seen[gate])
		switch {
		case w == "":
		case m == nil:
			m = &Mismatch{Wanted: gate + ": " + w, Seen: gate + ": " + s}
		default:
			more++
		}
	}
	if more > 0 {
		m.Seen += fmt.Sprintf("; gates that differ too: %d", more)
	}
	return m
}

func sorted[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// Mismatch is a step that saw something else than it must.
type Mismatch struct {
	Step   string
	Wanted string
	Seen   string
	Next   string
}

// Error says both.
func (m *Mismatch) Error() string {
	return fmt.Sprintf("step %s: wanted %s; saw %s", m.Step, m.Wanted, m.Seen)
}
