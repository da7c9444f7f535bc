package settle

import (
	"fmt"
	"strconv"
	"strings"
)

// HoldReason names the budget that a hold is counted against.
type HoldReason string

// The two budgets.
const (
	HoldTransient HoldReason = "transient"
	HoldInternal  HoldReason = "internal"
)

// Holds counts the holds a flight has spent, by reason. The zero value is an
// unspent budget. It is a value: Add returns a new one.
type Holds struct {
	Transient int
	Internal  int
}

// maxHolds bounds a count read from a header: no honest budget comes near it.
const maxHolds = 1_000_000

// Of gives the count for one reason.
func (h Holds) Of(r HoldReason) int {
	if r == HoldInternal {
		return h.Internal
	}
	return h.Transient
}

// Add returns h with one more hold spent on r.
func (h Holds) Add(r HoldReason) Holds {
	if r == HoldInternal {
		h.Internal++
	} else {
		h.Transient++
	}
	return h
}

// Total is the number of holds spent for any reason.
func (h Holds) Total() int { return h.Transient + h.Internal }

// String writes the header form, such as "transient=2,internal=1"; an unspent
// budget is "".
func (h Holds) String() string {
	var parts []string
	if h.Transient > 0 {
		parts = append(parts, "transient="+strconv.Itoa(h.Transient))
	}
	if h.Internal > 0 {
		parts = append(parts, "internal="+strconv.Itoa(h.Internal))
	}
	return strings.Join(parts, ",")
}

// ParseHolds reads the header form. A counter that cannot be read is an error,
// never zero: a budget that silently starts again retries for ever.
func ParseHolds(s string) (Holds, error) {
	var h Holds
	if s == "" {
		return h, nil
	}
	seen := map[string]bool{}
	for part := range strings.SplitSeq(s, ",") {
		name, value, ok := strings.Cut(part, "=")
		n, err := count(value)
		if !ok || err != nil || seen[name] {
			return Holds{}, fmt.Errorf("hold budget %q: want reason=count pairs such as transient=2,internal=1", s)
		}
		seen[name] = true
		switch HoldReason(name) {
		case HoldTransient:
			h.Transient = n
		case HoldInternal:
			h.Internal = n
		default:
			return Holds{}, fmt.Errorf("hold budget %q: unknown reason %q, want transient or internal", s, name)
		}
	}
	return h, nil
}

// count reads a plain decimal number. strconv alone would take a sign as well.
func count(s string) (int, error) {
	n, err := strconv.ParseUint(s, 10, 32)
	if err != nil {
		return 0, err
	}
	if n > maxHolds {
		return 0, strconv.ErrRange
	}
	return int(n), nil
}
