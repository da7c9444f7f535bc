package httppilot

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/governor"
)

// maxBatchAnswer is the most of an answer to a batch that is read: it may tell
// something of each flight.
const maxBatchAnswer = 16 << 20

// Batch makes one HTTP call for several flights: the body is a JSON array of their
// payloads, byte for byte, in order.
//
// A success that is not a JSON array lands them all. One that is tells how each went,
// in the same order: a number is a status, an object has one at "status". A flight
// that the array does not reach, or whose item says no status, is unreported, which is
// INTERNAL; so are all of them where the array is longer than the batch, since then
// it is not known which item is whose. Any other answer is the whole call's.
type Batch struct{ p *Pilot }

var (
	_ governor.BatchPilot = Batch{}
	_ governor.Checker    = Batch{}
)

// Batch gives the pilot that makes one call for several flights, over the same
// connections.
func (p *Pilot) Batch() Batch { return Batch{p} }

// Check refuses a payload that is not JSON: it would spoil the array for the others.
func (b Batch) Check(payload []byte) error {
	if !utf8.Valid(payload) || !json.Valid(payload) {
		return errors.New("the payload is not JSON in UTF-8, and a batch is a JSON array of payloads")
	}
	return nil
}

// FlyBatch makes the call. See the package comment for its errors.
func (b Batch) FlyBatch(ctx context.Context, flights []governor.Flight[[]byte]) error {
	p := b.p
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, p.spec.Method, p.spec.URL, bytes.NewReader(array(flights)))
	if err != nil {
		return fmt.Errorf("cannot make a request for %s: check the gate's method and url", p.host)
	}
	secrets := p.setHeaders(req, whole(flights))
	req.Header.Del("Traction-Flight")
	req.Header.Set("Traction-Flights", names(flights))
	res, err := p.client.Do(req)
	if err != nil {
		return p.callError(ctx, err, secrets)
	}
	defer res.Body.Close()
	if res.StatusCode < 200 || res.StatusCode > 299 {
		return p.read(res, cancel, secrets)
	}
	body, err := readAll(res.Body, maxBatchAnswer)
	if err != nil {
		return p.callError(ctx, fmt.Errorf("reading the answer %d: %w", res.StatusCode, err), secrets)
	}
	if items, err := readItems(body); items != nil || err != nil {
		return p.perFlight(flights, items, err, secrets)
	}
	if p.spec.KeepBody || p.spec.KeepStatus != nil && p.spec.KeepStatus(res.StatusCode) {
		return newAnswer(res, body, secrets)
	}
	return nil
}

// array writes the payloads as one JSON array.
func array(flights []governor.Flight[[]byte]) []byte {
	size := 2
	for _, f := range flights {
		size += len(f.Payload) + 1
	}
	out := append(make([]byte, 0, size), '[')
	for i, f := range flights {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, f.Payload...)
	}
	return append(out, ']')
}

// whole is what is known of the call: its idempotency key is one of the flights' keys
// together, so that the same flights in the same order have the same one.
func whole(flights []governor.Flight[[]byte]) governor.Meta {
	m := governor.Meta{Deadline: flights[0].Deadline, ContentType: "application/json"}
	h := sha256.New()
	for _, f := range flights {
		m.Attempt = max(m.Attempt, f.Attempt)
		_, _ = fmt.Fprintln(h, f.Key) // a hash takes whatever it is given
	}
	m.Key = "batch-" + hex.EncodeToString(h.Sum(nil)[:16])
	return m
}

// names lists the flights' idempotency keys in the order of the array.
func names(flights []governor.Flight[[]byte]) string {
	keys := make([]string, len(flights))
	for i, f := range flights {
		keys[i] = strings.ReplaceAll(encode(f.Key), ",", "%2C")
	}
	return strings.Join(keys, ",")
}

// readItems reads an answer that begins like an array; nil and nil for any other. One
// that does not end like one reports nothing, and the error says so.
func readItems(body []byte) ([]json.RawMessage, error) {
	b := bytes.TrimSpace(body)
	if len(b) == 0 || b[0] != '[' {
		return nil, nil
	}
	items := []json.RawMessage{}
	if err := json.Unmarshal(b, &items); err != nil {
		if len(body) == maxBatchAnswer {
			err = fmt.Errorf("it is longer than %d MiB", maxBatchAnswer>>20)
		}
		return nil, fmt.Errorf("the answer begins like an array and is none: %w", err)
	}
	return items, nil
}

// perFlight makes of the answer's items how each flight went.
func (p *Pilot) perFlight(flights []governor.Flight[[]byte], items []json.RawMessage, broken error, secrets []string) error {
	out := &governor.BatchError{Flights: map[string]error{}, Rest: broken}
	if len(items) != len(flights) && broken == nil {
		out.Rest = fmt.Errorf("the answer has %d items for a batch of %d", len(items), len(flights))
	}
	if len(items) > len(flights) {
		return out
	}
	for i, raw := range items {
		code, ok := itemStatus(raw)
		if !ok {
			out.Rest = fmt.Errorf("item %d of the answer has no status: %s", i+1, wire.CleanEvidence(excerpt(raw), secrets...))
			continue
		}
		plain := !p.spec.KeepBody && (p.spec.KeepStatus == nil || !p.spec.KeepStatus(code))
		if code >= 200 && code < 300 && plain {
			out.Flights[flights[i].ID] = nil
			continue
		}
		out.Flights[flights[i].ID] = &Answer{
			Status: &governor.StatusError{Code: code, Body: wire.CleanEvidence(string(raw), secrets...)},
			body:   raw,
		}
	}
	return out
}

// excerpt is the beginning of an item. Secrets are masked after it is cut; a half of one
// may stay, so it is cut far behind what evidence keeps.
func excerpt(raw json.RawMessage) string { return string(raw[:min(len(raw), 4<<10)]) }

func itemStatus(raw json.RawMessage) (int, bool) {
	var code int
	if json.Unmarshal(raw, &code) != nil {
		var item struct{ Status int }
		if json.Unmarshal(raw, &item) != nil {
			return 0, false
		}
		code = item.Status
	}
	return code, code >= 100 && code <= 599
}
