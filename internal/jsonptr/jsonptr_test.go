package jsonptr_test

import (
	"testing"

	"github.com/traction-go/traction/internal/jsonptr"
)

func TestText(t *testing.T) {
	doc, ok := jsonptr.Decode([]byte(`{"id":"a","n":12345678901234567890,"b":true,"l":[{"x/y":"z"}],"nil":null,"o":{},"":"empty","t~":1.50}`))
	if !ok {
		t.Fatal("the document is JSON")
	}
	for pointer, want := range map[string]string{
		"/id": "a", "/n": "12345678901234567890", "/b": "true", "/l/0/x~1y": "z", "/": "empty", "/t~0": "1.50",
	} {
		p, err := jsonptr.Parse(pointer)
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := p.Text(doc); !ok || got != want {
			t.Errorf("%s: %q %v, want %q", pointer, got, ok, want)
		}
	}
	for _, pointer := range []string{"", "/nil", "/o", "/l", "/l/1", "/l/00", "/l/-", "/id/x", "/none"} {
		p, err := jsonptr.Parse(pointer)
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := p.Text(doc); ok {
			t.Errorf("%s: %q, want nothing", pointer, got)
		}
	}
}

func TestRefused(t *testing.T) {
	for _, bad := range []string{"id", "a/b", "/a~2", "/~"} {
		if _, err := jsonptr.Parse(bad); err == nil {
			t.Errorf("%q is taken for a pointer", bad)
		}
	}
	for _, bad := range []string{"", "{", "{} {}", "nope", "\x1f\x8b\x08"} {
		if _, ok := jsonptr.Decode([]byte(bad)); ok {
			t.Errorf("%q is taken for JSON", bad)
		}
	}
}
