package backup_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/traction-go/traction/internal/backup"
	"github.com/traction-go/traction/internal/broker"
	"github.com/traction-go/traction/internal/wire"
)

var taken = time.Date(2026, 3, 4, 2, 25, 9, 0, time.UTC)

// messages have each type of AMQP value, and text that is no UTF-8.
func messages() []wire.Message {
	return []wire.Message{
		{ID: "f1", Type: wire.FlightType, ContentType: "application/json", ContentEncoding: "gzip", CorrelationID: "c", ReplyTo: "r", AppID: "a",
			Priority: 9, Timestamp: time.Unix(1772590269, 0).UTC(), Expiration: "60000", UserID: "guest", Body: []byte(`{"id":1}`),
			Headers: map[string]any{
				"void": nil, "bool": true, "i8": int8(-8), "u8": uint8(8), "i16": int16(-16), "u16": uint16(16), "i32": int32(-32),
				"u32": uint32(32), "i64": int64(math.MinInt64), "f32": float32(0.1), "f64": math.Inf(-1), "s": "grün\u2028<&>", "bad": "\xff\xfe\x00",
				"\xffkey": "x", "bytes": []byte{0, 255}, "time": time.Unix(1, 0).UTC(), "dec": broker.Decimal{Scale: 2, Value: -314},
				"table": map[string]any{"list": []any{int64(1), "x", map[string]any{}, []any{}, nil}},
			}},
		{ID: "\xff", Body: []byte{}},
		{Body: bytes.Repeat([]byte{0, 1, 2, 255}, 300_000)},
	}
}

func file(t testing.TB, msgs []wire.Message) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := backup.NewWriter(&b, backup.Header{ID: "id-1", Queue: "q\xff", TakenAt: taken})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range msgs {
		if err := w.Add(m); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if w.Bytes() != int64(b.Len()) || w.Count() != len(msgs) {
		t.Fatalf("%d bytes of %d, %d messages", w.Bytes(), b.Len(), w.Count())
	}
	return b.Bytes()
}

func read(b []byte) (msgs []wire.Message, err error) {
	r, err := backup.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	for {
		m, err := r.Next()
		if errors.Is(err, io.EOF) {
			return msgs, nil
		}
		if err != nil {
			return msgs, err
		}
		msgs = append(msgs, m)
	}
}

func TestEveryValueComesBack(t *testing.T) {
	b := file(t, messages())
	got, err := read(b)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range messages() {
		if !reflect.DeepEqual(got[i], want) {
			t.Errorf("message %d:\n%+v\n%+v", i+1, got[i], want)
		}
	}
	h, n, err := backup.Verify(bytes.NewReader(b))
	if err != nil || n != 3 || h != (backup.Header{ID: "id-1", Queue: "q\xff", TakenAt: taken}) {
		t.Errorf("%+v %d %v", h, n, err)
	}
	if got, err := read(file(t, nil)); err != nil || len(got) != 0 {
		t.Errorf("an empty backup: %v %v", got, err)
	}
	if !bytes.Equal(file(t, messages()), b) {
		t.Error("the same messages are not the same bytes")
	}
}

// A file that was changed in any one byte, or cut anywhere, is refused.
func TestNoDamageGoesUnseen(t *testing.T) {
	good := file(t, messages()[:2])
	for i := range good {
		bad := bytes.Clone(good)
		bad[i] ^= 0x20
		if _, err := read(bad); !errors.Is(err, backup.ErrCorrupt) {
			t.Fatalf("byte %d changed from %q to %q: %v", i, good[i], bad[i], err)
		}
		if _, err := read(good[:i]); !errors.Is(err, backup.ErrCorrupt) {
			t.Fatalf("cut at %d: %v", i, err)
		}
	}
	if _, err := read(append(bytes.Clone(good), 'x')); !errors.Is(err, backup.ErrCorrupt) {
		t.Fatalf("more behind the trailer: %v", err)
	}
}

func TestDamageIsNamed(t *testing.T) {
	var msgs []wire.Message
	for i := range 5 {
		msgs = append(msgs, wire.Message{ID: fmt.Sprint(i), Body: []byte("payload")})
	}
	lines := strings.SplitAfter(string(file(t, msgs)), "\n")
	for name, c := range map[string]struct {
		record int
		lines  []string
	}{
		"changed":    {3, []string{lines[0], lines[1], lines[2], strings.Replace(lines[3], `"id":"2"`, `"id":"3"`, 1), lines[4], lines[5], lines[6]}},
		"missing":    {2, []string{lines[0], lines[1], lines[3], lines[4], lines[5], lines[6]}},
		"twice":      {3, []string{lines[0], lines[1], lines[2], lines[2], lines[3], lines[4], lines[5], lines[6]}},
		"no trailer": {6, lines[:6]},
	} {
		_, err := read([]byte(strings.Join(c.lines, "")))
		var at *backup.CorruptError
		if !errors.As(err, &at) || at.Record != c.record {
			t.Errorf("%s: %v, want record %d", name, err, c.record)
		}
	}
}

func TestAnUnknownTypeIsAnErrorNotAGap(t *testing.T) {
	w, err := backup.NewWriter(io.Discard, backup.Header{ID: "x"})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Add(wire.Message{Headers: map[string]any{"h": struct{}{}}}); err == nil || w.Count() != 0 {
		t.Errorf("%v, %d messages", err, w.Count())
	}
	deep := any("x")
	for range 200 {
		deep = map[string]any{"d": deep}
	}
	if err := w.Add(wire.Message{Headers: map[string]any{"h": deep}}); err == nil {
		t.Error("headers of any depth were taken")
	}
}

func TestFileAppearsWhole(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "q.backup")
	f, err := backup.Create(path, backup.Header{ID: "x", TakenAt: taken})
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Add(messages()[0]); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("before the commit: %v", err)
	}
	if err := f.Commit(); err != nil {
		t.Fatal(err)
	}
	st, err := os.Stat(path)
	if err != nil || st.Mode().Perm() != 0o600 {
		t.Fatalf("%v %v", st, err)
	}
	if _, err := backup.Create(path, backup.Header{}); !errors.Is(err, backup.ErrExists) {
		t.Errorf("%v, want it refused", err)
	}
	g, err := backup.Create(filepath.Join(dir, "other"), backup.Header{ID: "y"})
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Abandon(); err != nil {
		t.Fatal(err)
	}
	late, err := backup.Create(filepath.Join(dir, "late"), backup.Header{ID: "z"})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "late"), []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := late.Commit(); !errors.Is(err, backup.ErrExists) {
		t.Errorf("%v, want it refused", err)
	}
	if left, err := filepath.Glob(filepath.Join(dir, ".*")); err != nil || len(left) != 0 {
		t.Errorf("left over: %v %v", left, err)
	}
}

// FuzzReader: no text makes the reader panic, and what it takes for a whole file is
// the same when it is written again.
func FuzzReader(f *testing.F) {
	f.Add(file(f, messages()[:2]))
	f.Add(file(f, nil))
	f.Add([]byte(`{"traction_backup":1,"id":"x","queue":{"b64":"/w=="},"taken_at":"2026-03-04T02:25:09Z"}` + "\n" + `{"end":true}` + "\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := backup.NewReader(bytes.NewReader(b))
		if err != nil {
			if !errors.Is(err, backup.ErrCorrupt) {
				t.Fatalf("%v", err)
			}
			return
		}
		var again bytes.Buffer
		w, err := backup.NewWriter(&again, r.Header())
		if err != nil {
			t.Fatal(err)
		}
		for {
			m, err := r.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				if !errors.Is(err, backup.ErrCorrupt) {
					t.Fatalf("%v", err)
				}
				return
			}
			if err := w.Add(m); err != nil {
				t.Fatalf("what was read cannot be written: %v", err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if _, n, err := backup.Verify(&again); err != nil || n != r.Count() {
			t.Fatalf("%d of %d records: %v", n, r.Count(), err)
		}
	})
}
