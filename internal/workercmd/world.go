package workercmd

import (
	"context"
	"io"
	"time"

	"github.com/traction-go/traction/internal/health"
	"github.com/traction-go/traction/pkg/governor"
)

// World is what the commands reach beyond their arguments. Fields are set before
// a command runs and only read afterwards.
type World struct {
	Out io.Writer
	Err io.Writer
	Env func(string) (string, bool)

	// Open takes part in the fleet.
	Open func(context.Context, governor.Config) (Fleet, error)
	// Wait waits for d, or until ctx ends.
	Wait func(ctx context.Context, d time.Duration)
}

// Fleet is a process's part in the fleet, as run needs it.
type Fleet interface {
	// Run flies until ctx ends, then drains.
	Run(ctx context.Context, airports ...governor.Airport) error
	// Close ends the connections, after Run.
	Close(ctx context.Context) error
	// Health is what health and metrics tell of it.
	Health(airports []governor.Airport) health.Source
}

func wait(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}
