package governor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/traction-go/traction/internal/broker"
	"github.com/traction-go/traction/internal/wire"
)

// DispatchOption says more of a flight.
type DispatchOption func(*Outgoing)

// BusinessID gives the flight the caller's idempotency key: at most 255 bytes of
// UTF-8. Streaks count distinct business ids.
func BusinessID(id string) DispatchOption { return func(o *Outgoing) { o.BusinessID = id } }

// FlightID gives the flight an id of the caller's, so that a repeated dispatch (an
// outbox relay's) is the same flight with the same idempotency key. It is dropped
// unflown only while the first one's note or landing mark stands.
func FlightID(id string) DispatchOption { return func(o *Outgoing) { o.FlightID = id } }

// ContentType says what the payload is. Default application/json for a payload
// that Dispatch encodes, application/octet-stream for bytes.
func ContentType(t string) DispatchOption { return func(o *Outgoing) { o.ContentType = t } }

// Header adds a header that travels with the flight untouched, such as
// traceparent. Names starting with tr- are Traction's.
func Header(name string, value any) DispatchOption {
	return func(o *Outgoing) {
		if o.Headers == nil {
			o.Headers = map[string]any{}
		}
		o.Headers[name] = value
	}
}

// Outgoing is one flight to dispatch.
type Outgoing struct {
	Payload     []byte
	BusinessID  string
	FlightID    string // "": a new UUIDv7
	ContentType string
	Headers     map[string]any
}

// Dispatch sends work to a gate, "airport/gate". payload is sent as it is when it
// is []byte or json.RawMessage, else as JSON. It returns the flight's id once the
// broker has confirmed it. It needs only the broker. ErrNotFound: nobody has
// declared the gate.
func (g *Governor) Dispatch(ctx context.Context, gate string, payload any, opts ...DispatchOption) (string, error) {
	o := Outgoing{}
	switch p := payload.(type) {
	case []byte:
		o.Payload, o.ContentType = p, "application/octet-stream"
	case json.RawMessage:
		o.Payload, o.ContentType = p, "application/json"
	default:
		b, err := json.Marshal(payload)
		if err != nil {
			return "", fmt.Errorf("dispatch to %s: %w", wire.Visible(gate), err)
		}
		o.Payload, o.ContentType = b, "application/json"
	}
	for _, opt := range opts {
		opt(&o)
	}
	scope, err := wire.ParseGate(gate)
	if err != nil {
		return "", err
	}
	p, err := g.outgoing(scope, o)
	if err != nil {
		return "", fmt.Errorf("dispatch to %s: %w", scope, err)
	}
	if err := g.bk.Publish(ctx, []broker.Publishing{p})[0]; err != nil {
		return "", dispatchError(scope, err)
	}
	return p.Message.ID, nil
}

func dispatchError(scope wire.Scope, err error) error {
	if errors.Is(err, broker.ErrUnroutable) {
		return fmt.Errorf("dispatch to %s: %w: no runway; start a worker that declares the gate first", scope, ErrNotFound)
	}
	return fmt.Errorf("dispatch to %s: %w", scope, classed(err))
}

func (g *Governor) outgoing(gate wire.Scope, o Outgoing) (broker.Publishing, error) {
	if err := wire.CheckBusinessID(o.BusinessID); err != nil {
		return broker.Publishing{}, fmt.Errorf("%w: %w", ErrName, err)
	}
	f := wire.Flight{ID: o.FlightID, Scope: gate, BusinessID: o.BusinessID, Seat: wire.NoSeat}
	if f.ID == "" {
		f.ID = newFlightID()
	} else if err := wire.CheckFlightID(f.ID); err != nil {
		return broker.Publishing{}, fmt.Errorf("%w: %w", ErrName, err)
	}
	f.Msg = wire.Message{ContentType: or(o.ContentType, "application/octet-stream"), Headers: o.Headers, Body: o.Payload,
		Timestamp: time.Now().UTC().Truncate(time.Second)}
	return broker.Publishing{Exchange: g.ns.RunwayExchange(), Key: gate.String(), Message: f.Message()}, nil
}

// DispatchResult counts a bulk dispatch.
type DispatchResult struct {
	Sent   int // confirmed
	Failed int // not confirmed: they may or may not be on the runway
}

// dispatchBatch is how many publishes are outstanding in a bulk dispatch.
const dispatchBatch = 1000

// DispatchAll sends many flights to a gate, pipelined, each confirmed. It ends at
// the first error, of the sequence or of the broker, and says how many were sent:
// ErrPartial when some were. Where the sequence ends with an error, and the broker had one
// with what came before, the class is the broker's: something was tried. When ctx ends no
// more is sent, and what is on its way is waited for, ten seconds at most: the rest of the
// sequence can then be sent by itself.
func (g *Governor) DispatchAll(ctx context.Context, gate string, flights iter.Seq2[Outgoing, error]) (DispatchResult, error) {
	var res DispatchResult
	scope, err := wire.ParseGate(gate)
	if err != nil {
		return res, err
	}
	through, stop := outlive(ctx, answerTime)
	defer stop()
	type answer struct {
		errs []error
		n    int
	}
	// Two batches in flight: one is confirmed while the next is made.
	var batch []broker.Publishing
	var outstanding chan answer
	var first, source error // the broker's and the sequence's
	note := func(err error) {
		if first == nil && err != nil {
			first = err
		}
	}
	settle := func() {
		if outstanding == nil {
			return
		}
		a := <-outstanding
		outstanding = nil
		for _, err := range a.errs {
			if err == nil {
				res.Sent++
			} else {
				res.Failed++
				note(dispatchError(scope, err))
			}
		}
	}
	send := func() {
		if len(batch) == 0 {
			return
		}
		msgs := batch
		batch = nil
		c := make(chan answer, 1)
		go func() { c <- answer{g.bk.Publish(through, msgs), len(msgs)} }()
		settle()
		outstanding = c
	}
	for o, err := range flights {
		if err != nil {
			source = err
			break
		}
		p, err := g.outgoing(scope, o)
		if err != nil {
			source = fmt.Errorf("dispatch to %s: flight %d: %w", scope, res.Sent+res.Failed+len(batch)+1, err)
			break
		}
		if ctx.Err() != nil {
			break
		}
		if batch = append(batch, p); len(batch) == dispatchBatch {
			send()
		}
		if first != nil {
			break
		}
	}
	if ctx.Err() == nil {
		send()
	}
	settle()
	switch {
	case first == nil:
		first = or(source, ctx.Err())
	case source != nil && ctx.Err() != nil:
		first = fmt.Errorf("%w; %w", source, first)
	case source != nil:
		first = fmt.Errorf("%w; and the flights to send ended with: %v", first, source)
	}
	if first != nil && res.Sent > 0 {
		return res, fmt.Errorf("%w: %d sent, %d not confirmed: %w", ErrPartial, res.Sent, res.Failed, first)
	}
	return res, first
}

// AuditDispatchBegun notes in the audit that an operator begins to dispatch, before the
// first flight is sent, so that a dispatch that is killed stands there too. ErrNotFound:
// the store knows no such gate, and nothing is noted.
func (g *Governor) AuditDispatchBegun(ctx context.Context, gate string) error {
	scope, err := wire.ParseGate(gate)
	if err != nil {
		return err
	}
	gates, _, err := g.st.GatesOf(ctx, scope.Airport)
	if err != nil {
		return classed(err)
	}
	if !slices.Contains(gates, scope.Gate) {
		return fmt.Errorf("gate %s: %w in namespace %s", scope, ErrNotFound, g.ns)
	}
	return classed(g.st.AddAudit(ctx, scope.Airport, wire.AuditEntry{Actor: g.actor(""), Action: "dispatch", Scope: scope.String(), Result: "begun"}))
}

// AuditDispatch notes in the audit what an operator has dispatched, and how it ended:
// nil for well. DispatchAll itself notes nothing: applications dispatch with it all day
// long. It needs the store; what was dispatched stands whether or not it is noted.
func (g *Governor) AuditDispatch(ctx context.Context, gate string, r DispatchResult, ended error) error {
	scope, err := wire.ParseGate(gate)
	if err != nil {
		return err
	}
	result := "ok"
	if ended != nil {
		result = "ended early: " + wire.CleanEvidence(ended.Error())
	}
	return classed(g.st.AddAudit(ctx, scope.Airport, wire.AuditEntry{Actor: g.actor(""), Action: "dispatch", Scope: scope.String(), Result: result, Count: r.Sent}))
}
