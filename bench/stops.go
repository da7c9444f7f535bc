package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/governor"
)

const (
	stops         = 10
	stopProcesses = 3
	stopGates     = 2
	stopCall      = 5 * time.Millisecond
	stopBacklog   = 30000 // flights of each gate
	stopFresh     = 10 * time.Millisecond
)

// stopSpeed stops an airport again and again while three processes fly its two gates,
// and gives how long it took, from the moment the store settled the AIRPORT_FAULT, until
// the broker had no consumer of them any more. It tells how long after that moment the
// last call began, and how many began later than a clearance that was given before it
// is good for: calls that were cleared after the stop.
func stopSpeed(ctx context.Context, b *bench) (float64, string, error) {
	c := crew{Namespace: namespace(), Airports: 1, Gates: stopGates, Workers: 2, Call: stopCall}
	s := &stopping{ns: wire.Namespace(c.Namespace), gates: scopes(1, stopGates)}
	var err error
	if s.gov, err = b.open(ctx, c.Namespace); err != nil {
		return 0, "", err
	}
	defer s.gov.Close(context.WithoutCancel(ctx))
	if s.look, err = b.look(); err != nil {
		return 0, "", err
	}
	defer s.look.conn.Close()
	var fleet []*process
	for range stopProcesses {
		p, err := b.hire(ctx, c)
		if err != nil {
			return 0, "", err
		}
		fleet = append(fleet, p)
	}
	if err := s.until(ctx, stopProcesses); err != nil {
		return 0, "", err
	}
	for _, gate := range s.gates {
		if err := fill(ctx, s.gov, gate.String(), stopBacklog, payload); err != nil {
			return 0, "", err
		}
	}
	for i := range stops {
		if err := s.once(ctx, fleet[i%len(fleet)]); err != nil {
			return 0, "", fmt.Errorf("stop %d: %w", i+1, err)
		}
	}
	var calls []time.Time
	for _, p := range fleet {
		own, err := p.end()
		if err != nil {
			return 0, "", err
		}
		calls = append(calls, own...)
	}
	last, late := s.judge(calls)
	b.tell("stop-calls-cleared-after", float64(late))
	b.tell("stop-last-call-ms", slices.Max(last))
	paused := median(s.paused)
	return paused, fmt.Sprintf("%d stops, %d processes of %d gates, %d calls of %v; ms until no consumer was left %.0f, ms until the last call began %.0f",
		stops, stopProcesses, stopGates, len(calls), stopCall, s.paused, last), nil
}

// stopping is an airport that is stopped again and again.
type stopping struct {
	ns    wire.Namespace
	gates []wire.Scope
	gov   *governor.Governor
	look  *look

	at, reopened []time.Time // of each stop
	paused       []float64   // ms from the one until nobody consumed
}

// until returns when each gate has so many consumers.
func (s *stopping) until(ctx context.Context, consumers int) error {
	ctx, cancel := context.WithTimeoutCause(ctx, time.Minute, errors.New("a minute was not enough"))
	defer cancel()
	for _, gate := range s.gates {
		for {
			n, err := s.look.consumers(s.ns.Runway(gate))
			if err != nil {
				return err
			}
			if n == consumers {
				break
			}
			if err := wait(ctx, time.Millisecond); err != nil {
				return fmt.Errorf("%s has %d consumers, want %d: %w", gate, n, consumers, context.Cause(ctx))
			}
		}
	}
	return nil
}

// once stops the airport by a fault of one process, and reopens it.
func (s *stopping) once(ctx context.Context, p *process) error {
	if err := wait(ctx, time.Second/2); err != nil { // flying
		return err
	}
	if err := p.fault(); err != nil {
		return err
	}
	if err := s.until(ctx, 0); err != nil {
		return err
	}
	nobody := time.Now()
	a, err := s.gov.Airport(ctx, s.gates[0].Airport)
	if err != nil {
		return err
	}
	if a.State != governor.Stopped {
		return fmt.Errorf("the airport is %s", a.State)
	}
	s.at = append(s.at, a.Since)
	s.paused = append(s.paused, ms(nobody.Sub(a.Since)))
	s.reopened = append(s.reopened, time.Now())
	if _, err := s.gov.Reopen(ctx, a.Airport, governor.ReopenOptions{}); err != nil {
		return err
	}
	return s.until(ctx, stopProcesses)
}

// judge gives how many ms after each stop the last call began, and how many calls began
// too late to have been cleared before it. The store writes whole milliseconds.
func (s *stopping) judge(calls []time.Time) (last []float64, late int) {
	for i, at := range s.at {
		latest := at
		for _, call := range calls {
			if call.Before(at) || call.After(s.reopened[i]) {
				continue
			}
			if call.After(latest) {
				latest = call
			}
			if call.Sub(at) > stopFresh+time.Millisecond {
				late++
			}
		}
		last = append(last, ms(latest.Sub(at)))
	}
	return last, late
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
