package shelf

import (
	"cmp"
	"slices"
	"time"

	"github.com/traction-go/traction/internal/cli/render"
	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/governor"
)

// groupings are the causes that flights can be counted by.
var groupings = map[string]func(governor.ParkedFlight) string{
	"reason":   func(p governor.ParkedFlight) string { return string(p.Reason) },
	"evidence": func(p governor.ParkedFlight) string { return p.Evidence },
	"charter":  func(p governor.ParkedFlight) string { return p.Charter },
}

// heap is the parked flights that share a cause.
type heap struct {
	Key    wire.Text   `json:"key"`
	Count  int         `json:"count"`
	Oldest render.Time `json:"oldest"`
	Newest render.Time `json:"newest"`
	Gates  []wire.Text `json:"gates"`
}

// group counts flights by a key, the largest group first.
func group(flights []governor.ParkedFlight, key func(governor.ParkedFlight) string) []heap {
	at := map[string]int{}
	heaps := []heap{}
	for _, f := range flights {
		k := key(f)
		i, ok := at[k]
		if !ok {
			i = len(heaps)
			at[k] = i
			heaps = append(heaps, heap{Key: wire.Text(k)})
		}
		h := &heaps[i]
		h.Count++
		if oldest := time.Time(h.Oldest); oldest.IsZero() || f.ParkedAt.Before(oldest) {
			h.Oldest = render.Time(f.ParkedAt)
		}
		if f.ParkedAt.After(time.Time(h.Newest)) {
			h.Newest = render.Time(f.ParkedAt)
		}
		if !slices.Contains(h.Gates, wire.Text(f.Gate)) {
			h.Gates = append(h.Gates, wire.Text(f.Gate))
		}
	}
	slices.SortStableFunc(heaps, func(a, b heap) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Key, b.Key))
	})
	return heaps
}

func printGroups(opts *ListOptions, heaps []heap) error {
	if opts.Output != render.AsTable {
		return render.List(opts.Out, opts.Output, heaps)
	}
	if len(heaps) == 0 {
		opts.nothing()
		return nil
	}
	now := opts.Now()
	t := render.Table{Columns: []render.Column{
		{Name: "COUNT", Right: true}, {Name: "OLDEST"}, {Name: "NEWEST"}, {Name: "GATES", Right: true}, {Name: heading[opts.GroupBy], Flex: true},
	}}
	for _, h := range heaps {
		t.Rows = append(t.Rows, []string{
			render.Count(h.Count).String(), render.Ago(now, time.Time(h.Oldest)), render.Ago(now, time.Time(h.Newest)),
			render.Count(len(h.Gates)).String(), string(h.Key),
		})
	}
	return t.Write(opts.Out, opts.Width, opts.Palette())
}

var heading = map[string]string{"reason": "REASON", "evidence": "EVIDENCE", "charter": "CHARTER"}
