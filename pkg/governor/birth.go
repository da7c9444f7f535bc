package governor

import (
	"context"
	"fmt"
	"time"

	"github.com/traction-go/traction/internal/store"
	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/settle"
)

func onStopName(o settle.OnStop) string {
	if o == settle.StayOnStop {
		return "stay"
	}
	return "park"
}

// births bears the scopes of this station that the store does not know, at the
// start and whenever one is missing. The broker's marker tells a new scope, which
// opens, from one that the store forgot, which does not.
func (s *station) births(ctx context.Context) {
	if s.kind == store.TowerOnly {
		return
	}
	signal(s.bear)
	backoff := newBackoff(100*time.Millisecond, 5*time.Second)
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.bear:
		}
		for {
			err := s.bearAll(ctx)
			if err == nil {
				backoff.reset()
				s.wake()
				break
			}
			if ctx.Err() != nil {
				return
			}
			if s.g.quiet("birth "+s.spec.ID, 10*time.Second) {
				s.log.Warn("declaring the airport failed; it is tried again, and nothing flies meanwhile", "error", err)
			}
			if !backoff.wait(ctx) {
				return
			}
		}
	}
}

// bearAll makes sure that the airport and its gates have a status, a marker and
// their queues.
func (s *station) bearAll(ctx context.Context) error {
	if err := s.g.declare(ctx, common(s.g.ns), holds(s.g.ns, append(append([]time.Duration{}, s.spec.Holds.Transient...), s.spec.Holds.Internal...))); err != nil {
		return err
	}
	if err := s.g.st.AddAirport(ctx, s.spec.ID); err != nil {
		return err
	}
	if err := s.bearOne(ctx, wire.Scope{Airport: s.spec.ID}); err != nil {
		return err
	}
	for _, g := range s.spec.Gates {
		gate := wire.Scope{Airport: s.spec.ID, Gate: g.ID}
		if err := s.bearOne(ctx, gate); err != nil {
			return err
		}
		if err := s.g.declare(ctx, gateTopology(s.g.ns, gate)); err != nil {
			return err
		}
	}
	for _, l := range s.lanes {
		l.born.Store(true)
	}
	return s.declareSpec(ctx)
}

func (s *station) bearOne(ctx context.Context, scope wire.Scope) error {
	slots := store.Slots{N: s.spec.Slots.N, Per: s.spec.Slots.Per, Stamp: s.stamp.Load()}
	for {
		born, epoch, err := s.hold.BeginBirth(ctx, scope.Gate)
		if err != nil {
			return err
		}
		switch born {
		case store.Stands:
			return s.g.declareMarker(ctx, scope)
		case store.AirportFirst:
			return fmt.Errorf("gate %s: its airport has no status yet", scope)
		case store.Look:
			present, err := s.g.bk.HasExchange(ctx, s.g.ns.BornExchange(scope))
			if err != nil {
				return fmt.Errorf("look for the marker of %s: %w", scope, err)
			}
			if !present {
				if err := s.g.declareMarker(ctx, scope); err != nil {
					return err
				}
			}
			if _, err := s.hold.FinishBirth(ctx, scope.Gate, epoch, present, slots); err != nil {
				return err
			}
		case store.AtIt, store.NotMine:
			// Another process is at it; after ten seconds it is taken over.
			if !sleep(ctx, 500*time.Millisecond) {
				return ctx.Err()
			}
		}
	}
}
