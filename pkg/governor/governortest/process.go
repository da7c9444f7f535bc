package governortest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/governor"
)

// Process is one worker process of the field, with its own connections.
type Process struct {
	f      *Field
	gov    *governor.Governor
	cancel context.CancelFunc
	ran    chan error
	over   bool
}

// Start starts one more process that serves the airports, as another pod would,
// and returns when their gates take flights.
func (f *Field) Start(airports ...governor.Airport) *Process {
	f.t.Helper()
	p := &Process{f: f}
	f.do("Start", func() error {
		gov, err := f.open(fmt.Sprintf("process-%d", len(f.procs)+1))
		if err != nil {
			return err
		}
		ctx, cancel := context.WithCancel(context.Background())
		p.gov, p.cancel, p.ran = gov, cancel, make(chan error, 1)
		f.procs = append(f.procs, p)
		f.airports = append(f.airports, airports...)
		go func() { p.ran <- gov.Run(ctx, airports...) }()
		return p.ready(airports)
	})
	return p
}

// born bounds, in virtual time, how long a declaration takes. Another process that
// is at it is waited for.
const born = time.Minute

// ready waits until every scope has a status and every gate its runway.
func (p *Process) ready(airports []governor.Airport) error {
	for end := time.Now().Add(born); ; {
		select {
		case err := <-p.ran:
			p.ran <- err
			if err == nil {
				err = errors.New("the process ended by itself")
			}
			return err
		default:
		}
		ok, err := p.known(airports)
		if err != nil || ok {
			return err
		}
		if time.Now().After(end) {
			return fmt.Errorf("not every gate took flights within %s; the log says why", born)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func (p *Process) known(airports []governor.Airport) (bool, error) {
	states := p.gov.Stats().States
	for _, a := range airports {
		if !isKnown(states[a.ID]) {
			return false, nil
		}
		for _, g := range a.Gates {
			if !isKnown(states[a.ID+"/"+g.ID]) {
				return false, nil
			}
		}
		info, err := p.gov.Airport(context.Background(), a.ID)
		if errors.Is(err, governor.ErrNotFound) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		for _, g := range a.Gates {
			if !slices.ContainsFunc(info.Gates, func(i governor.GateInfo) bool { return i.Gate == a.ID+"/"+g.ID && i.WorkersActual > 0 }) {
				return false, nil
			}
		}
	}
	return true, nil
}

func isKnown(s governor.State) bool { return s != "" && s != wire.Unknown && s != wire.Birth }

// Stop drains the process, as a deploy does, and returns when it has ended.
// Stopping twice is fine.
func (p *Process) Stop() {
	p.f.t.Helper()
	p.f.do("Stop", func() error { p.stop(); return nil })
}

func (p *Process) stop() {
	if p.over {
		return
	}
	p.over = true
	p.cancel()
	if err := <-p.ran; err != nil {
		p.f.t.Errorf("governortest: a process ended with: %v", err)
	}
	if err := p.gov.Close(context.Background()); err != nil {
		p.f.t.Errorf("governortest: close: %v", err)
	}
}

// Stats is what the process knows of itself.
func (p *Process) Stats() governor.Stats {
	p.f.t.Helper()
	var s governor.Stats
	p.f.do("Stats", func() error { s = p.gov.Stats(); return nil })
	return s
}
