package wire_test

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/traction-go/traction/internal/wire"
)

// evilNames may not name anything, wherever they come in.
var evilNames = []string{
	"", " ", "a b", " a", "a ", "a\n", "a\nb", "a\tb", "a\x00b", "\x1b[2J", "a\x1b[31m", "a\u009b",
	"\u202ecrm", "crm\u200b", "crm\u200e", "crm*", "*", "#", "a#b", "a{b}", "a}b", "a,b", "a%2Fb", "a\\b", `a"b`, "a'b",
	"-a", ".a", "_a", ":a", "ä", "a東", "a\xff", "\x80", "a?b", "a[b]", "a@b", "a+b", "a;b", "$a",
	strings.Repeat("a", 65), strings.Repeat("a", 300), "a" + strings.Repeat("\x80", 300),
}

func TestParseScope(t *testing.T) {
	longest := strings.Repeat("a", 64)
	for in, want := range map[string]wire.Scope{
		"crm:acme":                              {Airport: "crm:acme"},
		"crm:acme/company-sync":                 {Airport: "crm:acme", Gate: "company-sync"},
		"mail:acme/welcome/run-1":               {Airport: "mail:acme", Gate: "welcome", Run: "run-1"},
		"0/1.x_Y/2":                             {Airport: "0", Gate: "1.x_Y", Run: "2"},
		longest + "/" + longest + "/" + longest: {Airport: longest, Gate: longest, Run: longest},
	} {
		got, err := wire.ParseScope(in)
		if err != nil || got != want {
			t.Errorf("ParseScope(%q) = %+v, %v", in, got, err)
		}
		if got.String() != in {
			t.Errorf("%q is written as %q", in, got)
		}
	}
}

func TestParseScopeRefuses(t *testing.T) {
	bad := []string{"/", "a/", "/a", "a//b", "a/b/", "a/b/c/", "a/b/c/d", "a/b/c/d/e", "a/../b", strings.Repeat("a/", 200), strings.Repeat("/", 1<<20)}
	for _, e := range evilNames {
		bad = append(bad, e, "a/"+e, "a/b/"+e, e+"/b")
	}
	// Once, bad bytes at the end were cut off and the head was taken for the scope.
	bad = append(bad, "a/b"+strings.Repeat("\x80", 300))
	for _, in := range bad {
		got, err := wire.ParseScope(in)
		if !errors.Is(err, wire.ErrName) || got != (wire.Scope{}) {
			t.Errorf("ParseScope(%.80q) = %+v, %v; want ErrName", in, got, err)
			continue
		}
		checkMessage(t, err)
		if strings.Contains(err.Error(), `\\x`) || strings.Contains(err.Error(), `\\u`) {
			t.Errorf("escaped twice: %v", err)
		}
	}
	for _, e := range evilNames {
		var name *wire.NameError
		if err := wire.CheckName("gate", e); !errors.As(err, &name) || name.Kind != "gate" || name.Name != e {
			t.Errorf("CheckName(%q) = %v", e, err)
		}
	}
}

// checkMessage holds an error about text from outside to be short and safe, and
// to say what to do.
func checkMessage(t *testing.T, err error) {
	t.Helper()
	msg := err.Error()
	checkVisible(t, msg)
	if len(msg) > 600 || !utf8.ValidString(msg) {
		t.Errorf("an error of %d bytes: %.100q", len(msg), msg)
	}
	if !strings.Contains(msg, "use") && !strings.Contains(msg, "want") {
		t.Errorf("does not say the rule: %s", msg)
	}
}

func TestScopeKinds(t *testing.T) {
	for _, c := range []struct {
		in                  string
		airport, gate       bool
		parent, asGate, asA string
	}{
		{"crm:acme", true, false, "crm:acme", "", "crm:acme"},
		{"crm:acme/sync", false, true, "crm:acme", "crm:acme/sync", ""},
		{"crm:acme/sync/r1", false, false, "crm:acme/sync", "", ""},
	} {
		s, err := wire.ParseScope(c.in)
		if err != nil {
			t.Fatal(err)
		}
		if s.IsAirport() != c.airport || s.IsGate() != c.gate || s.Parent().String() != c.parent {
			t.Errorf("%s: airport %v, gate %v, parent %s", s, s.IsAirport(), s.IsGate(), s.Parent())
		}
		g, err := wire.ParseGate(c.in)
		if g.String() != c.asGate || (err == nil) != c.gate || err != nil && !errors.Is(err, wire.ErrName) {
			t.Errorf("ParseGate(%s) = %s, %v", c.in, g, err)
		}
		a, err := wire.ParseAirport(c.in)
		if a.String() != c.asA || (err == nil) != c.airport || err != nil && !errors.Is(err, wire.ErrName) {
			t.Errorf("ParseAirport(%s) = %s, %v", c.in, a, err)
		}
	}
	var none wire.Scope
	if none.IsAirport() || none.IsGate() || none.String() != "" {
		t.Error("the zero scope is something")
	}
}

func TestParseNamespace(t *testing.T) {
	for _, s := range []string{"tr", "t", "team-2", "0", strings.Repeat("n", 32)} {
		if n, err := wire.ParseNamespace(s); err != nil || string(n) != s {
			t.Errorf("ParseNamespace(%q) = %q, %v", s, n, err)
		}
	}
	for _, s := range append([]string{"TR", "a.b", "a:b", "a_b", strings.Repeat("n", 33), "amq"}, evilNames...) {
		if s == "-a" {
			continue // a dash may lead a namespace
		}
		n, err := wire.ParseNamespace(s)
		if !errors.Is(err, wire.ErrName) || n != "" {
			t.Errorf("ParseNamespace(%q) = %q, %v; want ErrName", s, n, err)
			continue
		}
		checkMessage(t, err)
	}
}

func FuzzParseScope(f *testing.F) {
	for _, s := range append([]string{"crm:acme", "a/b", "a/b/c", "a/b/c/d"}, evilNames...) {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, err := wire.ParseScope(s)
		if err != nil {
			if !errors.Is(err, wire.ErrName) || got != (wire.Scope{}) {
				t.Fatalf("ParseScope(%q) = %+v, %v", s, got, err)
			}
			checkMessage(t, err)
			return
		}
		if got.String() != s {
			t.Errorf("%q is read as %q", s, got)
		}
		if len(s) > 3*64+2 || wire.Visible(s) != s || strings.ContainsAny(s, " *#{}\\\"'") {
			t.Errorf("accepted %q", s)
		}
	})
}
