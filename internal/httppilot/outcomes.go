package httppilot

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/traction-go/traction/internal/jsonptr"
	"github.com/traction-go/traction/pkg/governor"
	"github.com/traction-go/traction/pkg/settle"
)

// Outcomes are the rules that stand over the default meaning of an answer. The
// zero value is the defaults alone.
type Outcomes struct {
	// Body rules are tried first, in their order; the first that fits decides.
	Body []BodyRule
	// Status gives a status another meaning.
	Status map[int]settle.Outcome
}

// BodyRule gives answers that say something another meaning: the member of the
// JSON body at Pointer equals Equals.
type BodyRule struct {
	Pointer jsonptr.Pointer
	Equals  any // string, json.Number, bool or nil
	Outcome settle.Outcome
}

// Keeps reports whether a rule gives a successful status another meaning.
func (o Outcomes) Keeps(code int) bool { _, ok := o.Status[code]; return ok }

// Report is the governor.Reporter of these rules. An answer over 64 KiB, or one
// that is not JSON, fits no body rule.
func (o Outcomes) Report(ctx context.Context, m governor.Meta, err error) governor.Report {
	var answer *Answer
	var call *CallError
	switch {
	case errors.As(err, &answer):
		return o.read(answer, err)
	case errors.As(err, &call):
		return governor.Transient(err)
	}
	return governor.DefaultReporter(ctx, m, err)
}

func (o Outcomes) read(a *Answer, err error) governor.Report {
	outcome, ok := o.byBody(a.body)
	if !ok {
		outcome, ok = o.Status[a.Status.Code]
	}
	if !ok {
		outcome = governor.StatusOutcome(a.Status.Code, a.Status.After > 0)
	}
	switch outcome {
	case settle.Landed:
		return governor.Landed()
	case settle.RateLimit:
		return governor.RateLimit(err, a.Status.After)
	}
	return governor.Report{Outcome: outcome, Err: err}
}

func (o Outcomes) byBody(body []byte) (settle.Outcome, bool) {
	if len(o.Body) == 0 {
		return 0, false
	}
	doc, ok := jsonptr.Decode(body)
	if !ok {
		return 0, false
	}
	for _, r := range o.Body {
		if v, ok := r.Pointer.Find(doc); ok && equal(v, r.Equals) {
			return r.Outcome, true
		}
	}
	return 0, false
}

// equal compares scalars; numbers by value, so 1 equals 1.0.
func equal(got, want any) bool {
	a, okA := got.(json.Number)
	b, okB := want.(json.Number)
	if okA && okB {
		x, errX := a.Float64()
		y, errY := b.Float64()
		return a == b || errX == nil && errY == nil && x == y
	}
	switch got.(type) {
	case string, bool, nil:
		return got == want
	}
	return false
}
