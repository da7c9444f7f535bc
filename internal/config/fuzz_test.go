package config

import (
	"errors"
	"os"
	"testing"

	"github.com/traction-go/traction/internal/config/expand"
)

// FuzzParse looks for a text that kills the worker, or that is taken and then
// cannot be declared.
func FuzzParse(f *testing.F) {
	full, err := os.ReadFile("testdata/full.yaml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(full))
	for _, s := range []string{
		"", "a", "- a", "{}", "a: &x {b: *x}", "amqp: &a *a", "? [a]\n: b", "a: |\n  b\n", "<<: *x", "--- \n...\n",
		"airports: {a: {gates: {c: {http: {url: http://h, headers: {A: ${file:token.txt}}}}}}}",
		"amqp: amqp://h\nredis: redis://h\nairports: {a: {slots: 1/1ms, gates: {c: {http: {url: 'http://h'}}}}}",
		"airports: {a: {outcomes: {body: [{pointer: /a~0, equals: 1e400, outcome: LANDED}]}}}",
		"\xff\xfe", "a: \"\\u202e\"", "!!map {a: b}", "a: !!binary x", "%YAML 1.2\n---\na: 1",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := Parse("w.yaml", []byte(text), expand.Source{Env: env, Dir: "testdata"})
		if err != nil {
			if !errors.Is(err, ErrConfig) || err.Error() == "" {
				t.Fatalf("%T %v is of no class", err, err)
			}
			return
		}
		c.Warnings()
		_, closes, err := c.Declare()
		if err != nil {
			t.Fatalf("taken, but cannot be declared: %v", err)
		}
		closes()
	})
}
