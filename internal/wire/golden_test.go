package wire_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/settle"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares got with a file that only -update writes. A difference is a
// change of the contract: processes of two versions run side by side, so a name
// is added, never changed.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) == got {
		return
	}
	was, is := strings.Split(string(want), "\n"), strings.Split(got, "\n")
	for _, line := range was {
		if !slices.Contains(is, line) {
			t.Errorf("%s lost     %s", path, line)
		}
	}
	for _, line := range is {
		if !slices.Contains(was, line) {
			t.Errorf("%s has new  %s", path, line)
		}
	}
	t.Errorf("%s differs; if the contract is meant to grow, document it and run the test with -update", path)
}

// The arguments that names are made of. A method with others needs its own.
var placeholders = map[string][]any{
	"BornExchange": {wire.Scope{Airport: "<airport>"}},
	"Rejected":     {wire.Scope{Airport: "<airport>", Gate: "<gate>"}, 7 * 24 * time.Hour},
	"Hold":         {30 * time.Second},
	"Keys":         {"<airport>"},
	"Worker":       {"<id>"},
	"Tower":        {"<id>"},
	"Streak":       {"<gate>", "<kind>"},
	"Look":         {"<gate>", "<shelf>"},
	"Charter":      {"<gate>", "<run>"},
	"Seats":        {"<gate>", "<run>"},
}

// names calls every method of v that gives a string and returns what it gave.
func names(t *testing.T, v any) map[string]string {
	t.Helper()
	out := map[string]string{}
	val := reflect.ValueOf(v)
	for i := range val.NumMethod() {
		m, name := val.Method(i), val.Type().Method(i).Name
		if m.Type().NumOut() != 1 || m.Type().Out(0).Kind() != reflect.String {
			continue
		}
		var args []reflect.Value
		for _, a := range placeholders[name] {
			args = append(args, reflect.ValueOf(a))
		}
		if args == nil && m.Type().NumIn() == 1 {
			switch m.Type().In(0) {
			case reflect.TypeFor[wire.Scope]():
				args = append(args, reflect.ValueOf(wire.Scope{Airport: "<airport>", Gate: "<gate>"}))
			case reflect.TypeFor[string]():
				args = append(args, reflect.ValueOf("<gate>"))
			}
		}
		if len(args) != m.Type().NumIn() {
			t.Fatalf("%T.%s: give its arguments in placeholders", v, name)
		}
		out[name] = m.Call(args)[0].String()
	}
	if len(out) == 0 {
		t.Fatalf("%T gives no names", v)
	}
	return out
}

// contractNames is every name of the broker and the store.
func contractNames(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, v := range []any{wire.DefaultNamespace, wire.DefaultNamespace.Keys("<airport>")} {
		for k, n := range names(t, v) {
			all[fmt.Sprintf("%T.%s", v, k)] = n
		}
	}
	all["wire.Namespace.BornExchange (gate)"] = wire.DefaultNamespace.BornExchange(wire.Scope{Airport: "<airport>", Gate: "<gate>"})
	all["wire.ReportKey"] = wire.ReportKey("<outcome>", wire.Scope{Airport: "<airport>", Gate: "<gate>"})
	return all
}

// constants reads the exported constants with a literal value from a package.
// Strings stand in quotes.
func constants(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.CONST {
				continue
			}
			for _, s := range g.Specs {
				v := s.(*ast.ValueSpec)
				for i, n := range v.Names {
					if !n.IsExported() || i >= len(v.Values) {
						continue
					}
					if lit, ok := v.Values[i].(*ast.BasicLit); ok {
						out[f.Name.Name+"."+n.Name] = lit.Value
					}
				}
			}
		}
	}
	if len(out) == 0 {
		t.Fatalf("no constants in %s", dir)
	}
	return out
}

func contractConstants(t *testing.T) map[string]string {
	t.Helper()
	all := constants(t, ".")
	for k, v := range constants(t, "../../pkg/settle") {
		all[k] = v
	}
	for _, o := range settle.Outcomes() {
		all["settle.Outcome "+o.String()] = strconv.Quote(o.String())
	}
	for _, s := range []settle.Settlement{settle.Land, settle.Hold, settle.Park, settle.Defer} {
		all["settle.Settlement "+s.String()] = strconv.Quote(s.String())
	}
	for _, l := range []settle.Landing{settle.AsLanded, settle.AsRejected, settle.AsSkipped} {
		name := settle.Move{Settlement: settle.Land, Landing: l}.Name()
		all["settle.Landing "+name] = strconv.Quote(name)
	}
	return all
}

// forms is every JSON form of the contract, filled in.
func forms() []any {
	r := fullReport()
	return []any{
		wire.ReportBatch{Version: wire.ReportVersion, Worker: "host-1", Reports: []wire.Report{r}},
		wire.Incident{
			ID: "crm:acme@1700000000001-ab12", Scope: "crm:acme", Kind: wire.GroundStop, Reason: "AIRPORT_FAULT", OpenedAt: 1, ClosedAt: 2, ClosedBy: "ann@desk",
			Evidence: "401 | token expired", Records: []string{"company 17"}, Workers: []string{"host-1"}, Faults: 3, NotifiedAt: 4, Observed: true,
		},
		wire.Notice{
			Key: "crm:acme@1700000000001-ab12/GROUND_STOP", Type: wire.GroundStop, Scope: "crm:acme", Reason: "AIRPORT_FAULT", Evidence: "401 | token expired",
			Incident: "crm:acme@1700000000001-ab12", Records: []string{"company 17"}, Workers: []string{"host-1"}, Actor: "ann@desk", At: 5, Observed: true,
		},
		wire.AuditEntry{ID: "6-0", At: 6, Actor: "ann@desk", Action: "reopen", Scope: "crm:acme", Reason: "token renewed", Result: "done", Count: 7},
		wire.Event{Version: 1, Scope: "crm:acme", State: wire.Stopped, Epoch: 1_700_000_000_001},
	}
}

func sortedLines(m map[string]string) string {
	lines := make([]string, 0, len(m))
	for k, v := range m {
		lines = append(lines, k+" = "+v+"\n")
	}
	slices.Sort(lines)
	return strings.Join(lines, "")
}

func TestNamesGolden(t *testing.T) { golden(t, "names.golden", sortedLines(contractNames(t))) }

func TestConstantsGolden(t *testing.T) {
	golden(t, "constants.golden", sortedLines(contractConstants(t)))
}

func TestFormsGolden(t *testing.T) {
	var b strings.Builder
	for _, f := range forms() {
		for _, v := range []any{f, reflect.Zero(reflect.TypeOf(f)).Interface()} {
			raw, err := json.MarshalIndent(v, "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&b, "%T %s\n", v, raw)
		}
	}
	golden(t, "forms.golden", b.String())
}

func TestMessageGolden(t *testing.T) {
	f := fullFlight()
	m := f.Message()
	raw, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "message.golden", string(raw)+"\n")
}

// The public form of the contract knows every word of it.
func TestDocKnowsTheContract(t *testing.T) {
	raw, err := os.ReadFile("../../docs/wire.md")
	if err != nil {
		t.Fatal(err)
	}
	doc := string(raw)
	quoted := func(word string) bool { return strings.Contains(doc, "`"+word+"`") }
	for what, name := range contractNames(t) {
		if strings.HasSuffix(what, "Prefix") {
			continue // of names that are there
		}
		if !quoted(name) {
			t.Errorf("docs/wire.md does not have `%s` (%s)", name, what)
		}
	}
	for what, word := range contractConstants(t) {
		word, err := strconv.Unquote(word)
		if err == nil && !quoted(word) {
			t.Errorf("docs/wire.md does not have `%s` (%s)", word, what)
		}
	}
	var fields func(reflect.Type)
	fields = func(typ reflect.Type) {
		for i := range typ.NumField() {
			f := typ.Field(i)
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if name == "" || !quoted(name) {
				t.Errorf("docs/wire.md does not have the field `%s` of %s", name, typ)
			}
			sub := f.Type
			for sub.Kind() == reflect.Pointer || sub.Kind() == reflect.Slice {
				sub = sub.Elem()
			}
			if sub.Kind() == reflect.Struct && sub != reflect.TypeFor[time.Time]() {
				fields(sub)
			}
		}
	}
	for _, f := range forms() {
		fields(reflect.TypeOf(f))
	}
}
