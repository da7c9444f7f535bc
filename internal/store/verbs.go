package store

import (
	"context"
	"strconv"
	"time"

	"github.com/traction-go/traction/internal/wire"
)

// Result is what a human's verb did.
type Result string

// The results of verbs.
const (
	Done        Result = "ok"
	OpenAlready Result = "open"
	SameAlready Result = "same"
	Ended       Result = "ended"   // it was open; its throttle or delay has ended
	PausedSo    Result = "paused"  // it was paused already
	NotYet      Result = "wait"    // a birth, or late offers after a loss: try again
	Absent      Result = "absent"  // no status and no marker
	NeedAirport Result = "airport" // reopen the airport first
)

// ReopenReply is what a reopen did.
type ReopenReply struct {
	Result   Result
	Incident string
	Since    time.Time // when it was stopped or paused
	Was      wire.State
	Epoch    int64
	Now      time.Time
}

// Reopen opens the airport (gate "") or a gate, or starts a canary of n flights.
// marker says whether the broker remembers the scope. The hold must know all the
// airport's gates.
func (a *Airport) Reopen(ctx context.Context, gate string, n int, actor, reason string, marker bool) (ReopenReply, error) {
	gates := a.Gates()
	now, res, err := a.run(ctx, reopenScript, gates, gate, n, actor, reason, flag(marker))
	if err != nil {
		return ReopenReply{}, err
	}
	r := ReopenReply{Result: Result(text(res[1])), Incident: text(res[2]), Was: wire.State(text(res[4])), Now: now}
	if ms := integer(res[3]); ms > 0 {
		r.Since = time.UnixMilli(ms).UTC()
	}
	st, _ := a.Last(gate)
	r.Epoch = st.Epoch
	return r, nil
}

// Pause stops the airport (gate "") or a gate without a fault. again writes it once
// more where the store lost it.
func (a *Airport) Pause(ctx context.Context, gate, actor, reason string, again bool) (Result, int64, error) {
	_, res, err := a.run(ctx, pauseScript, a.Gates(), gate, actor, reason, flag(again))
	if err != nil {
		return "", 0, err
	}
	st, _ := a.Last(gate)
	return Result(text(res[1])), st.Epoch, nil
}

// ScaleTo is what an operator asks of a gate: a number, AsDeclared or AsItIs.
type ScaleTo int

// What is no number of workers or flights.
const (
	AsItIs     ScaleTo = -1
	AsDeclared ScaleTo = -2
)

func (s ScaleTo) String() string {
	switch s {
	case AsItIs:
		return ""
	case AsDeclared:
		return "reset"
	}
	return strconv.Itoa(int(s))
}

// Scale sets how many workers the gate has in each process, and how many flights fly
// in one call. It returns what stands, and from which epoch on.
func (a *Airport) Scale(ctx context.Context, gate string, workers, batch ScaleTo, actor string) (Result, wire.Scale, int64, error) {
	_, res, err := a.run(ctx, scaleScript, []string{gate}, workers.String(), batch.String(), actor)
	if err != nil {
		return "", "", 0, err
	}
	st, _ := a.Last(gate)
	return Result(text(res[1])), wire.Scale(text(res[2])), st.Epoch, nil
}
