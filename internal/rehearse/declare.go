package rehearse

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/governor"
)

// compared are the doctor's checks that are about what is declared.
var compared = []string{"topology", "delivery limit", "message ttl", "expiry", "length"}

// compare looks, as doctor -c does, whether the broker would refuse what the
// configuration declares in its own namespace.
func (r *rehearsal) compare(ctx context.Context) (seen string, err error) {
	wanted := or(r.Wanted, string(wire.DefaultNamespace))
	g, err := r.outside(ctx, wire.Namespace(wanted), governor.Config{AMQP: r.AMQP, Name: "rehearsal", NoTower: true})
	if err != nil {
		return "", err
	}
	defer func() {
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), closing)
		defer cancel()
		err = errors.Join(err, g.Close(end))
	}()
	found, err := g.Doctor(ctx, r.Airports...)
	if err != nil {
		return "", err
	}
	var fine []string
	var bad []governor.Finding
	for _, f := range found {
		switch {
		case !slices.Contains(compared, f.Check):
		case f.Level == governor.LevelSerious:
			bad = append(bad, f)
		case f.Level == governor.LevelOK, f.Level == governor.LevelNote:
			fine = append(fine, f.Found)
		}
	}
	if len(bad) == 0 {
		known, err := g.Airports(ctx)
		if err != nil {
			return "", err
		}
		if len(known) == 0 {
			return "nothing of namespace " + wanted + " stands here that would be refused", nil
		}
		return "namespace " + wanted + ": " + strings.Join(fine, "; "), nil
	}
	m := &Mismatch{Wanted: "no declaration that is refused in namespace " + wanted, Seen: bad[0].Subject + ": " + bad[0].Found, Next: bad[0].Fix}
	if n := len(bad) - 1; n > 0 {
		m.Seen += fmt.Sprintf("; and %d more, which doctor -c lists", n)
	}
	return "", m
}

// standIn declares what takes the place of the adopted queues.
func (r *rehearsal) standIn(ctx context.Context) (string, error) {
	if len(r.plan.standIns) == 0 {
		return "", skipped("no gate adopts a queue")
	}
	all, err := r.standIns(ctx, r.plan.standIns)
	if err != nil {
		return "", err
	}
	r.stand = all
	parts := make([]string, len(all))
	for i, a := range all {
		parts[i] = a.says()
	}
	return strings.Join(parts, "; "), nil
}

// declare starts a worker on the exact airports and another one on the rehearsed ones,
// which declares nearly all of it once more.
func (r *rehearsal) declare(ctx context.Context) (seen string, err error) {
	if r.desk, err = r.governor(ctx, governor.Config{Name: "tractionctl", NoTower: true}); err != nil {
		return "", err
	}
	if err := r.start(ctx, r.plan.exact); err != nil {
		return "", err
	}
	if err := r.crew.end(ctx); err != nil {
		return "", err
	}
	queues, exchanges := r.ledger.Names()
	standing, err := r.ledger.Standing(ctx, r.bk)
	if err != nil {
		return "", err
	}
	// A dead-letter queue is noted where the real one has an exchange for it.
	if n := len(queues) + len(exchanges); len(standing) != n {
		return "", &Mismatch{Wanted: fmt.Sprintf("%d queues and exchanges that answer", n), Seen: fmt.Sprintf("%d of them", len(standing))}
	}
	if err := r.start(ctx, r.plan.rehearsed); err != nil {
		return "", err
	}
	return fmt.Sprintf("%d queues and %d exchanges as configured, by a worker's start, and again by the next one's; %d gates open", len(queues), len(exchanges), len(r.gates())), nil
}

// start runs airports and waits until every gate can fly.
func (r *rehearsal) start(ctx context.Context, airports []governor.Airport) (err error) {
	drops := map[string]bool{}
	for _, a := range airports {
		for _, g := range a.Gates {
			drops[a.ID+"/"+g.ID] = g.DropRejected
		}
	}
	if r.crew, err = r.startCrew(ctx, airports, r.pager, r.book.settled(drops)); err != nil {
		return err
	}
	gates := r.gates()
	able := func(s sight) (n int) {
		for _, gate := range gates {
			if s.able[gate] > 0 && s.states[gate] == governor.OpenState {
				n++
			}
		}
		return n
	}
	s, ok, err := r.watch(ctx, func(s sight) bool { return able(s) == len(gates) || r.ledger.Refused() != nil })
	if err != nil {
		return err
	}
	if refused := r.ledger.Refused(); refused != nil {
		return &Mismatch{Wanted: "every declaration taken by the broker", Seen: wire.Visible(refused.Error()),
			Next: "give the user configure, write and read rights on " + string(r.ns) + ".* (for a rehearsal, on rehearse-.*), or rehearse on a throw-away broker"}
	}
	if !ok {
		return &Mismatch{Wanted: fmt.Sprintf("%d gates open and served", len(gates)), Seen: fmt.Sprintf("%d of them", able(s))}
	}
	return nil
}
