package governor

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/traction-go/traction/pkg/settle"
)

// conflictRetries is how often a CONFLICT is tried again in place.
const conflictRetries = 3

// fate is what the lane does with a flight that has flown.
type fate uint8

const (
	isSettled fate = iota // its outcome is asked of the store
	isRetried             // it met a conflict: it flies again in place
	isSplit               // its batch failed as a whole: it flies again in half of it
	isAlone               // a twin of a flight that did not land: it flies on its own
)

// fly makes the one call of a flight and its mates, and tells how each of them went.
// It writes nothing to the jobs: a pilot that ignores its ended context may still be
// here when the lane has given the flights up.
func (l *lane) fly(ctx context.Context, jobs []*job) []flown {
	begin := time.Now()
	ctx, cancel := context.WithTimeout(context.WithValue(ctx, timeoutKey{}, l.spec.Timeout), l.spec.Timeout)
	defer cancel()
	deadline, _ := ctx.Deadline()
	flights := make([]Flight[[]byte], 0, len(jobs))
	sent := make([]int, len(jobs)) // which of the flights each job's outcome is
	nth := map[*job]int{}
	for _, j := range jobs {
		if j.twinOf == nil {
			nth[j] = len(flights)
			flights = append(flights, Flight[[]byte]{Meta: j.meta(deadline), Payload: j.flight.Msg.Body})
		}
	}
	for i, j := range jobs {
		sent[i] = nth[or(j.twinOf, j)]
	}
	err, panicked := call(func() error {
		if l.spec.Batch == nil || l.spec.Pilot != nil && len(flights) == 1 {
			return l.spec.Pilot.Fly(ctx, flights[0])
		}
		return l.spec.Batch.Pilot.FlyBatch(ctx, flights)
	})
	var named *BatchError
	byFlight := !panicked && l.spec.Batch != nil && errors.As(err, &named)
	results := make([]flown, len(flights))
	for i, f := range flights {
		one, reported := err, true
		if byFlight {
			if one, reported = named.Flights[f.ID]; !reported {
				one = named.unreported()
			}
		}
		results[i] = l.judge(ctx, f.Meta, one, panicked || !reported)
		results[i].whole = !byFlight && len(flights) > 1
		results[i].elapsed = time.Since(begin)
	}
	out := make([]flown, len(jobs))
	for i := range jobs {
		out[i] = results[sent[i]]
	}
	return out
}

// judge asks what an outcome means. A panic of the pilot or the reporter is a bug of
// ours: INTERNAL, with the head of its stack as evidence.
func (l *lane) judge(ctx context.Context, meta Meta, err error, ours bool) flown {
	var out flown
	if ours {
		out.report = Internal(err)
	} else {
		bad, panicked := call(func() error {
			out.report = l.spec.Reporter(ctx, meta, err)
			return nil
		})
		if panicked {
			out.report = Internal(bad)
		} else if !out.report.Outcome.Valid() {
			out.report = Internal(err)
		}
	}
	var death *DeathError
	if errors.As(err, &death) && out.report.Outcome != settle.Landed {
		out.died = true
	}
	if out.report.Err == nil && out.report.Outcome != settle.Landed {
		out.report.Err = err
	}
	return out
}

// brought notes how a flight went, and what becomes of it.
func (j *job) brought(out flown, lead *job) {
	j.report, j.elapsed = out.report, out.elapsed
	j.witness = ""
	if out.whole {
		j.witness = lead.flight.Record()
	}
	if out.died {
		j.died = "DIED"
	}
	o := j.report.Outcome
	switch {
	case j.twinOf != nil && o != settle.Landed:
		j.fate = isAlone
		if out.whole && j.died == "" && (again(o) || o == settle.Conflict && j.twinOf.conflicts < conflictRetries) {
			j.fate = isSplit // with the flight it would land with
			if o == settle.Conflict {
				j.fate = isRetried
			}
		}
	case j.died == "" && o == settle.Conflict && j.conflicts < conflictRetries:
		j.fate = isRetried
	case j.died == "" && out.whole && again(o):
		j.fate = isSplit
	default:
		j.fate = isSettled
	}
}

// again reports whether a batch that failed so as a whole is split: one record of it
// may be the cause.
func again(o settle.Outcome) bool { return o == settle.FlightFault || o == settle.Internal }

// back takes in the flights of a call that come back from the pilots.
func (l *lane) back(lead *job) {
	l.aloft--
	g := lead.all()
	lead.mates = nil
	if !lead.took {
		l.s.g.stats.reasked(l.gate)
		l.requeue(g)
		return
	}
	l.s.g.stats.called(l.gate, lead.elapsed)
	if l.flight == 0 {
		l.flight = lead.elapsed
	}
	l.flight += (lead.elapsed - l.flight) / 8
	by := map[fate][]*job{}
	for _, j := range g {
		l.rate.add()
		j.pin = 0
		by[j.fate] = append(by[j.fate], j)
	}
	if retried := by[isRetried]; len(retried) > 0 {
		// Every call has a clearance of its own: it is asked for again.
		due := time.Now().Add(50*time.Millisecond + rand.N(150*time.Millisecond))
		for _, j := range retried {
			j.conflicts++
			j.notBefore = due
		}
		if l.spec.Batch != nil {
			l.pinned(retried)
		}
	}
	if split := by[isSplit]; len(split) > 0 {
		l.halves(split)
	}
	for _, j := range by[isSettled] {
		l.settleFlown(j)
	}
	l.requeue(append(append(by[isSplit], by[isRetried]...), by[isAlone]...))
}
