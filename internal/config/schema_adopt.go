package config

import (
	"cmp"
	"strings"

	"github.com/traction-go/traction/internal/broker"
	"github.com/traction-go/traction/internal/jsonptr"
	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/governor"
)

// adoption is a gate's adopt, and where it names what only the rest of the file can
// tell right from wrong.
type adoption struct {
	queue  *reference
	routes []reference // gates
}

// reference is a value that names something else.
type reference struct {
	name string
	value
}

// adopt reads which queue a gate takes over, and how its messages are read.
func (v value) adopt() (*governor.Adoption, adoption) {
	a, names := &governor.Adoption{}, adoption{}
	found := v.fields("a mapping with queue", []field{
		{"queue", func(v value) {
			if a.Queue = v.queue(); a.Queue != "" {
				names.queue = &reference{a.Queue, v}
			}
		}},
		{"business_id", func(v value) { a.BusinessID = v.pointer() }},
		{"route", func(v value) { a.Route, names.routes = v.route() }},
	})
	if _, ok := found["queue"]; !ok {
		v.bad("has no queue: want the name of the queue to take over")
	}
	return a, names
}

// queue reads a name; "" where there is none that can be used.
func (v value) queue() string {
	s, _, ok := v.text("the name of a queue")
	if !ok {
		return ""
	}
	if s == "" {
		v.bad("is empty: want the name of a queue")
	} else if err := broker.CheckName("queue", s); err != nil {
		v.bad("%v", err)
		return ""
	}
	return s
}

// pointer reads a JSON pointer to a part of a body.
func (v value) pointer() string {
	s, quoted, ok := v.text("a JSON pointer such as /payment/id")
	if !ok {
		return ""
	}
	if _, err := jsonptr.Parse(s); err != nil || s == "" {
		v.bad("%s: want a JSON pointer such as /payment/id", quoted)
	}
	return s
}

func (v value) route() (*governor.Route, []reference) {
	r := &governor.Route{Gates: map[string]string{}}
	var to []reference
	gate := func(v value) string {
		name := v.gateName()
		if name != "" {
			to = append(to, reference{name, v})
		}
		return name
	}
	found := v.fields("a mapping with by, gates and default", []field{
		{"by", func(v value) { r.By = v.pointer() }},
		{"gates", func(v value) {
			all := v.entries("a mapping of values and gates")
			for _, e := range all {
				r.Gates[e.name] = gate(e.value)
			}
			if len(all) == 0 {
				v.bad("is empty: want a value and its gate, such as {settled: events}")
			}
		}},
		{"default", func(v value) { r.Default = gate(v) }},
	})
	for _, name := range []string{"by", "gates"} {
		if _, ok := found[name]; !ok {
			v.bad("has no %s: want {by: /type, gates: {settled: events}, default: other}", name)
		}
	}
	return r, to
}

// gateName reads the name of a gate of the same airport, "" where it cannot be one;
// whether it is there is known when all of them are read.
func (v value) gateName() string {
	s, _, ok := v.text("the name of a gate")
	if !ok {
		return ""
	}
	if err := wire.CheckName("gate", s); err != nil {
		v.bad("%v", err)
		return ""
	}
	return s
}

// checkRoutes refuses routes to gates that the airport does not have. has are the
// names of those that it has, also where they are refused for something else.
func (a *Airport) checkRoutes(has map[string]bool) {
	for _, g := range a.Gates {
		for _, to := range g.adoption.routes {
			if !has[to.name] {
				to.bad("gate %q is not one of this airport", wire.Visible(to.name))
			}
		}
	}
}

// checkQueues refuses, before a worker has connected, what it would refuse to adopt
// then: a queue that the installation made itself, and one that two gates adopt.
func (c *Config) checkQueues() {
	own := cmp.Or(c.Namespace, string(wire.DefaultNamespace)) + "."
	first := map[string]reference{}
	for _, a := range c.Airports {
		for _, g := range a.Gates {
			q := g.adoption.queue
			if q == nil {
				continue
			}
			if strings.HasPrefix(q.name, own) {
				q.bad("%q belongs to namespace %s itself: want a queue that others made", wire.Visible(q.name), strings.TrimSuffix(own, "."))
				continue
			}
			if p, ok := first[q.name]; ok {
				q.bad("queue %q is adopted already, on line %d, column %d: one gate takes it over, and its route feeds others of its airport",
					wire.Visible(q.name), p.pos.line, p.pos.col)
				continue
			}
			first[q.name] = *q
		}
	}
}
