package config

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/traction-go/traction/internal/httppilot"
	"github.com/traction-go/traction/internal/jsonptr"
	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/settle"
)

func (v value) outcomes() (o httppilot.Outcomes, exit map[int]settle.Outcome) {
	v.fields("a mapping with status, exit and body", []field{
		{"status", func(v value) { o.Status = v.codes("an HTTP status", 200, 599) }},
		{"exit", func(v value) { exit = v.codes("an exit status", 1, 255) }},
		{"body", func(v value) {
			for _, item := range v.items("rules such as {pointer: /error, equals: x, outcome: GATE_FAULT}") {
				o.Body = append(o.Body, item.rule())
			}
		}},
	})
	return o, exit
}

func (v value) codes(what string, low, high int) map[int]settle.Outcome {
	all := map[int]settle.Outcome{}
	for _, e := range v.entries("a mapping such as {404: FLIGHT_FAULT}") {
		n, err := strconv.Atoi(e.name)
		if err != nil || n < low || n > high || strconv.Itoa(n) != e.name {
			e.d.problem(e.keyPos, e.path, "want %s, %d to %d", what, low, high)
			continue
		}
		all[n] = e.outcome()
	}
	return all
}

func (v value) outcome() settle.Outcome {
	s, quoted, ok := v.text("an outcome such as FLIGHT_FAULT")
	if !ok {
		return 0
	}
	o, err := settle.ParseOutcome(s)
	if err != nil {
		var all []string
		for _, o := range settle.Outcomes() {
			all = append(all, o.String())
		}
		v.bad("%s: want one of %s", quoted, strings.Join(all, ", "))
	}
	return o
}

func (v value) rule() httppilot.BodyRule {
	var r httppilot.BodyRule
	found := v.fields("a mapping with pointer, equals and outcome", []field{
		{"pointer", func(v value) {
			s, _, ok := v.text("a JSON pointer such as /error")
			if !ok {
				return
			}
			p, err := jsonptr.Parse(s)
			if err != nil {
				v.bad("%v", err)
			}
			r.Pointer = p
		}},
		{"equals", func(v value) { r.Equals = v.scalar() }},
		{"outcome", func(v value) { r.Outcome = v.outcome() }},
	})
	for _, name := range []string{"pointer", "equals", "outcome"} {
		if _, ok := found[name]; !ok {
			v.bad("has no %s: want {pointer: /error, equals: x, outcome: GATE_FAULT}", name)
		}
	}
	return r
}

// scalar gives a value as JSON has it: a string, a number, true or false.
func (v value) scalar() any {
	const want = "a text, a number, true or false"
	switch n := v.plain().(type) {
	case *ast.BoolNode:
		return n.Value
	case *ast.IntegerNode, *ast.FloatNode:
		s := n.GetToken().Value
		if !json.Valid([]byte(s)) {
			v.bad("%q: want a number as JSON writes it", wire.Visible(s))
		}
		return json.Number(s)
	}
	s, _, _ := v.text(want)
	return s
}
