package store_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/traction-go/traction/internal/store"
)

// A load is read as it was written, and what an older or a newer process wrote of it is
// read as far as it goes.
func TestLoadsTravel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := store.Load{InHand: rapid.IntRange(0, 100000).Draw(t, "in hand"), Pilots: rapid.IntRange(0, 1000).Draw(t, "pilots"),
			Call:     time.Duration(rapid.IntRange(0, 1000000).Draw(t, "call")) * time.Millisecond,
			Returned: rapid.Int64Range(0, 3).Draw(t, "returned"), Fresh: rapid.Int64Range(0, 3).Draw(t, "fresh"), Scars: rapid.Int64Range(0, 3).Draw(t, "scars"), Strange: rapid.Int64Range(0, 3).Draw(t, "strange"),
			Oldest: rapid.Int64Range(0, 2_000_000_000).Draw(t, "oldest"), Adopted: rapid.Int64Range(0, 1).Draw(t, "adopted")}
		b, ok := store.ParseBeat("w.1", "1700000000000 1000 0 1700000000000 W =1,other=5,sync=7"+l.String())
		if !ok || b.Loads["sync"] != l || b.Seen["sync"] != 7 || b.Loads["other"] != (store.Load{}) {
			t.Fatalf("%+v became %q, then %+v", l, l.String(), b)
		}
	})
	for written, want := range map[string]store.Load{
		"": {}, "/3": {InHand: 3}, "/3/2": {InHand: 3, Pilots: 2}, "/0/0/900": {Call: 900 * time.Millisecond},
		"/3/2/900/4/5/6/7/8/9/new": {InHand: 3, Pilots: 2, Call: 900 * time.Millisecond, Returned: 4, Fresh: 5, Scars: 6, Strange: 7, Oldest: 8, Adopted: 9}, "/x/-1/2": {Call: 2 * time.Millisecond},
	} {
		b, ok := store.ParseBeat("w.1", "1700000000000 1000 0 1700000000000 W =1,sync=7"+written)
		if !ok || b.Loads["sync"] != want || b.Seen["sync"] != 7 {
			t.Errorf("%q was read as %+v, epoch %d", written, b.Loads["sync"], b.Seen["sync"])
		}
	}
}
