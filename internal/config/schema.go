package config

import (
	"time"

	"github.com/goccy/go-yaml/ast"

	"github.com/traction-go/traction/internal/broker/rabbit"
	"github.com/traction-go/traction/internal/store"
	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/governor"
	"github.com/traction-go/traction/pkg/settle"
)

const (
	maxSlots = 1_000_000
	maxCount = 1_000_000
	day      = 24 * time.Hour
)

// config reads the whole document.
func (d *decoder) config(root ast.Node) *Config {
	c := &Config{Tower: true}
	v := value{d, root, "", at(root)}
	found := v.fields("a mapping with amqp, redis and airports", []field{
		{"amqp", func(v value) { c.AMQP = v.services(rabbit.CheckURLs, "amqp", "amqps") }},
		{"redis", func(v value) { c.Redis = v.services(store.CheckURLs, "redis", "rediss", "unix") }},
		{"namespace", func(v value) { c.Namespace = v.namespace() }},
		{"listen", func(v value) { c.Listen = v.listen() }},
		{"tower", func(v value) { c.Tower = v.choice("true", "false") == 0 }},
		{"grace", func(v value) { c.Grace = v.duration(time.Millisecond, day) }},
		{"heartbeat", func(v value) { c.Heartbeat = v.duration(100*time.Millisecond, time.Minute) }},
		{"notify", func(v value) {
			v.fields("a mapping with webhook, runbook and observed", []field{
				{"webhook", func(v value) { c.Webhook = v.url() }},
				{"observed", func(v value) { c.TellObserved = v.choice("true", "false") == 0 }},
				{"runbook", func(v value) { c.Runbook = v.url() }},
			})
		}},
		{"airports", func(v value) {
			for _, e := range v.entries("a mapping of airports") {
				c.Airports = append(c.Airports, e.airport())
			}
		}},
	})
	c.checkQueues()
	if len(d.problems) > 0 {
		return c // what is missing may be what was refused
	}
	for _, name := range []string{"amqp", "redis", "airports"} {
		if _, ok := found[name]; !ok {
			d.problem(position{}, name, "is required")
		}
	}
	if _, ok := found["airports"]; ok && len(c.Airports) == 0 {
		d.problem(found["airports"], "airports", "is empty: want at least one airport")
	}
	return c
}

func (e entry) airport() Airport {
	a := Airport{ID: e.name, at: e.keyPos}
	if err := wire.CheckName("airport", e.name); err != nil {
		e.d.problem(e.keyPos, e.path, "%v", err)
	}
	found := e.fields("a mapping with gates", []field{
		{"slots", func(v value) { a.Slots = v.slots() }},
		{"mode", func(v value) {
			a.Mode = [...]governor.Mode{governor.Enforce, governor.Observe}[v.choice("enforce", "observe")]
		}},
		{"gates", func(v value) {
			for _, e := range v.entries("a mapping of gates") {
				a.Gates = append(a.Gates, e.gate())
			}
			if len(a.Gates) == 0 {
				v.bad("is empty: want at least one gate")
			}
			a.checkRoutes(v.keys())
		}},
		{"holds", func(v value) { a.Holds = v.holds() }},
		{"streaks", func(v value) { a.Streaks = v.streaks() }},
		{"outcomes", func(v value) { a.Outcomes, a.Exit = v.outcomes() }},
		{"max_retry_after", func(v value) { a.MaxRetryAfter = v.duration(time.Second, 30*day) }},
	})
	if _, ok := found["gates"]; !ok {
		e.d.problem(e.keyPos, e.path, "has no gates: want at least one under gates")
	}
	return a
}

func (e entry) gate() Gate {
	g := Gate{ID: e.name, at: e.keyPos}
	if err := wire.CheckName("gate", e.name); err != nil {
		e.d.problem(e.keyPos, e.path, "%v", err)
	}
	pilot, parks := false, false
	var batchAt value
	first := func(v value) {
		if pilot {
			v.bad("is a second pilot: a gate has one, http or exec")
		}
		pilot = true
	}
	e.fields("a mapping with http or exec", []field{
		{"http", func(v value) { first(v); g.HTTP = v.http() }},
		{"exec", func(v value) { first(v); g.Exec = v.exec() }},
		{"workers", func(v value) { g.Workers = v.number(1, 1000) }},
		{"timeout", func(v value) { g.Timeout = v.duration(time.Millisecond, day) }},
		{"on_stop", func(v value) {
			g.OnStop = [...]settle.OnStop{settle.ParkOnStop, settle.StayOnStop}[v.choice("park", "stay")]
			parks = g.OnStop == settle.ParkOnStop
		}},
		{"rejected", func(v value) { g.DropRejected = v.choice("keep", "drop") == 1 }},
		{"max_payload", func(v value) { g.MaxPayload = v.size() }},
		{"batch", func(v value) { g.Batch, batchAt = v.batch(), v }},
		{"adopt", func(v value) { g.Adopt, g.adoption = v.adopt() }},
	})
	if g.Batch != nil && g.Exec != nil {
		batchAt.bad("a program takes one flight: remove this key, or give the gate http")
	}
	if g.Adopt != nil {
		if g.Adopt.Park = parks; !parks {
			g.OnStop = settle.StayOnStop // an adopted gate's default
		}
	}
	if !pilot {
		e.d.problem(e.keyPos, e.path, "has no pilot: give it http with a url, or exec with a command")
	}
	return g
}

func (v value) holds() settle.Policy {
	var p settle.Policy
	list := func(into *[]time.Duration) func(value) {
		return func(v value) {
			for _, item := range v.items("delays such as [30s, 2m]") {
				d := item.duration(time.Millisecond, 30*day)
				if d%time.Millisecond != 0 {
					item.bad("want whole milliseconds")
				}
				*into = append(*into, d)
			}
		}
	}
	v.fields("a mapping with transient and internal", []field{
		{"transient", list(&p.Transient)},
		{"internal", list(&p.Internal)},
	})
	return p
}

func (v value) streaks() governor.Streaks {
	var s governor.Streaks
	count := func(into *int) func(value) { return func(v value) { *into = v.number(1, maxCount) } }
	v.fields("a mapping of thresholds", []field{
		{"airport_fault", count(&s.AirportFault)},
		{"gate_fault", count(&s.GateFault)},
		{"record_fault", count(&s.RecordFault)},
		{"transient", count(&s.Transient)},
		{"window", func(v value) { s.Window = v.duration(time.Millisecond, 30*day) }},
	})
	return s
}
