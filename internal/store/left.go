package store

import (
	"strconv"
	"strings"
	"time"
)

// LeftMinutes is how many minutes the store remembers, the current one included.
const LeftMinutes = 16

// Left is how many flights of a gate left its runway for good (landed, rejected,
// skipped or parked) in each of the last minutes. Minutes that are missing had none.
type Left struct {
	From    time.Time       // the first after a rest of five minutes; zero: never
	First   int64           // how many left at once then
	Early   int64           // how many left in the first five seconds
	EarlyAt time.Time       // when the last of these did
	Last    time.Time       // when the last of all did, as long as From is not over two minutes ago
	Minutes map[int64]int64 // by the minute since 1970
}

// leftIn reads it out of a gate's hash.
func leftIn(v map[string]string) Left {
	d := Left{Minutes: map[int64]int64{}}
	if ms, err := strconv.ParseInt(v["pace_from"], 10, 64); err == nil && ms > 0 {
		d.From, d.First = time.UnixMilli(ms).UTC(), integer(v["pace_first"])
		d.Early, d.EarlyAt, d.Last = integer(v["pace_early"]), time.UnixMilli(integer(v["pace_early_at"])).UTC(), time.UnixMilli(integer(v["pace_last"])).UTC()
	}
	for f, n := range v {
		if m, ok := strings.CutPrefix(f, "m:"); ok {
			d.Minutes[integer(m)] = integer(n)
		}
	}
	return d
}
