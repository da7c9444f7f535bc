package config

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"github.com/traction-go/traction/internal/httppilot"
	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/governor"
	"github.com/traction-go/traction/pkg/settle"
)

// Governor gives what the process takes part with.
func (c *Config) Governor(log *slog.Logger) governor.Config {
	g := governor.Config{
		AMQP: c.AMQP, Redis: c.Redis, Namespace: c.Namespace,
		Runbook: c.Runbook, NoTower: !c.Tower,
		Heartbeat: c.Heartbeat, Grace: c.Drain(), BatchSize: c.BatchSize, Logger: log,
	}
	if c.Webhook != "" {
		g.Hooks = []governor.Hook{governor.Webhook(c.Webhook)}
	}
	return g
}

// Declare gives the airports with their pilots, and closes, which gives up the
// pilots' idle connections.
func (c *Config) Declare() (airports []governor.Airport, closes func(), err error) {
	var pilots []*httppilot.Pilot
	closes = func() {
		for _, p := range pilots {
			p.Close()
		}
	}
	for _, a := range c.Airports {
		out := governor.Airport{
			ID: a.ID, Slots: a.Slots, Mode: a.Mode, Streaks: a.Streaks, Holds: a.Holds,
			MaxRetryAfter: a.MaxRetryAfter, Reporter: a.Report, TellObserved: c.TellObserved,
		}
		for _, g := range a.Gates {
			var pilot governor.Pilot
			var batch *governor.Batch
			if g.Exec != nil {
				pilot = governor.Exec(g.Exec.Spec())
				out.Secrets = append(out.Secrets, g.Exec.secrets()...)
			} else {
				p, err := httppilot.New(g.spec(a))
				if err != nil {
					closes()
					return nil, nil, c.at(g.at, "airports."+a.ID+".gates."+g.ID+".http", err)
				}
				pilot, pilots = p, append(pilots, p)
				if g.Batch != nil {
					if batch, err = g.Batch.Spec(); err != nil {
						closes()
						return nil, nil, c.at(g.at, "airports."+a.ID+".gates."+g.ID+".batch", err)
					}
					// The vendor expects an array, of one flight too.
					pilot, batch.Pilot = nil, p.Batch()
				}
				out.Secrets = append(out.Secrets, p.Secrets()...)
			}
			out.Gates = append(out.Gates, governor.Gate{
				ID: g.ID, Pilot: pilot, Workers: g.Workers, Timeout: g.Timeout, OnStop: g.OnStop,
				DropRejected: g.DropRejected, MaxPayload: g.MaxPayload, Adopt: g.Adopt, Batch: batch,
			})
		}
		if err := out.Validate(); err != nil {
			closes()
			return nil, nil, c.at(a.at, "airports."+a.ID, err)
		}
		airports = append(airports, out)
	}
	return airports, closes, nil
}

func (g Gate) spec(a Airport) httppilot.Spec {
	return httppilot.Spec{
		Method: g.HTTP.Method, URL: g.HTTP.URL, Headers: g.HTTP.Headers, Workers: g.Workers,
		KeepBody: len(a.Outcomes.Body) > 0, KeepStatus: a.Outcomes.Keeps,
	}
}

// Report is the airport's governor.Reporter: the rules of outcomes, then the defaults.
func (a Airport) Report(ctx context.Context, m governor.Meta, err error) governor.Report {
	var exit *governor.ExitError
	if !errors.As(err, &exit) {
		return a.Outcomes.Report(ctx, m, err)
	}
	outcome, ok := a.Exit[exit.Code]
	if !ok {
		outcome = governor.ExitOutcome(exit.Code)
	}
	if outcome == settle.Landed {
		return governor.Landed()
	}
	return governor.Report{Outcome: outcome, Err: err}
}

func (c *Config) at(p position, path string, err error) error {
	return Problems{{File: c.Path, Line: p.line, Col: p.col, Path: path, Why: err.Error()}}
}

// Warnings are what is allowed but probably not meant.
func (c *Config) Warnings() []string {
	var all []string
	warn := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	if longest := c.Longest(); c.Grace > 0 && c.Grace < longest {
		warn("grace: %s is shorter than the longest timeout, %s: a drain may end while calls are in the air, and their flights fly again", short(c.Grace), short(longest))
	}
	if c.Webhook == "" && c.Tower {
		warn("notify.webhook: not set: a stop is told to the log alone")
	}
	for _, a := range c.Airports {
		if len(a.Exit) > 0 && !slices.ContainsFunc(a.Gates, func(g Gate) bool { return g.Exec != nil }) {
			warn("airports.%s.outcomes.exit: has no effect: no pilot of this airport is a process", a.ID)
		}
		if a.Mode == governor.Observe {
			warn("airports.%s.mode: observe: incidents are opened, nothing is stopped", a.ID)
		}
		for _, g := range a.Gates {
			if g.Exec != nil {
				if _, err := g.Exec.Spec().Find(); err != nil {
					warn("airports.%s.gates.%s.exec.command: %v", a.ID, g.ID, err)
				}
				continue
			}
			if plainSecret(g.HTTP) {
				warn("airports.%s.gates.%s.http.url: %s: a credential travels unencrypted to another host", a.ID, g.ID, wire.MaskURL(g.HTTP.URL))
			}
		}
	}
	return all
}
