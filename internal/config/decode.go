package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"

	"github.com/traction-go/traction/internal/config/expand"
	"github.com/traction-go/traction/internal/wire"
)

// decoder walks the document once and collects what is wrong with it.
type decoder struct {
	file     string
	from     expand.Source
	anchors  map[string]ast.Node
	problems Problems
}

// value is one node and the path that leads to it.
type value struct {
	d    *decoder
	node ast.Node
	path string
	pos  position
}

// field is a key that is known, and what reads its value.
type field struct {
	name string
	read func(v value)
}

// entry is one key of a mapping and its value.
type entry struct {
	name string
	value
	keyPos position
}

func (d *decoder) problem(pos position, path, format string, args ...any) {
	p := Problem{File: d.file, Line: pos.line, Col: pos.col, Path: wire.Visible(path), Why: fmt.Sprintf(format, args...)}
	// A value that is asked twice what it is tells its problem once.
	if slices.ContainsFunc(d.problems, func(q *Problem) bool { return *q == p }) {
		return
	}
	d.problems = append(d.problems, &p)
}

func (v value) bad(format string, args ...any) { v.d.problem(v.pos, v.path, format, args...) }

// plain follows anchors and aliases to the node that holds the value.
func (v value) plain() ast.Node {
	n := v.node
	for range 8 {
		switch at := n.(type) {
		case *ast.AnchorNode:
			v.d.anchors[at.Name.GetToken().Value] = at.Value
			n = at.Value
		case *ast.AliasNode:
			name := at.Value.GetToken().Value
			target, ok := v.d.anchors[name]
			if !ok {
				v.bad("*%s refers to nothing above it", wire.Visible(name))
				return nil
			}
			n = target
		default:
			return n
		}
	}
	v.bad("refers to itself")
	return nil
}

// entries reads a mapping, refusing a key that is there twice or has no value.
func (v value) entries(want string) []entry {
	m, ok := v.plain().(*ast.MappingNode)
	if !ok {
		v.wrong(want)
		return nil
	}
	var all []entry
	first := map[string]position{}
	for _, mv := range m.Values {
		pos := at(mv.Key)
		name, ok := keyText(mv.Key)
		path := join(v.path, name)
		if !ok {
			v.d.problem(pos, v.path, "want a plain key here")
			continue
		}
		if p, ok := first[name]; ok {
			v.d.problem(pos, path, "is there twice: first on line %d, column %d", p.line, p.col)
			continue
		}
		first[name] = pos
		e := entry{name, value{v.d, mv.Value, path, at(mv.Value)}, pos}
		if _, null := mv.Value.(*ast.NullNode); null {
			v.d.problem(pos, path, "has no value: give it one or remove the key")
			continue
		}
		all = append(all, e)
	}
	return all
}

// keys gives the names in a mapping, also of the entries that are refused.
func (v value) keys() map[string]bool {
	all := map[string]bool{}
	if m, ok := v.plain().(*ast.MappingNode); ok {
		for _, mv := range m.Values {
			name, _ := keyText(mv.Key)
			all[name] = true
		}
	}
	return all
}

// wrong says that the node is not of the kind that is wanted, unless that has
// been told already.
func (v value) wrong(want string) {
	if n := v.plain(); n != nil {
		v.bad("want %s", want)
	}
}

func keyText(k ast.MapKeyNode) (string, bool) {
	switch k := k.(type) {
	case *ast.StringNode:
		return k.Value, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.NullNode:
		return k.GetToken().Value, true
	}
	return "", false
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// fields reads a mapping whose keys are known and gives the names that it found.
func (v value) fields(want string, known []field) map[string]position {
	found := map[string]position{}
	for _, e := range v.entries(want) {
		i := slices.IndexFunc(known, func(f field) bool { return f.name == e.name })
		if i < 0 {
			v.d.problem(e.keyPos, e.path, "unknown key: want one of %s", names(known))
			continue
		}
		found[e.name] = e.keyPos
		known[i].read(e.value)
	}
	return found
}

func names(known []field) string {
	var all []string
	for _, f := range known {
		all = append(all, f.name)
	}
	return strings.Join(all, ", ")
}

// items reads a list that is not empty.
func (v value) items(want string) []value {
	s, ok := v.plain().(*ast.SequenceNode)
	if !ok {
		v.wrong(want)
		return nil
	}
	if len(s.Values) == 0 {
		v.bad("is empty: want %s", want)
	}
	var all []value
	for i, n := range s.Values {
		all = append(all, value{v.d, n, v.path + "[" + strconv.Itoa(i) + "]", at(n)})
	}
	return all
}

// raw gives a scalar as it is written.
func (v value) raw(want string) (string, bool) {
	switch n := v.plain().(type) {
	case *ast.StringNode:
		return n.Value, true
	case *ast.LiteralNode:
		return n.Value.Value, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		return n.GetToken().Value, true
	}
	v.wrong(want)
	return "", false
}

// expanded gives a scalar with its references looked up.
func (v value) expanded(want string) (*expand.Text, bool) {
	raw, ok := v.raw(want)
	if !ok {
		return nil, false
	}
	t, err := expand.Parse(raw, v.d.from)
	if err != nil {
		v.bad("%s", wire.Visible(err.Error()))
		return nil, false
	}
	return t, true
}

// text gives a scalar's value, and how it may be quoted: as it is written.
func (v value) text(want string) (text, quoted string, ok bool) {
	t, ok := v.expanded(want)
	if !ok {
		return "", "", false
	}
	raw, _ := v.raw(want)
	if len(raw) > 80 {
		raw = raw[:80] + "..."
	}
	return t.Get(), strconv.Quote(wire.Visible(strings.ToValidUTF8(raw, "?"))), true
}

func (v value) duration(low, high time.Duration) time.Duration {
	const want = "a duration such as 10s"
	s, quoted, ok := v.text(want)
	if !ok {
		return 0
	}
	d, err := time.ParseDuration(s)
	switch {
	case err != nil:
		v.bad("%s: want %s", quoted, want)
	case d < low || d > high:
		v.bad("%s: want %v to %v", quoted, short(low), short(high))
	default:
		return d
	}
	return 0
}

func (v value) number(low, high int) int {
	const want = "a whole number"
	s, quoted, ok := v.text(want)
	if !ok {
		return 0
	}
	n, err := strconv.Atoi(s)
	switch {
	case err != nil:
		v.bad("%s: want %s", quoted, want)
	case n < low || n > high:
		v.bad("%s: want %d to %d", quoted, low, high)
	default:
		return n
	}
	return 0
}

// choice gives the index of the word in the list; 0 where it is none of them.
func (v value) choice(words ...string) int {
	want := strings.Join(words, " or ")
	s, quoted, ok := v.text(want)
	if !ok {
		return 0
	}
	i := slices.Index(words, s)
	if i < 0 {
		v.bad("%s: want %s", quoted, want)
	}
	return max(i, 0)
}

// short writes a duration without its zero parts: 24h rather than 24h0m0s.
func short(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}
