package config

import (
	"github.com/traction-go/traction/internal/httppilot"
	"strings"
)

func (v value) http() HTTP {
	var h HTTP
	found := v.fields("a mapping with url", []field{
		{"method", func(v value) {
			s, _, ok := v.text("a method such as POST")
			if err := httppilot.CheckMethod(s); ok && err != nil {
				v.bad("%v", err)
			}
			h.Method = s
		}},
		{"url", func(v value) { h.URL = v.url() }},
		{"headers", func(v value) { h.Headers = v.headers() }},
	})
	if _, ok := found["url"]; !ok {
		v.bad("has no url")
	}
	return h
}

func (v value) headers() []httppilot.Header {
	var all []httppilot.Header
	first := map[string]position{}
	for _, e := range v.entries("a mapping of header names and values") {
		if err := httppilot.CheckHeader(e.name); err != nil {
			e.d.problem(e.keyPos, e.path, "%v", err)
			continue
		}
		if p, ok := first[strings.ToLower(e.name)]; ok {
			e.d.problem(e.keyPos, e.path, "is there twice: first on line %d, column %d", p.line, p.col)
			continue
		}
		first[strings.ToLower(e.name)] = e.keyPos
		t, ok := e.expanded("a header's value")
		if !ok {
			continue
		}
		if strings.IndexFunc(t.Get(), func(c rune) bool { return c < ' ' && c != '\t' || c == 0x7f }) >= 0 {
			e.bad("holds a control character or a line end, which no header can carry")
			continue
		}
		all = append(all, httppilot.Header{Name: e.name, Value: t})
	}
	return all
}
