package rehearse

import (
	"fmt"
	"strings"
	"time"
)

// Result is how a step ended.
type Result string

// The results.
const (
	Passed  Result = "passed"
	Failed  Result = "failed"
	Skipped Result = "skipped" // the configuration has nothing that it is about
	NotRun  Result = "not run" // an earlier step failed, or the run was interrupted
)

// Step is one step of a rehearsal that has ended.
type Step struct {
	Name   string
	Result Result
	Took   time.Duration
	Seen   string // what was seen; why it was skipped
	Wanted string // of a failed step: what should have been seen
	Next   string // of a failed step: what to do
}

// Books are a gate's, when everything has ended.
type Books struct {
	Gate string
	Tally
	Twice int // flights that landed more than once
}

// Report is a whole rehearsal.
type Report struct {
	Namespace   string
	Flights     int      // sent to each gate by a step
	Notes       []string // what is rehearsed otherwise than configured
	Steps       []Step
	Books       []Books  // by gate; empty where it did not come to that
	Left        []string // what could not be removed
	Interrupted bool
}

// Passed reports whether every step did, and nothing is left.
func (r *Report) Passed() bool {
	if r.Interrupted || len(r.Left) > 0 {
		return false
	}
	for _, s := range r.Steps {
		if s.Result == Failed || s.Result == NotRun {
			return false
		}
	}
	return len(r.Steps) > 0
}

// Failures lists the steps that failed.
func (r *Report) Failures() (all []Step) {
	for _, s := range r.Steps {
		if s.Result == Failed {
			all = append(all, s)
		}
	}
	return all
}

func (r *Report) count(of Result) (n int) {
	for _, s := range r.Steps {
		if s.Result == of {
			n++
		}
	}
	return n
}

// Total adds the books of all gates.
func (r *Report) Total() (t Tally) {
	for _, b := range r.Books {
		t = t.plus(b.Tally)
	}
	return t
}

// Verdict is the report on one line.
func (r *Report) Verdict() string {
	var parts []string
	if r.Interrupted {
		parts = append(parts, "interrupted after "+plural(r.count(Passed), "step"))
	}
	switch failed := r.Failures(); {
	case len(failed) > 0:
		names := make([]string, len(failed))
		for i, s := range failed {
			names[i] = s.Name
		}
		parts = append(parts, "failed at "+strings.Join(names, " and "))
		if n := r.count(NotRun); n > 0 && !r.Interrupted {
			parts = append(parts, plural(n, "step")+" not run")
		}
	case !r.Interrupted:
		text := "passed: " + plural(r.count(Passed), "step")
		if n := r.count(Skipped); n > 0 {
			text += fmt.Sprintf(", %d skipped", n)
		}
		parts = append(parts, text)
	}
	if len(r.Books) > 0 {
		parts = append(parts, r.Total().String())
	}
	if len(r.Left) > 0 {
		parts = append(parts, fmt.Sprintf("left of namespace %s: %s", r.Namespace, list(r.Left, 3)))
	} else {
		parts = append(parts, "nothing of namespace "+r.Namespace+" is left")
	}
	return strings.Join(parts, "; ")
}
