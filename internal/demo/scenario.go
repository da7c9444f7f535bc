package demo

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/governor"
)

// Scenario is one story that the demo can tell.
type Scenario struct {
	Name  string
	Short string
	// Flights is how many it sends where nothing is said. 0: DefaultFlights.
	Flights int
	run     func(context.Context, *stage) (*Result, error)
}

// Scenarios lists every scenario in the order of the help.
func Scenarios() []Scenario {
	return []Scenario{
		{"naive", "a plain consumer with a retry limit and a dead-letter queue", 0, naive},
		{"outage", "the same outage and the same contacts, governed", 0, outage},
		{"gate", "a contract change breaks one gate while its sibling keeps flying", 0, brokenGate},
		{"charter", "a bulk run aborted part way, with books that balance", 0, bulkRun},
		{"poison", "a contact that kills whoever flies it, named after two deaths", 0, poison},
		{"batch", "10,000 events that deadlock a database, one by one and in batches", 10_000, batch},
	}
}

// Default are the scenarios that are played where none is named.
func Default() []string { return []string{"naive", "outage"} }

// The defaults of Options.
const (
	DefaultRate    = 100
	DefaultFlights = 1000
	MaxRate        = 10_000

	// patience is how long a run waits while nothing at all changes.
	patience = 20 * time.Second
	// closing bounds the tidying up after a run.
	closing = 20 * time.Second
)

// Options say what a scenario is played on, and how fast.
type Options struct {
	// Services are real ones. The zero value means embedded.
	Services Services
	// Rate is how many calls a second the airport's slots allow. Default DefaultRate.
	Rate int
	// Flights is how many contacts or events are sent. Default: the scenario's.
	Flights int
	// Actor is who reopens, for the audit.
	Actor string
	// Narrator takes what happens meanwhile. nil: nobody listens.
	Narrator *Narrator
	// Verbose narrates each of the naive consumer's error lines, and the log of the
	// governed workers.
	Verbose bool

	sabotage sabotage
}

// stage is what a scenario is given.
type stage struct {
	Options
	field    *field
	patience time.Duration
	errors   *errorLog // counts the governed workers' error lines; nil: nobody counts
}

// ErrDiffers is the class of a run that did not show what its scenario claims.
var ErrDiffers = errors.New("the run differs from what the scenario shows")

// Play plays one scenario. A scenario that differed gives its Result and an error
// of class ErrDiffers; one that could not be played to its end, another error.
func Play(ctx context.Context, name string, o Options) (*Result, error) {
	all := Scenarios()
	i := slices.IndexFunc(all, func(s Scenario) bool { return s.Name == name })
	if i < 0 {
		return nil, fmt.Errorf("no scenario %q: %w", wire.Visible(name), governor.ErrNotFound)
	}
	if o.Rate == 0 {
		o.Rate = DefaultRate
	}
	if o.Flights == 0 {
		if o.Flights = all[i].Flights; o.Flights == 0 {
			o.Flights = DefaultFlights
		}
	}
	if o.Narrator == nil {
		o.Narrator = &Narrator{}
	}
	st := &stage{Options: o, patience: patience}
	if o.sabotage.patience > 0 {
		st.patience = o.sabotage.patience
	}
	f, err := openField(ctx, o.Services, o.sabotage)
	if err != nil {
		return nil, err
	}
	st.field = f
	r, err := all[i].run(ctx, st)
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), closing)
	defer cancel()
	o.Narrator.done()
	err = errors.Join(err, f.remove(end))
	if err == nil {
		var differ []string
		for _, one := range r.All() {
			differ = append(differ, one.Differences...)
		}
		if len(differ) > 0 {
			err = fmt.Errorf("%w: %s", ErrDiffers, strings.Join(differ, "; "))
		}
	}
	return r, err
}

// watch looks every few moments until look says that it is done, or nothing it
// sees has changed for as long as the stage is patient.
func watch[T comparable](ctx context.Context, st *stage, look func(context.Context) (seen T, done bool, err error)) (done bool, err error) {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	var last T
	changed := time.Now()
	for {
		seen, done, err := look(ctx)
		if ctx.Err() != nil {
			return false, ctx.Err()
		}
		if done || err != nil {
			return done, err
		}
		if seen != last {
			last, changed = seen, time.Now()
		}
		if time.Since(changed) > st.patience {
			return false, nil
		}
		select {
		case <-ctx.Done():
			return false, ctx.Err()
		case <-tick.C:
		}
	}
}
