package rehearse

import (
	"context"
	"fmt"

	"github.com/traction-go/traction/pkg/governor"
)

// books ends the workers and closes the books: nothing is missing, nothing is anywhere
// else, and no incident is open.
func (r *rehearsal) books(ctx context.Context) (string, error) {
	if err := r.crew.end(ctx); err != nil {
		return "", err
	}
	r.crew = nil // what a watch would take for one that ended by itself
	s, _, err := r.watch(ctx, func(s sight) bool { return differ(r.want, s.tallies) == nil })
	if err != nil {
		return "", err
	}
	gates := r.gates()
	for _, gate := range gates {
		r.report.Books = append(r.report.Books, Books{Gate: gate, Tally: s.tallies[gate], Twice: r.book.twice(gate)})
	}
	if m := differ(r.want, s.tallies); m != nil {
		return "", m
	}
	for _, b := range r.report.Books {
		if !b.Balanced() {
			return "", &Mismatch{Wanted: b.Gate + ": books that balance", Seen: b.Tally.String()}
		}
	}
	if odd := r.book.oddities(); len(odd) > 0 {
		return "", &Mismatch{Wanted: "each flight at its own gate, under its own id", Seen: list(odd, 2)}
	}
	for _, q := range []string{r.ns.LimitQueue(), r.ns.UnroutableQueue(), r.ns.UnreadableQueue()} {
		n, err := r.depth(ctx, q)
		if err != nil {
			return "", err
		}
		if n > 0 {
			return "", &Mismatch{Wanted: "nothing on queue " + q, Seen: messages(n)}
		}
	}
	open, err := r.desk.Incidents(ctx, governor.IncidentFilter{Open: true})
	if err != nil {
		return "", err
	}
	if len(open) > 0 {
		return "", &Mismatch{Wanted: "every incident closed by a reopen", Seen: fmt.Sprintf("%d open, the first at %s", len(open), open[0].Scope)}
	}
	seen := "they balance at " + plural(len(gates), "gate")
	if n := r.twice(); n > 0 {
		seen += fmt.Sprintf("; %s landed twice, which at least once allows", flights(n))
	}
	return seen, nil
}

func (r *rehearsal) twice() (n int) {
	for _, b := range r.report.Books {
		n += b.Twice
	}
	return n
}
