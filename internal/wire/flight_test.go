package wire_test

import (
	"bytes"
	"errors"
	"maps"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/settle"
)

var gate = wire.Scope{Airport: "crm:acme", Gate: "company-sync"}

const flightID = "01890a5d-ac96-774b-bcce-b302099a8057"

func fullFlight() wire.Flight {
	return wire.Flight{
		ID: flightID, Scope: gate, BusinessID: "company 17/β", Idempotency: "8c5a5c1d", Charter: "run-1", Seat: 0,
		Holds: settle.Holds{Transient: 2, Internal: 1}, HoldReason: "transient", Replays: 3, Deaths: []string{"w1#a", "w2#b"},
		ParkedReason: settle.ReasonHoldBudget, Evidence: "503 | try later",
		ParkedAt: time.Date(2026, 3, 1, 2, 0, 0, 0, time.UTC), Worker: "host-1",
		Msg: wire.Message{
			ID: flightID, Type: wire.FlightType, ContentType: "application/json", ContentEncoding: "gzip",
			CorrelationID: "c", ReplyTo: "r", AppID: "app", Priority: 4, Timestamp: time.Unix(1_700_000_000, 0).UTC(),
			Expiration: "60000", UserID: "guest",
			Headers: map[string]any{
				"traceparent": "00-aa-bb-01", "x-vendor": int32(7), "tr-future": true, "nested": map[string]any{"a": []any{int64(1)}},
				"x-death": []any{map[string]any{"count": int64(9)}}, "x-first-death-queue": "q", "x-first-death-reason": "expired",
				"x-last-death-exchange": "e", "x-delivery-count": int64(3), "CC": []any{"k1"}, "BCC": []any{"k2"},
			},
			Body: []byte("{\"a\":1}\x00\xff"),
		},
	}
}

func TestFlightRoundTrip(t *testing.T) {
	f := fullFlight()
	before := maps.Clone(f.Msg.Headers)
	m := f.Message()
	if !reflect.DeepEqual(f.Msg.Headers, before) || f.Msg.Expiration != "60000" {
		t.Error("writing changed the message it came in")
	}
	want := map[string]any{
		"traceparent": "00-aa-bb-01", "x-vendor": int32(7), "tr-future": true, "nested": map[string]any{"a": []any{int64(1)}},
		"tr-original-expiration": "60000", "tr-original-user-id": "guest",
		"tr-original-cc": []any{"k1"}, "tr-original-bcc": []any{"k2"},
		"tr-scope": "crm:acme/company-sync", "tr-business-id": "company 17/β", "tr-idempotency-key": "8c5a5c1d", "tr-charter": "run-1", "tr-seat": int64(0),
		"tr-holds": "transient=2,internal=1", "tr-hold-reason": "transient", "tr-replays": int64(3), "tr-deaths": "w1#a,w2#b",
		"tr-parked-reason": "HOLD_BUDGET", "tr-evidence": "503 | try later", "tr-parked-at": "2026-03-01T02:00:00Z", "tr-worker": "host-1",
	}
	if !reflect.DeepEqual(m.Headers, want) {
		t.Errorf("headers\n got %v\nwant %v", m.Headers, want)
	}
	if m.Expiration != "" || m.UserID != "" {
		t.Errorf("expiration %q and user id %q would bite", m.Expiration, m.UserID)
	}
	if !bytes.Equal(m.Body, f.Msg.Body) || m.ContentType != "application/json" || m.ContentEncoding != "gzip" ||
		m.CorrelationID != "c" || m.ReplyTo != "r" || m.AppID != "app" || m.Priority != 4 || !m.Timestamp.Equal(f.Msg.Timestamp) {
		t.Errorf("a property or the body changed: %+v", m)
	}
	back, err := wire.ParseFlight(m, gate, len(m.Body))
	if err != nil {
		t.Fatal(err)
	}
	f.Msg, back.Msg = wire.Message{}, wire.Message{}
	if !reflect.DeepEqual(back, f) {
		t.Errorf("read back\n got %+v\nwant %+v", back, f)
	}
	// What came through once is written the same again.
	again, _ := wire.ParseFlight(m, gate, 0)
	if twice := again.Message(); !reflect.DeepEqual(twice, m) {
		t.Errorf("second writing\n got %+v\nwant %+v", twice, m)
	}
}

// A plain payload becomes a flight with its own type, id and scope, and no more.
func TestFlightFromPlainMessage(t *testing.T) {
	plain := wire.Message{ID: "theirs", Type: "invoice", Headers: nil, Body: []byte("x")}
	if plain.IsFlight() {
		t.Error("an invoice is a flight")
	}
	f := wire.Flight{ID: flightID, Scope: gate, Seat: wire.NoSeat, Msg: plain}
	m := f.Message()
	if !m.IsFlight() || m.ID != flightID || !reflect.DeepEqual(m.Headers, map[string]any{"tr-scope": gate.String()}) {
		t.Errorf("written as %+v", m)
	}
	if got, err := wire.ParseFlight(m, gate, 0); err != nil || got.Seat != wire.NoSeat || got.Record() != flightID {
		t.Errorf("read as %+v, %v", got, err)
	}
}

// What was taken over goes back as it came; a flight that was dispatched stays one.
func TestOriginal(t *testing.T) {
	f := fullFlight()
	f.Msg.UserID, f.Msg.Expiration = "", ""
	f.Msg.Headers = map[string]any{"x-vendor": int32(7), wire.HeaderAdoptedFrom: "q",
		wire.HeaderOriginalMessageID: "theirs", wire.HeaderOriginalType: "invoice", wire.HeaderOriginalExpiration: "60000"}
	was := f.Message()
	m := was.Original()
	if m.ID != "theirs" || m.Type != "invoice" || !bytes.Equal(m.Body, f.Msg.Body) ||
		!reflect.DeepEqual(m.Headers, map[string]any{"x-vendor": int32(7), "tr-original-expiration": "60000"}) {
		t.Errorf("goes back as %+v", m)
	}
	if !reflect.DeepEqual(was, f.Message()) {
		t.Error("the message was changed")
	}
	delete(was.Headers, wire.HeaderAdoptedFrom)
	if m := was.Original(); m.ID != flightID || m.Type != wire.FlightType || m.Headers[wire.HeaderScope] != gate.String() {
		t.Errorf("a flight that was dispatched goes as %+v", m)
	}
}

func TestRecordIsTheBusinessID(t *testing.T) {
	f := fullFlight()
	if f.Record() != "company 17/β" {
		t.Errorf("record %q", f.Record())
	}
}

// A replay clears what the last try left.
func TestMessageDropsEmptyFields(t *testing.T) {
	f, err := wire.ParseFlight(ptr(fullFlight()).Message(), gate, 0)
	if err != nil {
		t.Fatal(err)
	}
	f.Holds, f.HoldReason, f.Deaths, f.ParkedReason, f.Evidence, f.ParkedAt, f.Worker = settle.Holds{}, "", nil, "", "", time.Time{}, ""
	m := f.Message()
	for _, h := range []string{"tr-holds", "tr-hold-reason", "tr-deaths", "tr-parked-reason", "tr-evidence", "tr-parked-at", "tr-worker"} {
		if v, ok := m.Headers[h]; ok {
			t.Errorf("%s is still %v", h, v)
		}
	}
}

func ptr(f wire.Flight) *wire.Flight { return &f }

// Each header of Traction's own that cannot be read is MALFORMED, never its
// default, and the error names it.
func TestParseFlightRefuses(t *testing.T) {
	cases := map[string][]any{
		wire.HeaderScope:        {"crm:acme/other", "crm:acme", "\x1b[2J", "crm:acme/company-sync\n", strings.Repeat("a", 300), "\xff", int64(1), nil, true, []any{"crm:acme/company-sync"}},
		wire.HeaderBusinessID:   {strings.Repeat("b", 256), "\xff\xfe", int32(17), nil, 1.5, []byte("x"), map[string]any{}},
		wire.HeaderIdempotency:  {strings.Repeat("k", 256), "\xff", int32(17), nil},
		wire.HeaderSeat:         {"", "x", "-1", "1.5", int64(-1), int64(1) << 40, uint32(1 << 31), 1.0, nil, true, time.Now(), "99999999999999999999"},
		wire.HeaderHolds:        {"transient", "transient=x", "transient=-1", "vendor=1", int64(2), nil, strings.Repeat("transient=1,", 50)},
		wire.HeaderHoldReason:   {int64(1), nil, strings.Repeat("x", 256)},
		wire.HeaderReplays:      {"", "many", int64(-1), 2.0, nil, "1e3"},
		wire.HeaderDeaths:       {"w1,,w2", ",", "w1,", int64(2), nil, []any{"w1"}, strings.Repeat("w", 5000)},
		wire.HeaderParkedReason: {int64(1), strings.Repeat("R", 65), nil},
		wire.HeaderEvidence:     {strings.Repeat("e", 1<<20), "\xff", int64(1), nil},
		wire.HeaderParkedAt:     {"yesterday", "2026-03-01", int64(1_700_000_000), time.Now(), nil},
		wire.HeaderWorker:       {strings.Repeat("w", 256), int64(1), nil},
	}
	for _, e := range evilNames {
		if e != "" { // an empty run is no run
			cases[wire.HeaderCharter] = append(cases[wire.HeaderCharter], e)
		}
	}
	cases[wire.HeaderCharter] = append(cases[wire.HeaderCharter], "a/b", int64(1), nil)
	for header, values := range cases {
		for _, v := range values {
			m := ptr(fullFlight()).Message()
			m.Headers[header] = v
			f, err := wire.ParseFlight(m, gate, 0)
			var bad *wire.MalformedError
			if !errors.As(err, &bad) || !errors.Is(err, wire.ErrMalformed) || bad.What != header {
				t.Errorf("%s = %.80q: %v", header, v, err)
				continue
			}
			checkMessage(t, err)
			if f.ID != flightID || f.Scope != gate {
				t.Errorf("%s = %.80q: the flight lost its name: %q, %s", header, v, f.ID, f.Scope)
			}
			f.ParkedReason, f.Evidence = settle.ReasonMalformed, err.Error()
			checkParkedCopy(t, m, f, header)
		}
	}
}

// A parked copy keeps what could not be read of what the flight is. Without it a
// replay would fly the flight as something else.
func checkParkedCopy(t *testing.T, m wire.Message, f wire.Flight, header string) {
	t.Helper()
	parked := f.Message()
	switch header {
	case wire.HeaderScope, wire.HeaderBusinessID, wire.HeaderIdempotency, wire.HeaderCharter, wire.HeaderSeat, wire.HeaderDeaths:
		if got, ok := parked.Headers[header]; !ok || !reflect.DeepEqual(got, m.Headers[header]) {
			t.Errorf("%s: parked with %.80q, came with %.80q", header, got, m.Headers[header])
		}
		if _, err := wire.ParseFlight(parked, gate, 0); !errors.Is(err, wire.ErrMalformed) {
			t.Errorf("%s: the parked copy of %.80q reads as sound", header, m.Headers[header])
		}
	}
	if parked.Headers[wire.HeaderParkedReason] != "MALFORMED" {
		t.Errorf("%s: parked as %v", header, parked.Headers[wire.HeaderParkedReason])
	}
}

func TestCharterAndSeatGoTogether(t *testing.T) {
	for _, drop := range []string{wire.HeaderCharter, wire.HeaderSeat} {
		m := ptr(fullFlight()).Message()
		delete(m.Headers, drop)
		f, err := wire.ParseFlight(m, gate, 0)
		if !errors.Is(err, wire.ErrMalformed) {
			t.Errorf("without %s: %v", drop, err)
		}
		if _, err := wire.ParseFlight(f.Message(), gate, 0); !errors.Is(err, wire.ErrMalformed) {
			t.Errorf("without %s, written again: %v", drop, err)
		}
	}
}

func TestParseFlightLimitsThePayload(t *testing.T) {
	m := ptr(fullFlight()).Message()
	m.Body = make([]byte, 101)
	if _, err := wire.ParseFlight(m, gate, 101); err != nil {
		t.Errorf("at the limit: %v", err)
	}
	if _, err := wire.ParseFlight(m, gate, 100); !errors.Is(err, wire.ErrMalformed) {
		t.Errorf("over the limit: %v", err)
	}
	m.Body = nil
	if _, err := wire.ParseFlight(m, gate, 100); err != nil {
		t.Errorf("empty: %v", err)
	}
}

// Numbers arrive in whatever integer type their writer's library chose.
func TestNumbersOfAnyType(t *testing.T) {
	for _, v := range []any{7, int8(7), int16(7), int32(7), int64(7), uint8(7), uint16(7), uint32(7), "7"} {
		m := ptr(fullFlight()).Message()
		m.Headers[wire.HeaderSeat], m.Headers[wire.HeaderReplays] = v, v
		if f, err := wire.ParseFlight(m, gate, 0); err != nil || f.Seat != 7 || f.Replays != 7 {
			t.Errorf("%T: seat %d, replays %d, %v", v, f.Seat, f.Replays, err)
		}
	}
}

func TestFlightIDs(t *testing.T) {
	for _, id := range []string{flightID, "a", "order/17*#", strings.Repeat("x", 255), "~!@$%^&()"} {
		if err := wire.CheckFlightID(id); err != nil {
			t.Errorf("CheckFlightID(%q): %v", id, err)
		}
	}
	for _, id := range []string{"", " ", "a b", "a,b", "a\nb", "\x1b[2J", "\u202eabc", "abc\u200f", "ä", "a\x7f", "a\xff", strings.Repeat("x", 256), strings.Repeat("x", 300)} {
		if err := wire.CheckFlightID(id); !errors.Is(err, wire.ErrMalformed) {
			t.Errorf("CheckFlightID(%q): %v", id, err)
		}
		m := ptr(fullFlight()).Message()
		m.ID = id
		if f, err := wire.ParseFlight(m, gate, 0); !errors.Is(err, wire.ErrMalformed) || f.BusinessID == "" {
			t.Errorf("id %q: %+v, %v", id, f, err)
		}
	}
}

func TestBusinessIDs(t *testing.T) {
	for _, id := range []string{"", "a b/c*#", "line\nbreak", "\x1b[2J", "\u202e", strings.Repeat("x", 255)} {
		if err := wire.CheckBusinessID(id); err != nil {
			t.Errorf("CheckBusinessID(%q): %v", id, err)
		}
	}
	for _, id := range []string{strings.Repeat("x", 256), "a\xff"} {
		if err := wire.CheckBusinessID(id); err == nil {
			t.Errorf("CheckBusinessID(%q) passes", id)
		}
	}
}

func FuzzParseFlight(f *testing.F) {
	f.Add(flightID, "crm:acme/company-sync", "b", "run-1", int64(3), "transient=1", "w1,w2", "2026-03-01T02:00:00Z", uint8(0))
	f.Add("", "x", "\xff", "a/b", int64(-1), "transient=-1", ",", "now", uint8(0xff))
	f.Add("id", "", "", "", int64(1)<<40, "", "", "", uint8(0x55))
	f.Fuzz(func(t *testing.T, id, scope, business, charter string, seat int64, holds, deaths, at string, odd uint8) {
		h := map[string]any{"x-theirs": "kept"}
		for i, name := range []string{wire.HeaderScope, wire.HeaderBusinessID, wire.HeaderCharter, wire.HeaderHolds, wire.HeaderDeaths, wire.HeaderParkedAt} {
			v := []string{scope, business, charter, holds, deaths, at}[i]
			switch {
			case odd>>i&1 == 1 && v == "":
				h[name] = nil
			case odd>>i&1 == 1:
				h[name] = int64(len(v))
			case v != "":
				h[name] = v
			}
		}
		if odd&0x40 == 0 {
			h[wire.HeaderSeat] = seat
		}
		m := wire.Message{ID: id, Type: wire.FlightType, Headers: h}
		got, err := wire.ParseFlight(m, gate, 0)
		if err != nil {
			if !errors.Is(err, wire.ErrMalformed) {
				t.Fatalf("an error of no class: %v", err)
			}
			checkVisible(t, err.Error())
		}
		if got.Scope != gate || got.Seat < wire.NoSeat || got.Holds.Transient < 0 || got.Holds.Internal < 0 {
			t.Fatalf("read as %+v", got)
		}
		out := got.Message()
		if out.Headers["x-theirs"] != "kept" {
			t.Fatal("a foreign header is gone")
		}
		back, again := wire.ParseFlight(out, gate, 0)
		if err != nil {
			return
		}
		if again != nil {
			t.Fatalf("sound once, then %v", again)
		}
		got.Msg, back.Msg = wire.Message{}, wire.Message{}
		got.ParkedAt, back.ParkedAt = got.ParkedAt.UTC().Truncate(time.Second), back.ParkedAt.UTC()
		if !reflect.DeepEqual(got, back) {
			t.Fatalf("round trip\n got %+v\nwant %+v", back, got)
		}
	})
}
