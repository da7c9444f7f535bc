package rehearse

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/traction-go/traction/internal/broker"
	"github.com/traction-go/traction/internal/store"
	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/governor"
)

// The bounds and the default of Options.Flights.
const (
	DefaultFlights = 20
	MaxFlights     = 1000
)

const (
	// patience is how long a step waits while nothing at all changes.
	patience = 20 * time.Second
	// tick is how often it looks.
	tick = 50 * time.Millisecond
)

// Options say what is rehearsed, and where.
type Options struct {
	// AMQP and Redis are the services' URLs, several separated by commas. Required.
	AMQP, Redis string
	// Namespace is the run's own. "": one that nothing uses.
	Namespace string
	// Wanted is the configuration's namespace: what stands there is compared with what
	// the configuration wants, and not touched. Default "tr".
	Wanted string
	// Airports are the configuration's. Required.
	Airports []governor.Airport
	// Flights is how many each step sends to each gate, 1 to MaxFlights. Default
	// DefaultFlights.
	Flights int
	// Actor is who acts, for the audit of the rehearsal's namespace.
	Actor string
	// Timeout bounds each opening of the services. Default 10 s.
	Timeout time.Duration
	// Begun is told the namespace and the notes before the first step. nil: nobody.
	Begun func(*Report)
	// Told is told each step when it has ended. nil: nobody.
	Told func(Step)
	// Logger takes the workers' log. nil: nobody.
	Logger *slog.Logger

	// a test's: services that stand already, how patient it is, how often it
	// looks, what it leaves out, and what it spoils
	dial     func(context.Context, wire.Namespace) (broker.Transport, *store.Store, error)
	patience time.Duration
	tick     time.Duration
	only     []string // the steps that are taken; nil: all
	spoil    func(step string, r *rehearsal)
}

// rehearsal is one run as it goes on.
type rehearsal struct {
	*field
	plan  *plan
	book  *book
	pager *pager
	desk  *governor.Governor // the operator's: it runs nothing
	crew  *crew
	stand []*adopted
	sent  int // payloads so far: each has a number

	want   map[string]Tally // of each gate, by now
	report *Report
}

// Run rehearses. The report is there whenever the namespace was the run's; its steps
// say what failed. The error is nil when everything passed, a *Mismatch where a step
// saw something else than it must, ErrRefused where the namespace is not free, and
// otherwise what kept a step from being tried. The namespace is removed in every case.
func Run(ctx context.Context, o Options) (*Report, error) {
	o.Flights = or(o.Flights, DefaultFlights)
	o.patience, o.tick = or(o.patience, patience), or(o.tick, tick)
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	for _, a := range o.Airports {
		if err := a.Validate(); err != nil {
			return nil, err
		}
	}
	b := newBook()
	var p *plan
	f, err := openField(ctx, o, func(ns wire.Namespace) (queues []string) {
		p = newPlan(ns, o.Airports, b, o.Flights)
		for _, s := range p.standIns {
			queues = append(queues, s.Name, s.Dead)
		}
		return queues
	})
	if err != nil {
		return nil, err
	}
	r := &rehearsal{field: f, plan: p, book: b, pager: &pager{}, want: map[string]Tally{},
		report: &Report{Namespace: string(f.ns), Flights: o.Flights, Notes: p.notes}}
	if o.Begun != nil {
		o.Begun(r.report)
	}
	err = r.play(ctx)
	return r.report, errors.Join(err, r.clean(ctx))
}

// play takes each step until one fails.
func (r *rehearsal) play(ctx context.Context) error {
	var first error
	down := false
	for _, s := range r.steps() {
		if r.only != nil && !slices.Contains(r.only, s.name) {
			continue
		}
		if down || ctx.Err() != nil {
			r.tell(Step{Name: s.name, Result: NotRun})
			continue
		}
		if r.spoil != nil {
			r.spoil(s.name, r)
		}
		began := time.Now()
		seen, err := s.run(ctx)
		told := Step{Name: s.name, Result: Passed, Took: time.Since(began), Seen: seen}
		var m *Mismatch
		var skip skipped
		switch {
		case err == nil:
		case ctx.Err() != nil:
			told.Result, told.Seen, err = NotRun, "interrupted", nil
		case errors.As(err, &skip):
			told.Result, told.Seen, err = Skipped, string(skip), nil
		case errors.As(err, &m):
			m.Step, m.Next = s.name, or(m.Next, s.next)
			told.Result, told.Wanted, told.Seen, told.Next = Failed, m.Wanted, m.Seen, m.Next
			down = !s.alone
		default:
			told.Result, told.Wanted, told.Seen, told.Next = Failed, "an answer", wire.Visible(wire.Mask(err.Error())), s.next
			err = fmt.Errorf("step %s: %w", s.name, err)
			down = true
		}
		if first == nil {
			first = err
		}
		r.tell(told)
	}
	r.report.Interrupted = ctx.Err() != nil
	if ctx.Err() != nil {
		return errors.Join(first, context.Cause(ctx))
	}
	return first
}

func (r *rehearsal) tell(s Step) {
	r.report.Steps = append(r.report.Steps, s)
	if r.Told != nil {
		r.Told(s)
	}
}

// clean is the last step, and the one that is always taken.
func (r *rehearsal) clean(ctx context.Context) error {
	began := time.Now()
	var errs []error
	if r.crew != nil {
		errs = append(errs, r.crew.end(ctx))
	}
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*closing)
	defer cancel()
	if r.desk != nil {
		errs = append(errs, r.desk.Close(end))
	}
	queues, exchanges := r.ledger.Names()
	left, err := r.remove(end)
	r.report.Left = left
	s := Step{Name: "clean", Result: Passed, Took: time.Since(began),
		Seen: fmt.Sprintf("%d queues, %d exchanges and every key removed; none of them answers", len(queues), len(exchanges))}
	if len(left) > 0 {
		m := &Mismatch{Step: s.Name, Wanted: "nothing left", Seen: list(left, 3) + " left", Next: "delete by hand what starts with " + string(r.ns)}
		s.Result, s.Wanted, s.Seen, s.Next = Failed, m.Wanted, m.Seen, m.Next
		errs = append(errs, m)
	}
	r.tell(s)
	return errors.Join(append(errs, err)...)
}

// skipped is why a step has nothing to do.
type skipped string

func (s skipped) Error() string { return string(s) }

func list(all []string, most int) string {
	text := ""
	for i, s := range all {
		if i == most {
			return fmt.Sprintf("%s and %d more", text, len(all)-most)
		}
		if i > 0 {
			text += ", "
		}
		text += s
	}
	return text
}
