package workercmd

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/governor"
)

// tally prints a line for each settled flight and counts them. Its methods may be
// called from any goroutine.
type tally struct {
	mu     sync.Mutex
	to     io.Writer
	total  int
	counts map[string]int
}

func newTally(to io.Writer) *tally { return &tally{to: to, counts: map[string]int{}} }

func (t *tally) settled(s governor.Settled) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.total++
	t.counts[s.Settled]++
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s", s.Settled, s.Scope)
	for _, f := range [][2]string{
		{"flight", s.Flight}, {"business_id", s.BusinessID}, {"outcome", s.Outcome}, {"reason", s.Reason}, {"evidence", s.Evidence},
	} {
		if f[1] != "" {
			b.WriteString(" " + f[0] + "=" + word(f[1]))
		}
	}
	_, _ = io.WriteString(t.to, b.String()+"\n") // a reader that went away stops no flight
}

// word quotes what would not read as one word.
func word(s string) string {
	s = wire.Visible(s)
	if strings.ContainsAny(s, " \"=") {
		return strconv.Quote(s)
	}
	return s
}

// String sums up, the most frequent settlement first.
func (t *tally) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var words []string
	for w := range t.counts {
		words = append(words, w)
	}
	slices.SortFunc(words, func(a, b string) int {
		if n := t.counts[b] - t.counts[a]; n != 0 {
			return n
		}
		return strings.Compare(a, b)
	})
	for i, w := range words {
		words[i] = fmt.Sprintf("%d %s", t.counts[w], w)
	}
	return strings.TrimSuffix(count(t.total, "flight")+" settled: "+strings.Join(words, ", "), ": ")
}
