package governortest

import (
	"context"
	"time"

	"github.com/traction-go/traction/pkg/governor"
)

// Dispatch sends work to a gate, "airport/gate", and returns the flight's id. What
// can fly at once has flown when it returns.
func (f *Field) Dispatch(gate string, payload any, opts ...governor.DispatchOption) string {
	f.t.Helper()
	var id string
	f.do("Dispatch", func() (err error) {
		id, err = f.desk.Dispatch(context.Background(), gate, payload, opts...)
		return err
	})
	return id
}

// DispatchAll sends many flights to a gate at once: a backlog.
func (f *Field) DispatchAll(gate string, flights ...governor.Outgoing) {
	f.t.Helper()
	f.do("DispatchAll", func() error {
		_, err := f.desk.DispatchAll(context.Background(), gate, func(yield func(governor.Outgoing, error) bool) {
			for _, o := range flights {
				if !yield(o, nil) {
					return
				}
			}
		})
		return err
	})
}

// Reopen reopens an airport or a gate, as the operator does.
func (f *Field) Reopen(scope string) governor.Reopening {
	f.t.Helper()
	return f.ReopenWith(scope, governor.ReopenOptions{})
}

// ReopenWith reopens with options, such as a canary.
func (f *Field) ReopenWith(scope string, o governor.ReopenOptions) governor.Reopening {
	f.t.Helper()
	var r governor.Reopening
	f.do("Reopen", func() (err error) {
		r, err = f.desk.Reopen(context.Background(), scope, o)
		return err
	})
	return r
}

// Pause pauses an airport or a gate and returns when every process has seen it.
func (f *Field) Pause(scope, reason string) governor.Pausing {
	f.t.Helper()
	var p governor.Pausing
	f.do("Pause", func() (err error) {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		p, err = f.desk.Pause(ctx, scope, governor.PauseOptions{Reason: reason})
		return err
	})
	return p
}

// Replay sends the parked flights of a gate, or of all gates of an airport, back to
// their runways, as the operator does after the fix.
func (f *Field) Replay(scope string) governor.MoveResult {
	f.t.Helper()
	var r governor.MoveResult
	f.do("Replay", func() (err error) {
		r, err = f.desk.Replay(context.Background(), governor.ParkedShelf, scope, governor.MoveOptions{})
		return err
	})
	return r
}

// Parked lists the parked flights of a gate, or of all gates of an airport, oldest
// first.
func (f *Field) Parked(scope string) []governor.ParkedFlight {
	f.t.Helper()
	var list []governor.ParkedFlight
	f.do("Parked", func() (err error) {
		list, err = f.desk.Parked(context.Background(), scope, governor.ParkedFilter{})
		return err
	})
	return list
}

// Incidents lists the incidents of an airport, with its gates, or of one gate,
// newest first; "" for all.
func (f *Field) Incidents(scope string) []governor.Incident {
	f.t.Helper()
	var list []governor.Incident
	f.do("Incidents", func() (err error) {
		list, err = f.desk.Incidents(context.Background(), governor.IncidentFilter{Scope: scope})
		return err
	})
	return list
}
