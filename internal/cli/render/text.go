package render

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/traction-go/traction/internal/wire"
)

// Thousands writes 1234567 as 1,234,567.
func Thousands(n int64) string {
	s := strconv.FormatInt(n, 10)
	sign := ""
	if n < 0 {
		sign, s = "-", s[1:]
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return sign + s
}

// Plural writes "1 flight", "2 flights".
func Plural(n Count, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return n.String() + " " + noun + "s"
}

// Stamp writes a time as people read it, in UTC: 2026-03-04 02:11:09Z.
func Stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02 15:04:05Z")
}

// Ago writes how long ago t was, in one or two units: 45s, 14m, 3h5m, 2d4h. Clocks
// differ, so what lies ahead is 0s.
func Ago(now, t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return Rough(now.Sub(t))
}

// Rough writes a duration in at most two units.
func Rough(d time.Duration) string {
	switch {
	case d < time.Second:
		return "0s"
	case d < 10*time.Minute:
		d = d.Truncate(time.Second)
	case d < 24*time.Hour:
		d = d.Truncate(time.Minute)
	default:
		d = d.Truncate(time.Hour)
	}
	return wire.ShortDuration(d)
}

// Since writes "2026-03-04 02:11:09Z (14m ago)".
func Since(now, t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return fmt.Sprintf("%s (%s ago)", Stamp(t), Ago(now, t))
}

// Slots writes a rate limit: "3/20 per 1s", or "unlimited".
func Slots(used, n int, per time.Duration) string {
	if n == 0 {
		return "unlimited"
	}
	return fmt.Sprintf("%s/%s per %s", Count(used), Count(n), wire.ShortDuration(per))
}

// Join writes a list on one line, each part visible; "" for none.
func Join(parts []string) string {
	out := make([]string, len(parts))
	for i, p := range parts {
		out[i] = wire.Visible(p)
	}
	return strings.Join(out, ", ")
}
