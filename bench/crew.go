package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"time"

	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/governor"
)

// crewVerb has this binary be a worker process instead of the measurement.
const crewVerb = "crew"

// crew is one worker process: airports of so many gates each, with pilots that take so
// long for a call.
type crew struct {
	AMQP, Redis, Namespace   string
	Airports, Gates, Workers int
	Call                     time.Duration
}

// scopes names the gates of so many airports.
func scopes(airports, gates int) []wire.Scope {
	var all []wire.Scope
	for a := range airports {
		for g := range gates {
			all = append(all, wire.Scope{Airport: fmt.Sprintf("bench-%04d", a), Gate: fmt.Sprintf("gate-%d", g)})
		}
	}
	return all
}

// airports turns gates that stand airport by airport into what a worker declares.
func airports(gates []wire.Scope, of func() governor.Gate) []governor.Airport {
	var all []governor.Airport
	for _, sc := range gates {
		if n := len(all); n == 0 || all[n-1].ID != sc.Airport {
			all = append(all, governor.Airport{ID: sc.Airport})
		}
		gate := of()
		gate.ID = sc.Gate
		last := &all[len(all)-1]
		last.Gates = append(last.Gates, gate)
	}
	return all
}

// work is what the process does: it flies until its standard input ends, so that it
// never outlives the measurement. Each line there makes its next call an AirportFault.
// At the end it writes when its calls began.
func (c crew) work() error {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	b := &bench{amqp: c.AMQP, redis: c.Redis}
	g, err := b.open(ctx, c.Namespace)
	if err != nil {
		return err
	}
	defer g.Close(context.Background())
	var faulty atomic.Bool
	go func() {
		for in := bufio.NewScanner(os.Stdin); in.Scan(); {
			faulty.Store(true)
		}
		stop()
	}()
	var mu sync.Mutex
	calls := []time.Time{}
	dead := errors.New("the token has expired")
	gate := func() governor.Gate {
		return governor.Gate{Workers: c.Workers, Pilot: governor.PilotFunc(func(context.Context, governor.Flight[[]byte]) error {
			mu.Lock()
			calls = append(calls, time.Now())
			mu.Unlock()
			time.Sleep(c.Call)
			if faulty.CompareAndSwap(true, false) {
				return dead
			}
			return nil
		}), Reporter: func(ctx context.Context, f governor.Meta, err error) governor.Report {
			if errors.Is(err, dead) {
				return governor.AirportFault(err)
			}
			return governor.DefaultReporter(ctx, f, err)
		}}
	}
	if err := g.Run(ctx, airports(scopes(c.Airports, c.Gates), gate)...); err != nil {
		return err
	}
	mu.Lock()
	defer mu.Unlock()
	return json.NewEncoder(os.Stdout).Encode(calls)
}

// process is a crew that runs.
type process struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out io.Reader
}

// hire starts a crew on this measurement's services.
func (b *bench) hire(ctx context.Context, c crew) (*process, error) {
	c.AMQP, c.Redis = b.amqp, b.redis
	spec, err := json.Marshal(c)
	if err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	p := &process{cmd: exec.CommandContext(ctx, self, crewVerb, string(spec))}
	p.cmd.Stderr = os.Stderr
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if p.out, err = p.cmd.StdoutPipe(); err != nil {
		return nil, err
	}
	return p, p.cmd.Start()
}

func (p *process) pid() int { return p.cmd.Process.Pid }

// fault has the process's next call fail.
func (p *process) fault() error {
	_, err := io.WriteString(p.in, "\n")
	return err
}

// end has the process drain and leave. It gives when its calls began.
func (p *process) end() (calls []time.Time, err error) {
	p.in.Close()
	read := json.NewDecoder(p.out).Decode(&calls)
	if err := p.cmd.Wait(); err != nil {
		return nil, err
	}
	return calls, read
}
