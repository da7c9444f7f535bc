package top

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/traction-go/traction/internal/cli/clitest"
)

func options(f *fake) Options {
	return Options{Reader: f, Verbs: f, Namespace: "tr", Now: func() time.Time { return clitest.Now }}
}

func TestOnce(t *testing.T) {
	var out bytes.Buffer
	if err := Once(t.Context(), options(newFake()), &out, 0); err != nil {
		t.Fatal(err)
	}
	clitest.Golden(t, "once.txt", out.Bytes())
	if n := strings.Count(out.String(), "\n"); n != 7 {
		t.Errorf("%d lines, want a line for each airport and three", n)
	}
	out.Reset()
	if err := Once(t.Context(), options(newFake()), &out, 80); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(out.String()) {
		if n := cells.StringWidth(strings.TrimSuffix(line, "\n")); n > 80 {
			t.Errorf("%d cells on a terminal of 80: %q", n, line)
		}
	}
}

func TestOnceFailsWithTheReading(t *testing.T) {
	f := newFake()
	f.fails(errAway)
	var out bytes.Buffer
	if err := Once(t.Context(), options(f), &out, 0); !errors.Is(err, errAway) || out.Len() > 0 {
		t.Errorf("got %v and %q", err, out.String())
	}
}

func TestFramesGoOnThroughAnOutageAndEndWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		f.pace = 7
		why := errors.New("enough")
		ctx, cancel := context.WithCancelCause(t.Context())
		defer cancel(nil)
		o := options(f)
		o.Now = time.Now
		var out lines
		ended := make(chan error)
		go func() { ended <- Frames(ctx, o, &out, 0) }()
		at := func(d time.Duration) string {
			time.Sleep(d) // of the bubble
			synctest.Wait()
			return out.last()
		}
		if got := at(3500 * time.Millisecond); !strings.Contains(got, "read 0s ago") || !strings.Contains(got, "7.0") {
			t.Errorf("after three ticks:\n%s", got)
		}
		f.fails(errAway)
		if got := at(4 * time.Second); !strings.Contains(got, "STALE 4s") || !strings.Contains(got, "crm:acme") {
			t.Errorf("in the outage:\n%s", got)
		}
		f.fails(nil)
		if got := at(time.Second); strings.Contains(got, "STALE") {
			t.Errorf("after the outage:\n%s", got)
		}
		if n := len(out.frames); n != 9 {
			t.Errorf("%d frames in 8.5 s, want one at the beginning and one a second", n)
		}
		cancel(why)
		if err := <-ended; !errors.Is(err, why) {
			t.Errorf("ended with %v", err)
		}
	})
}

// lines keeps frames as they are written.
type lines struct{ frames []string }

func (l *lines) Write(p []byte) (int, error) {
	l.frames = append(l.frames, string(p))
	return len(p), nil
}

func (l *lines) last() string { return l.frames[len(l.frames)-1] }

func TestAFrameThatCannotBeWrittenIsAnError(t *testing.T) {
	if err := Frames(t.Context(), options(newFake()), full{}, 0); !errors.Is(err, errFull) {
		t.Errorf("got %v", err)
	}
}

var errFull = errors.New("no space")

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }

func TestAThousandAirports(t *testing.T) {
	f := newFake()
	f.airports = many(1000)
	b := settled(t, f, 80, 24)
	b.shows("[airports]  1,000", "vendor-0007:eu")
	b.keys("end")
	b.shows("› vendor-0")
	b.fits(80, 24)
	b.keys("home", "/", "0999")
	b.shows(fmt.Sprintf("1  by state  of 1,000 with %q", "0999"), "› vendor-0999:eu")
	drawn := 0
	l := &b.m.screen().page().list
	b.keys("esc")
	for i := range l.shown {
		draw := l.shown[i].cells
		l.shown[i].cells = func(e eye) []cell { drawn++; return draw(e) }
	}
	b.view()
	if drawn != b.m.rows() {
		t.Errorf("a view of %d rows drew %d", b.m.rows(), drawn)
	}
}

func BenchmarkViewOfAThousandAirports(b *testing.B) {
	f := newFake()
	f.airports = many(1000)
	v := settled(b, f, 120, 40)
	for b.Loop() {
		v.view()
	}
}

func BenchmarkReadingOfAThousandAirports(b *testing.B) {
	f := newFake()
	f.airports = many(1000)
	v := settled(b, f, 120, 40)
	for b.Loop() {
		v.tick(time.Second)
	}
}

func BenchmarkKeyAmongAThousandAirports(b *testing.B) {
	f := newFake()
	f.airports = many(1000)
	v := settled(b, f, 120, 40)
	for b.Loop() {
		v.keys("down")
		v.view()
	}
}
