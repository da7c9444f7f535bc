package main

import (
	"context"
	"time"

	"github.com/traction-go/traction/internal/wire"
)

const (
	fieldAirports = 1000
	fieldGates    = 2 // of each
)

// field is a namespace of many airports, which one process declares and serves. It
// takes minutes to build, so the figures share it.
type field struct {
	ns      wire.Namespace
	process *process      // nil: nobody serves it
	took    time.Duration // of the last start, until all gates consumed
}

// served gives the field with its process running, all gates consuming.
func (b *bench) served(ctx context.Context) (*field, error) {
	if b.field == nil {
		b.field = &field{ns: wire.Namespace(namespace())}
	}
	f := b.field
	if f.process != nil {
		return f, nil
	}
	begin := time.Now()
	p, err := b.hire(ctx, crew{Namespace: string(f.ns), Airports: fieldAirports, Gates: fieldGates, Workers: 1})
	if err != nil {
		return nil, err
	}
	f.process = p
	err = b.consumed(ctx, f.ns, scopes(fieldAirports, fieldGates), 1)
	f.took = time.Since(begin)
	return f, err
}

// unserved gives the field declared, with nobody flying it.
func (b *bench) unserved(ctx context.Context) (*field, error) {
	if b.field == nil {
		if _, err := b.served(ctx); err != nil {
			return nil, err
		}
	}
	return b.field, b.leave()
}

// leave ends the field's process, if there is one.
func (b *bench) leave() error {
	if b.field == nil || b.field.process == nil {
		return nil
	}
	_, err := b.field.process.end()
	b.field.process = nil
	return err
}

// consumed returns when the runways have so many consumers each. It asks one after the
// other, so that those which are not there yet are not kept from coming.
func (b *bench) consumed(ctx context.Context, ns wire.Namespace, gates []wire.Scope, want int) error {
	look, err := b.look()
	if err != nil {
		return err
	}
	defer look.conn.Close()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for _, gate := range gates {
		for {
			n, err := look.consumers(ns.Runway(gate))
			if err != nil {
				return err
			}
			if n == want {
				break
			}
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-tick.C:
			}
		}
	}
	return nil
}
