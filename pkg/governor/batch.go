package governor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/traction-go/traction/internal/jsonptr"
)

// Batch has a gate fly several flights in one call. They are cleared when there are
// Size of them, or when the first has waited for Linger; they are settled together
// when the call returns, and acknowledged after that. A batch never reaches across a
// stop: one that has not taken off by then is returned whole.
//
// A call that fails with a FLIGHT_FAULT or an INTERNAL and names no flight is made
// again with each half of the batch, until the bad record stands alone. Any other
// failure of the whole call is every flight's, and counts as one record's in the
// streaks: it was one call.
type Batch struct {
	// Size is how many flights fly in one call at most, 1 to MaxBatch. Required. A process
	// may be given another by Config.BatchSize, and the running fleet by an operator.
	Size int

	// Linger is how long the first flight of a batch waits for others. Default 200 ms,
	// at most MaxLinger.
	Linger time.Duration

	// Dedupe gives flights that do the same work the same key. Of those in one batch
	// the newest is sent (by its timestamp, then its flight id); the others, its twins,
	// land when it lands, and are cleared on their own otherwise. "" has no twin. nil:
	// all are sent. PointerKey makes one.
	Dedupe func(payload []byte) string

	// SlotPerFlight takes a slot of the airport for each flight that is sent, rather
	// than one for the call.
	SlotPerFlight bool

	// Pilot makes the call. Required. With Gate.Pilot beside it, batches of one are
	// flown by that.
	Pilot BatchPilot
}

// The bounds of a batch.
const (
	DefaultLinger = 200 * time.Millisecond

	MaxBatch  = 250 // one call to the store clears them
	MaxLinger = time.Minute
)

// BatchPilot makes one call for several flights and nothing else; rules as for Pilot.
// nil: all of them landed. A *BatchError says of each flight how it went. Any other
// error is the whole call's.
type BatchPilot interface {
	FlyBatch(ctx context.Context, flights []Flight[[]byte]) error
}

// BatchPilotFunc makes a batch pilot of a function that takes the raw payloads.
type BatchPilotFunc func(ctx context.Context, flights []Flight[[]byte]) error

// FlyBatch calls the function.
func (p BatchPilotFunc) FlyBatch(ctx context.Context, flights []Flight[[]byte]) error {
	return p(ctx, flights)
}

// BatchError says flight by flight how a batch went. A flight that it does not name
// is INTERNAL: what is not reported is not taken for landed.
type BatchError struct {
	Flights map[string]error // by Meta.ID; nil: it landed

	// Rest says why flights are left out, as their evidence. nil: ErrUnreported alone.
	Rest error
}

// Error counts them.
func (e *BatchError) Error() string {
	failed := 0
	for _, err := range e.Flights {
		if err != nil {
			failed++
		}
	}
	return fmt.Sprintf("%d of the %d flights that were reported failed", failed, len(e.Flights))
}

// unreported is the evidence of a flight that is left out.
func (e *BatchError) unreported() error {
	if e.Rest == nil {
		return ErrUnreported
	}
	return fmt.Errorf("%w: %w", ErrUnreported, e.Rest)
}

// ErrUnreported is the evidence of a flight that its batch's pilot did not name.
var ErrUnreported = errors.New("the pilot reported on its batch and left this flight out")

// JSONBatch makes a batch pilot of a function that takes the payloads decoded from
// JSON. A payload that does not decode is never flown: its flight is parked as
// MALFORMED.
func JSONBatch[T any](fly func(ctx context.Context, flights []Flight[T]) error) BatchPilot {
	return jsonBatch[T]{fly}
}

type jsonBatch[T any] struct {
	fly func(context.Context, []Flight[T]) error
}

func (p jsonBatch[T]) Check(payload []byte) error { return jsonPilot[T]{}.Check(payload) }

func (p jsonBatch[T]) FlyBatch(ctx context.Context, flights []Flight[[]byte]) error {
	out := make([]Flight[T], len(flights))
	for i, f := range flights {
		out[i].Meta = f.Meta
		if err := json.Unmarshal(f.Payload, &out[i].Payload); err != nil {
			return fmt.Errorf("the payload of flight %s does not decode as JSON: %w", f.ID, err)
		}
	}
	return p.fly(ctx, out)
}

// PointerKey makes a dedupe key of the values at JSON pointers (RFC 6901) in the
// payload. A payload that is not JSON, has a value at none of them, or one that is not
// UTF-8, has no twin.
func PointerKey(pointers ...string) (func(payload []byte) string, error) {
	parsed := make([]jsonptr.Pointer, len(pointers))
	for i, s := range pointers {
		p, err := jsonptr.Parse(s)
		if err != nil {
			return nil, badSpec("Dedupe", "%v", err)
		}
		parsed[i] = p
	}
	if len(parsed) == 0 {
		return nil, badSpec("Dedupe", "want one JSON pointer or more, such as /payment/id")
	}
	return func(payload []byte) string {
		doc, ok := jsonptr.Decode(payload)
		if !ok {
			return ""
		}
		var key strings.Builder
		found := false
		for _, p := range parsed {
			v, ok := p.Find(doc)
			found = found || ok
			text := []byte("-") // no JSON: a missing value is like no other
			if ok {
				text, _ = json.Marshal(v) // it came from JSON
			}
			if jsonptr.Lossy(string(text)) {
				return ""
			}
			key.Write(text)
			key.WriteByte('\n')
		}
		if !found {
			return ""
		}
		return key.String()
	}, nil
}

func (b *Batch) validate(at string) error {
	at += ": Batch"
	switch {
	case b.Pilot == nil:
		return badSpec(at+".Pilot", "is required")
	case b.Size < 1 || b.Size > MaxBatch:
		return badSpec(at+".Size", "%d: want 1 to %d", b.Size, MaxBatch)
	case b.Linger < 0 || b.Linger > MaxLinger:
		return badSpec(at+".Linger", "%v: want 0 (%v) to %v", b.Linger, DefaultLinger, MaxLinger)
	}
	return nil
}

// check asks the gate's pilots whether they could take a payload at all.
func (g Gate) check(payload []byte) error {
	if c, ok := g.Pilot.(Checker); ok {
		if err := c.Check(payload); err != nil {
			return err
		}
	}
	if g.Batch != nil {
		if c, ok := g.Batch.Pilot.(Checker); ok {
			return c.Check(payload)
		}
	}
	return nil
}

// batchSize is the declared size; 0: no batches.
func batchSize(g Gate) int {
	if g.Batch == nil {
		return 0
	}
	return g.Batch.Size
}
