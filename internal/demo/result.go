package demo

import (
	"fmt"
	"strings"
	"time"

	"github.com/traction-go/traction/internal/cli/render"
)

// Fact is one measured value of a result line.
type Fact struct {
	Name  string
	Value any
}

// Result is what a run measured.
type Result struct {
	Scenario    string
	Label       string  // begins the line
	Against     *Result // what it is compared with, measured in the same run; told first
	Facts       []Fact
	Differences []string // from what the scenario claims; empty: it showed it
}

// Separator stands between the facts of a line.
const Separator = " · "

// Line is the result on one line.
func (r *Result) Line() string {
	parts := make([]string, len(r.Facts))
	for i, f := range r.Facts {
		parts[i] = f.Name + ": " + f.text()
	}
	return r.Label + ": " + strings.Join(parts, Separator)
}

func (f Fact) text() string {
	if d, ok := f.Value.(time.Duration); ok {
		return render.Rough(d)
	}
	return fmt.Sprint(f.Value)
}

// All gives what was measured beside this result, and then itself.
func (r *Result) All() []*Result {
	if r.Against == nil {
		return []*Result{r}
	}
	return append(r.Against.All(), r)
}

// value is the fact of that name; nil: there is none.
func (r *Result) value(name string) any {
	for _, f := range r.Facts {
		if f.Name == name {
			return f.Value
		}
	}
	return nil
}

func (r *Result) fact(name string, value any) { r.Facts = append(r.Facts, Fact{name, value}) }

// want notes a difference unless got is what the scenario claims.
func want[T comparable](r *Result, what string, got, want T) {
	r.check(got == want, "%s: %v, want %v", what, got, want)
}

func (r *Result) check(ok bool, format string, args ...any) {
	if !ok {
		r.Differences = append(r.Differences, fmt.Sprintf(format, args...))
	}
}
