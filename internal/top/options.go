package top

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/traction-go/traction/pkg/governor"
)

// Reader is what the view looks at. A *governor.Governor is one. Its methods are
// called one at a time.
type Reader interface {
	Airports(ctx context.Context) ([]governor.AirportInfo, error)
	Processes(ctx context.Context) ([]governor.ProcessInfo, error)
	Incidents(ctx context.Context, f governor.IncidentFilter) ([]governor.Incident, error)
	Shelved(ctx context.Context, shelf governor.Shelf, scope string, f governor.ParkedFilter) ([]governor.ParkedFlight, error)
	Charters(ctx context.Context, scope string) ([]governor.CharterInfo, error)
}

// Verbs is what the view can do. A *governor.Governor is one. Its methods are
// called one at a time, beside those of the Reader.
type Verbs interface {
	Reopen(ctx context.Context, scope string, o governor.ReopenOptions) (governor.Reopening, error)
	Pause(ctx context.Context, scope string, o governor.PauseOptions) (governor.Pausing, error)
	Replay(ctx context.Context, shelf governor.Shelf, scope string, o governor.MoveOptions) (governor.MoveResult, error)
}

// The defaults.
const (
	DefaultInterval = time.Second
	DefaultTimeout  = 10 * time.Second
)

// MinInterval is the shortest interval: below it the readings would be a load.
const MinInterval = 100 * time.Millisecond

// ErrOptions is the class of refused options.
var ErrOptions = errors.New("invalid options")

// Options are what a view is made from.
type Options struct {
	Reader Reader // Required.
	Verbs  Verbs  // Required unless ReadOnly says why not.

	// ReadOnly says why nothing can be changed, such as "--read-only"; the verbs
	// are then not there at all. "": they are.
	ReadOnly string

	Interval time.Duration // between two readings. Default 1 s
	Timeout  time.Duration // of one reading, a reopen or a pause. Default 10 s

	Namespace string           // shown
	Command   string           // how equivalent commands begin. Default "tractionctl"
	Actor     string           // who acts, for the audit
	Color     bool             // the terminal shows colours and nobody asked for none
	ASCII     bool             // the terminal shows ASCII alone
	Now       func() time.Time // Default time.Now
}

// withDefaults fills in the defaults, then says what is wrong, naming the field.
func (o Options) withDefaults() (Options, error) {
	if o.Interval == 0 {
		o.Interval = DefaultInterval
	}
	if o.Timeout == 0 {
		o.Timeout = DefaultTimeout
	}
	if o.Command == "" {
		o.Command = "tractionctl"
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	switch {
	case o.Reader == nil:
		return o, fmt.Errorf("%w: Reader is required", ErrOptions)
	case o.Verbs == nil && o.ReadOnly == "":
		return o, fmt.Errorf("%w: Verbs is required, or ReadOnly", ErrOptions)
	case o.Interval < MinInterval:
		return o, fmt.Errorf("%w: Interval %s: want at least %s", ErrOptions, o.Interval, MinInterval)
	case o.Timeout < 0:
		return o, fmt.Errorf("%w: Timeout %s: want a positive duration", ErrOptions, o.Timeout)
	}
	return o, nil
}
