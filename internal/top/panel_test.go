package top

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/lipgloss"
	"github.com/muesli/termenv"

	"github.com/traction-go/traction/internal/cli/render"
	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/governor"
)

func TestStaleDataStaysAndComesBackByItself(t *testing.T) {
	f := newFake()
	b := settled(t, f, 120, 24)
	b.shows("read 0s ago")
	f.fails(errAway)
	b.tick(time.Second)
	b.shows("STALE 1s: the store did not answer", "crm:acme", "STOPPED")
	b.now = b.now.Add(29 * time.Second)
	b.send(tickMsg(b.now))
	b.shows("STALE 30s")
	f.fails(nil)
	b.tick(time.Second)
	b.hides("STALE")
	b.shows("read 0s ago", "crm:acme")
}

func TestAReadingThatHangsMakesThePictureStale(t *testing.T) {
	b := settled(t, newFake(), 120, 24)
	b.m.looking = true // it is out, and does not come back
	for range 4 {
		b.now = b.now.Add(time.Second)
		b.send(tickMsg(b.now))
	}
	b.shows("read 4s ago")
	b.now = b.now.Add(2 * time.Second)
	b.send(tickMsg(b.now))
	b.shows("STALE 6s: no answer yet")
}

func TestEachPanelHasItsOwnAge(t *testing.T) {
	f := newFake()
	b := settled(t, f, 120, 24)
	b.keys("enter", "tab")
	b.shows("crm:acme@1")
	f.mu.Lock()
	f.ownErr = errors.New("the books are locked")
	f.mu.Unlock()
	b.tick(3 * time.Second)
	lines := strings.Split(b.view(), "\n")
	if !strings.Contains(lines[1], "read 0s ago") || !strings.Contains(lines[2], "STALE 3s: the books are locked") {
		t.Errorf("want the fleet fresh and the incidents stale:\n%s", b.view())
	}
	b.shows("AIRPORT_FAULT") // what was known of the incidents stays
}

func TestBeforeTheFirstReading(t *testing.T) {
	f := newFake()
	b := newBench(t, f, nil)
	b.shows("reading", "nothing has been read yet")
	b.hides("STALE", "ALIVE")
	f.fails(errAway)
	b.send(lookMsg{})
	b.shows("NOT READ: the store did not answer", "nothing has been read yet")
}

func TestStaleRowsAreDimmed(t *testing.T) {
	f := newFake()
	b := settled(t, f, 120, 24)
	r := lipgloss.NewRenderer(nil)
	r.SetColorProfile(termenv.ANSI256)
	b.m.paint = paintOf(r)
	alarm := b.m.paint.text(render.Alarm, "PAUSED    ‖")
	if !strings.Contains(b.view(), alarm) {
		t.Fatalf("a fresh state has no colour: %q", b.view())
	}
	f.fails(errAway)
	b.tick(time.Second)
	if strings.Contains(b.view(), alarm) || !strings.Contains(b.view(), "\x1b[2mgeo") {
		t.Errorf("a stale row is not dimmed: %q", b.view())
	}
}

func TestParkedFlightsAreLookedAtNowAndThen(t *testing.T) {
	f := newFake()
	b := settled(t, f, 80, 24)
	b.keys("enter", "tab", "tab")
	looks := func() (n int) {
		asked, _ := f.log()
		for _, a := range asked {
			if a == fmt.Sprintf("parked crm:acme %d", maxParked) {
				n++
			}
		}
		return n
	}
	for range 9 {
		b.tick(time.Second)
	}
	if n := looks(); n != 1 {
		t.Errorf("%d looks in nine seconds, want one: looking takes flights in hand", n)
	}
	b.tick(time.Second)
	if n := looks(); n != 2 {
		t.Errorf("%d looks after ten seconds, want two", n)
	}
	b.keys("u")
	if n := looks(); n != 3 {
		t.Errorf("%d looks after u, want three", n)
	}
}

func TestTheSelectionFollowsTheID(t *testing.T) {
	f := newFake()
	b := settled(t, f, 80, 24)
	b.keys("end")
	if b.selected() != "mail:acme" {
		t.Fatalf("selected %q", b.selected())
	}
	for range len(tables[tabAirports].orders) {
		b.keys("s")
		if b.selected() != "mail:acme" {
			t.Errorf("by %s the selection went to %q", tables[tabAirports].orders[b.m.screen().page().list.order], b.selected())
		}
	}
	f.edit(func(a []governor.AirportInfo) {
		for i := range a {
			if a[i].Airport == "mail:acme" {
				a[i].State = wire.Stopped
			}
		}
		slices.Reverse(a)
	})
	b.tick(time.Second)
	if b.selected() != "mail:acme" || b.m.screen().page().list.at != 1 {
		t.Errorf("selected %q in row %d, want mail:acme in row 1", b.selected(), b.m.screen().page().list.at)
	}
	// One that has gone gives way to its neighbour, not to the first row.
	f.edit(func(a []governor.AirportInfo) {
		for i := range a {
			if a[i].Airport == "mail:acme" {
				a[i].Airport = "zz"
				a[i].State = wire.Open
			}
		}
	})
	b.tick(time.Second)
	if b.selected() != "geo" {
		t.Errorf("selected %q, want what took the place", b.selected())
	}
	// The filter keeps it too, and gives it back.
	b.keys("/", "zz", "esc")
	if b.m.screen().page().list.filter != "" {
		t.Error("esc kept the filter")
	}
}

func TestAnOpenRecordFollowsItsReadings(t *testing.T) {
	f := newFake()
	b := settled(t, f, 80, 24)
	b.keys("i")
	b.shows("0 on hold")
	f.edit(func(a []governor.AirportInfo) {
		for i := range a {
			if a[i].Airport == "crm:acme" {
				a[i].Holding = 17
			}
		}
	})
	b.tick(time.Second)
	b.shows("17 on hold")
}

func TestRatesAndDrain(t *testing.T) {
	at := time.Unix(1000, 0)
	seq := func(every time.Duration, s ...[2]int) history {
		var h history
		for i, x := range s {
			h = h.add(sample{at.Add(time.Duration(i) * every), int64(x[0]), x[1]})
		}
		return h
	}
	for _, c := range []struct {
		name        string
		h           history
		state       governor.State
		drain, rate string
	}{
		{"never read", nil, wire.Open, "-", "-"},
		{"one reading", seq(time.Second, [2]int{5, 10}), wire.Open, "?", "-"},
		{"nothing waits", seq(time.Second, [2]int{5, 3}, [2]int{8, 0}), wire.Open, "-", "3.0"},
		{"drains", seq(time.Second, [2]int{0, 120}, [2]int{10, 110}, [2]int{20, 100}), wire.Open, "10s", "10.0"},
		{"steady", seq(time.Second, [2]int{0, 100}, [2]int{10, 100}), wire.Open, "10s", "10.0"},
		{"more comes than goes", seq(time.Second, [2]int{0, 100}, [2]int{10, 190}), wire.Open, "grows", "10.0"},
		{"stopped", seq(time.Second, [2]int{0, 100}, [2]int{10, 90}), wire.Stopped, "held", "10.0"},
		{"nothing lands yet", seq(time.Second, [2]int{7, 100}, [2]int{7, 100}), wire.Open, "?", "0"},
		{"nothing lands", seq(stuckAfter, [2]int{7, 100}, [2]int{7, 100}), wire.Open, "stuck", "0"},
		{"throttled", seq(stuckAfter, [2]int{7, 100}, [2]int{7, 100}), wire.Throttled, "waits", "0"},
		{"not counted", seq(time.Second, [2]int{7, 100}, [2]int{8, governor.Unread}), wire.Open, "?", "1.0"},
		{"the store lost its totals", seq(time.Second, [2]int{900, 5}, [2]int{2, 5}), wire.Open, "?", "-"},
		{"a missed reading is a longer step", seq(20*time.Second, [2]int{0, 100}, [2]int{20, 100}), wire.Open, "1m40s", "1.0"},
	} {
		if got := c.h.drain(c.state); got != c.drain {
			t.Errorf("%s: drain %q, want %q", c.name, got, c.drain)
		}
		if got := perSecond(c.h); got != c.rate {
			t.Errorf("%s: rate %q, want %q", c.name, got, c.rate)
		}
	}
	var h history
	for i := range 500 {
		h = h.add(sample{at.Add(time.Duration(i) * time.Second), int64(i), 1})
	}
	if span := h[len(h)-1].at.Sub(h[0].at); span != historyWindow {
		t.Errorf("the history spans %s, want %s", span, historyWindow)
	}
}

func TestSpark(t *testing.T) {
	if got := spark([]float64{0, 1, 50, 100}, 6, asciiGlyphs); got != "  _.=#" {
		t.Errorf("got %q", got)
	}
	if got := spark([]float64{9, 0, 0}, 2, asciiGlyphs); got != "__" {
		t.Errorf("got %q", got)
	}
}

func TestASCIIOnly(t *testing.T) {
	for env, want := range map[string]bool{"": true, "LANG=C": true, "LANG=en_US.UTF-8": false, "LC_ALL=C LANG=en_US.UTF-8": true, "LC_CTYPE=C.utf8": false} {
		get := func(k string) string {
			for pair := range strings.FieldsSeq(env) {
				if n, v, _ := strings.Cut(pair, "="); n == k {
					return v
				}
			}
			return ""
		}
		if got := ASCIIOnly(get); got != want {
			t.Errorf("%q: %v, want %v", env, got, want)
		}
	}
	f := newFake()
	b := newBench(t, f, func(o *Options) { o.ASCII = true })
	b.send(lookMsg{})
	for _, k := range []string{"esc", "r", "esc", "enter", "tab", "tab", "tab", "?"} {
		b.keys(k)
		for _, r := range b.view() {
			if r > 126 {
				t.Fatalf("after %q the screen has %q:\n%s", k, r, b.view())
			}
		}
	}
}

func TestQuote(t *testing.T) {
	for in, want := range map[string]string{"a-b_c.1:/@": "a-b_c.1:/@", "": "''", "a b": "'a b'", "it's": `'it'\''s'`, "$(x)": "'$(x)'", "\x1b": `'\x1b'`} {
		if got := quote(in); got != want {
			t.Errorf("%q: %s, want %s", in, got, want)
		}
	}
}
