package governor

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
)

// Meta is what is known of a flight beside its payload.
type Meta struct {
	// ID is Traction's id of the flight, the same at every attempt.
	ID string
	// Scope is the gate, as airport/gate.
	Scope string
	// BusinessID is the caller's idempotency key; "" where none was given.
	BusinessID string
	// Key is the idempotency key to send to the vendor: the flight id, with -N
	// after the Nth replay, since a vendor may answer an old key with its old
	// answer.
	Key string
	// Charter and Seat are the bulk run and the flight's number in it; Seat is
	// -1 without a charter.
	Charter string
	Seat    int
	// Attempt is 1 for the first try, and one more for each hold spent.
	Attempt int
	// Replays is how often an operator replayed the flight.
	Replays int
	// Deadline is when the call's context ends.
	Deadline time.Time
	// ContentType and Headers came with the message. They must not be changed.
	ContentType string
	Headers     map[string]any
}

// Flight is one message as a pilot sees it. Delivery is at least once: key what
// you write on BusinessID or Key.
type Flight[T any] struct {
	Meta
	Payload T
}

// Pilot makes the call and nothing else: it never acknowledges, never decides
// whether to retry. Fly is called from many goroutines and must return when its
// context ends. Its error goes to the reporter.
type Pilot interface {
	Fly(ctx context.Context, f Flight[[]byte]) error
}

// PilotFunc makes a pilot of a function that takes the raw payload.
type PilotFunc func(ctx context.Context, f Flight[[]byte]) error

// Fly calls the function.
func (p PilotFunc) Fly(ctx context.Context, f Flight[[]byte]) error { return p(ctx, f) }

// Checker is a pilot that can refuse a payload before anything is spent on it:
// the flight is parked as MALFORMED and never flown.
type Checker interface {
	Check(payload []byte) error
}

// JSON makes a pilot of a function that takes the payload decoded from JSON. A
// payload that does not decode is never flown: the flight is parked as MALFORMED.
func JSON[T any](fly func(ctx context.Context, f Flight[T]) error) Pilot {
	return jsonPilot[T]{fly}
}

type jsonPilot[T any] struct {
	fly func(context.Context, Flight[T]) error
}

func (p jsonPilot[T]) Check(payload []byte) error {
	var v T
	if err := json.Unmarshal(payload, &v); err != nil {
		return fmt.Errorf("the payload does not decode as JSON: %w", err)
	}
	return nil
}

func (p jsonPilot[T]) Fly(ctx context.Context, f Flight[[]byte]) error {
	out := Flight[T]{Meta: f.Meta}
	if err := json.Unmarshal(f.Payload, &out.Payload); err != nil {
		return fmt.Errorf("the payload does not decode as JSON: %w", err)
	}
	return p.fly(ctx, out)
}
