package command

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/traction-go/traction/internal/wire"
)

// MostDays is the longest that a Duration can be, in days.
const MostDays = 36500

// Duration is a flag's duration, which also takes days: 90m, 36h, 7d.
type Duration time.Duration

// Set reads the value.
func (d *Duration) Set(s string) error {
	v, err := parse(s)
	if err != nil || v < 0 || v > MostDays*24*time.Hour {
		return fmt.Errorf("%q: want a duration such as 30s, 90m, 36h or 7d, and at most %dd", wire.Visible(s), MostDays)
	}
	*d = Duration(v)
	return nil
}

func parse(s string) (time.Duration, error) {
	days, ok := strings.CutSuffix(s, "d")
	if !ok {
		return time.ParseDuration(s)
	}
	n, err := strconv.ParseUint(days, 10, 16)
	return time.Duration(n) * 24 * time.Hour, err
}

// String writes the value; "" for none, so that help shows no default.
func (d *Duration) String() string {
	if *d == 0 {
		return ""
	}
	return wire.ShortDuration(time.Duration(*d))
}

// Type names the value in help texts.
func (d *Duration) Type() string { return "duration" }
