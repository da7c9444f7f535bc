package workercmd

import (
	"context"

	"github.com/traction-go/traction/internal/health"
	"github.com/traction-go/traction/pkg/governor"
)

// open takes part in the fleet with a governor.
func open(ctx context.Context, c governor.Config) (Fleet, error) {
	g, err := governor.Open(ctx, c)
	if err != nil {
		return nil, err
	}
	return fleet{g}, nil
}

type fleet struct{ *governor.Governor }

func (f fleet) Health(airports []governor.Airport) health.Source {
	return source{f.Governor, airports}
}
