package top

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/governor"
)

func TestNothingHappensWithoutAConfirmation(t *testing.T) {
	for _, c := range []struct {
		keys string
		did  string // "": nothing
	}{
		{"r", ""}, {"r enter", ""}, {"r n enter", ""}, {"r y esc", ""}, {"r y ctrl+c", ""}, {"r yy enter", ""},
		{"r y enter", "reopen crm:acme by ops@desk"}, {"r Y enter", "reopen crm:acme by ops@desk"},
		{"p y enter", ""},             // y was the reason
		{"p enter y enter enter", ""}, // an empty reason is none; then y was one
		{"p v e n d o r enter y enter", "pause crm:acme: vendor"},
		{"p v e n d o r enter enter", ""},
		{"R y enter", `replay parked crm:acme ""`},
		{"down R y enter", `replay parked geo ""`},
		{"enter r y enter", "reopen crm:acme/contact-sync by ops@desk"},
		{"enter tab r y enter", "reopen crm:acme by ops@desk"},
		{"enter tab tab R y enter", `replay parked crm:acme/contact-sync "01956a3e-0001"`},
		{"enter tab tab enter R y enter", `replay parked crm:acme/contact-sync "01956a3e-0001"`}, // from the record
		{"? r y enter", ""}, // help is for reading
	} {
		b := settled(t, newFake(), 80, 24)
		b.keys(strings.Fields(c.keys)...)
		want := []string{c.did}
		if c.did == "" {
			want = nil
		}
		if got := b.did(); !slices.Equal(got, want) {
			t.Errorf("%q did %q, want %q", c.keys, got, want)
		}
	}
}

func TestTheConfirmationNamesTheScope(t *testing.T) {
	for k, want := range map[string]string{
		"r": "Type y, then enter, to reopen crm:acme;", "R": "Type y, then enter, to replay crm:acme;", "p why enter": "Type y, then enter, to pause crm:acme;",
	} {
		b := settled(t, newFake(), 80, 24)
		b.keys(strings.Fields(k)...)
		b.shows(want)
	}
}

func TestAnOrderKeepsItsScopeWhileRowsMove(t *testing.T) {
	f := newFake()
	b := settled(t, f, 80, 24)
	b.keys("r")
	f.edit(func(a []governor.AirportInfo) {
		for i := range a {
			if a[i].Airport == "crm:acme" {
				a[i].State = wire.Open // somebody else was faster, and another is first now
			}
		}
	})
	b.tick(time.Second)
	b.keys("y", "enter")
	if got := b.did(); !slices.Equal(got, []string{"reopen crm:acme by ops@desk"}) {
		t.Errorf("did %q", got)
	}
}

func TestAPasteConfirmsNothing(t *testing.T) {
	b := settled(t, newFake(), 80, 24)
	b.keys("r")
	b.send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("y\ry\n"), Paste: true})
	if did := b.did(); len(did) > 0 {
		t.Errorf("a paste did %q", did)
	}
	b = settled(t, newFake(), 80, 24)
	b.send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("ry"), Paste: true})
	if b.m.dialog != nil {
		t.Error("a paste struck a key")
	}
}

func TestKeysStruckFastAreAllTaken(t *testing.T) {
	b := settled(t, newFake(), 80, 24)
	b.send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("jjjk")})
	if got := b.selected(); got != "pay:acme" {
		t.Errorf("selected %q, want the third row", got)
	}
}

func TestWhatCameOfItIsSaid(t *testing.T) {
	b := settled(t, newFake(), 120, 24)
	b.keys("r", "y", "enter")
	b.shows("crm:acme is OPEN, was STOPPED for 14m; 996 flights to fly, 4 parked until replayed (R)")
	b.keys("p", "v", "enter", "y", "enter")
	b.shows("is PAUSED: v; not seen yet by w2")
	b.keys("R", "y", "enter")
	b.shows("4 of 4 moved, 0 left")

	f := newFake()
	f.refuse = fmt.Errorf("gate: %w: its airport is stopped; reopen crm:acme first \x1b[2J", governor.ErrRefused)
	b = settled(t, f, 120, 24)
	b.keys("enter", "r", "y", "enter")
	b.shows("reopen crm:acme/contact-sync: gate: refused", `\x1b[2J`)
	b.now = b.now.Add(2 * noteFor)
	b.send(tickMsg(b.now))
	b.hides("refused")
}

func TestOneOrderAtATimeAndAReplayIsCutOffOnlyWhenAsked(t *testing.T) {
	f := newFake()
	f.hold = make(chan struct{})
	b := settled(t, f, 80, 24)
	b.keys("R", "y")
	next, cmd := b.m.Update(key("enter"))
	b.m = next.(Model)
	ended := make(chan tea.Msg, 1)
	go func() { ended <- cmd() }()
	<-f.hold // it has begun
	b.keys("r")
	b.shows("one at a time: replay crm:acme still runs")
	if _, quits := quitOf(b, "q"); quits {
		t.Error("q ended a replay without asking")
	}
	b.shows("q again cuts it off")
	if _, quits := quitOf(b, "q"); !quits {
		t.Error("the second q did not quit")
	}
	b.m.life.end()
	b.send(<-ended)
	b.shows("1 of 4 moved, 3 left; then: partly done")

	// A parked shelf is left alone while a replay takes from it.
	b = settled(t, newFake(), 80, 24)
	b.keys("enter", "tab", "tab")
	b.m.job = &job{order: order{verb: replay, scope: "crm:acme"}}
	before, _ := b.f.log()
	b.tick(time.Minute)
	if after, _ := b.f.log(); len(after) != len(before)+2 {
		t.Errorf("asked %q: want the fleet alone", after[len(before):])
	}
}

func quitOf(b *bench, k string) (Model, bool) {
	next, cmd := b.m.Update(key(k))
	b.m = next.(Model)
	if cmd == nil {
		return b.m, false
	}
	_, quits := cmd().(tea.QuitMsg)
	return b.m, quits
}

func TestQuit(t *testing.T) {
	b := settled(t, newFake(), 80, 24)
	if _, quits := quitOf(b, "q"); !quits {
		t.Error("q does not quit")
	}
	b.keys("?")
	if _, quits := quitOf(b, "q"); quits || b.m.overlay != overlayNone {
		t.Error("q on a page does not go back")
	}
	if _, quits := quitOf(b, "ctrl+c"); !quits {
		t.Error("ctrl+c does not quit")
	}
}

func TestTheTableOfActions(t *testing.T) {
	seen := map[string]string{}
	for _, a := range actions() {
		if a.help == "" || a.label == "" || a.where == 0 || a.run == nil || len(a.keys) == 0 {
			t.Errorf("%q is not whole: %+v", a.label, a)
		}
		if (a.foot != 0) != (a.short != "") {
			t.Errorf("%q: a name for the foot and a place there go together", a.label)
		}
		for _, k := range a.keys {
			if other, twice := seen[k]; twice {
				t.Errorf("%q is the key of %q and of %q", k, other, a.label)
			}
			seen[k] = a.label
		}
	}
	for _, readOnly := range []bool{false, true} {
		b := newBench(t, newFake(), func(o *Options) {
			if readOnly {
				o.ReadOnly, o.Verbs = "--read-only", nil
			}
		})
		b.send(tea.WindowSizeMsg{Width: 100, Height: 60})
		b.send(lookMsg{})
		foot := b.view()
		b.keys("?")
		help := b.view()
		b.keys("esc")
		for _, a := range actions() {
			gone := readOnly && a.changes
			if strings.Contains(help, a.help) == gone {
				t.Errorf("read-only %v: %q in the help: %v", readOnly, a.help, !gone)
			}
			if a.foot&atRoot != 0 && strings.Contains(foot, a.label+" "+a.short) == gone {
				t.Errorf("read-only %v: %q at the foot: %v", readOnly, a.short, !gone)
			}
			for _, k := range a.keys {
				if _, ok := find(b.m.actions, k, a.where); ok == gone {
					t.Errorf("read-only %v: key %q works: %v", readOnly, k, ok)
				}
			}
		}
		if readOnly != strings.Contains(foot, "READ-ONLY") {
			t.Errorf("read-only %v: the title says\n%s", readOnly, foot)
		}
		b.keys("r")
		if (b.m.dialog == nil) != readOnly {
			t.Errorf("read-only %v: r opened a dialog: %v", readOnly, b.m.dialog != nil)
		}
		b.keys("esc", "y")
		if strings.Contains(b.view(), "reopen crm:acme") == readOnly {
			t.Errorf("read-only %v: the commands\n%s", readOnly, b.view())
		}
	}
}

func TestOptionsNameTheField(t *testing.T) {
	f := newFake()
	for want, o := range map[string]Options{
		"Reader": {Verbs: f}, "Verbs": {Reader: f}, "Interval": {Reader: f, Verbs: f, Interval: time.Millisecond}, "Timeout": {Reader: f, Verbs: f, Timeout: -1},
	} {
		if _, err := New(t.Context(), o); !errors.Is(err, ErrOptions) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v", want, err)
		}
	}
}
