package texts

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/traction-go/traction/internal/config"
	"github.com/traction-go/traction/internal/config/expand"
)

// env gives every variable a value that fits where the pages use it.
func env(name string) (string, bool) {
	switch {
	case strings.Contains(name, "AMQP"):
		return "amqp://broker/", true
	case strings.Contains(name, "SIZE"):
		return "1", true
	case strings.Contains(name, "REDIS"):
		return "redis://store/", true
	}
	return "x", true
}

func parse(t *testing.T, name, text string) error {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "token.txt"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := config.Parse(name, []byte(text), expand.Source{Env: env, Dir: dir})
	if err != nil {
		return err
	}
	_, closes, err := c.Declare()
	if err == nil {
		closes()
	}
	return err
}

// TestExampleConfigurations reads the examples, and each block of YAML on a page
// that is a whole configuration.
func TestExampleConfigurations(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(root, "docs/examples/*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no examples: %v", err)
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if err := parse(t, f, string(b)); err != nil {
			t.Error(err)
		}
	}
	whole := 0
	for _, p := range pages(t) {
		_, blocks := p.split()
		for _, b := range blocks {
			text := strings.Join(b.lines, "\n")
			if b.lang != "yaml" || !strings.Contains(text, "airports:") || !strings.Contains(text, "amqp:") {
				continue
			}
			whole++
			if err := parse(t, p.name, text); err != nil {
				t.Errorf("%s:%d: %v", p.name, b.line, err)
			}
		}
	}
	if whole < 2 {
		t.Errorf("found %d configurations on the pages: want the README's and the reference's", whole)
	}
}

// probes are configurations with a key that nobody knows; each is answered with
// the keys that are known in its place.
var probes = map[string]string{
	"the file":   "zzz: 1",
	"notify":     "notify: {zzz: 1}",
	"an airport": "airports: {a: {zzz: 1}}",
	"holds":      "airports: {a: {holds: {zzz: 1}}}",
	"streaks":    "airports: {a: {streaks: {zzz: 1}}}",
	"outcomes":   "airports: {a: {outcomes: {zzz: 1}}}",
	"body rules": "airports: {a: {outcomes: {body: [{zzz: 1}]}}}",
	"a gate":     "airports: {a: {gates: {g: {zzz: 1}}}}",
	"http":       "airports: {a: {gates: {g: {http: {zzz: 1}}}}}",
	"adopt":      "airports: {a: {gates: {g: {adopt: {zzz: 1}}}}}",
	"a route":    "airports: {a: {gates: {g: {adopt: {route: {zzz: 1}}}}}}",
}

var wanted = regexp.MustCompile(`zzz: unknown key: want one of ([a-z_, ]+)`)

// TestReferenceHasEveryKey asks the configuration for its keys and looks each up
// in the reference.
func TestReferenceHasEveryKey(t *testing.T) {
	ref := find(t, "docs/worker.md").text
	for where, text := range probes {
		err := parse(t, where, text)
		var problems config.Problems
		if !errors.As(err, &problems) {
			t.Errorf("%s: %v: want problems", where, err)
			continue
		}
		m := wanted.FindStringSubmatch(problems.Error())
		if m == nil {
			t.Errorf("%s: %v: says no known keys", where, problems)
			continue
		}
		for _, key := range strings.Split(m[1], ", ") {
			if !strings.Contains(ref, "`"+key+"`") {
				t.Errorf("docs/worker.md does not describe %s, a key of %s", key, where)
			}
		}
	}
}

// TestGoOnPages holds the README's Go to the compiled examples: each line of it
// stands there.
func TestGoOnPages(t *testing.T) {
	b, err := os.ReadFile(filepath.Join(root, "pkg/governor/example_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	compiled := map[string]bool{}
	for _, line := range strings.Split(string(b), "\n") {
		compiled[strings.TrimSpace(line)] = true
	}
	_, blocks := find(t, "README.md").split()
	seen := 0
	for _, bl := range blocks {
		if bl.lang != "go" {
			continue
		}
		for i, line := range bl.lines {
			seen++
			if line = strings.TrimSpace(line); line != "" && !compiled[line] {
				t.Errorf("README.md:%d: not in pkg/governor/example_test.go: %s", bl.line+i, line)
			}
		}
	}
	if seen == 0 {
		t.Error("the README shows no Go")
	}
}
