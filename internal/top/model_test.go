package top

import (
	"slices"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/traction-go/traction/internal/cli/clitest"
)

// bench is a view on a fake installation, with a clock that stands until it is
// moved. Messages that Update asks for are carried out at once; ticks are sent by
// the test.
type bench struct {
	t   testing.TB
	f   *fake
	m   Model
	now time.Time
}

func newBench(t testing.TB, f *fake, change func(*Options)) *bench {
	t.Helper()
	b := &bench{t: t, f: f, now: clitest.Now}
	o := Options{Reader: f, Verbs: f, Namespace: "tr", Actor: "ops@desk", Now: func() time.Time { return b.now }}
	if change != nil {
		change(&o)
	}
	m, err := New(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	m.tick = func(Options) tea.Cmd { return nil }
	b.m = m
	t.Cleanup(m.life.end)
	return b
}

// settled is a bench of the size, after its first reading.
func settled(t testing.TB, f *fake, w, h int) *bench {
	b := newBench(t, f, nil)
	b.send(tea.WindowSizeMsg{Width: w, Height: h})
	b.send(lookMsg{})
	return b
}

// send gives a message to the view and carries out what it asks for.
func (b *bench) send(msg tea.Msg) {
	next, cmd := b.m.Update(msg)
	b.m = next.(Model)
	b.carry(cmd)
}

func (b *bench) carry(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	switch msg := cmd().(type) {
	case nil, tickMsg, tea.QuitMsg, tea.SuspendMsg:
	case tea.BatchMsg:
		for _, c := range msg {
			b.carry(c)
		}
	default:
		b.send(msg)
	}
}

// tick moves the clock and looks again.
func (b *bench) tick(d time.Duration) {
	b.now = b.now.Add(d)
	b.m.now = b.now
	b.send(lookMsg{})
}

// keys strikes keys, named as bubbletea names them.
func (b *bench) keys(names ...string) {
	for _, n := range names {
		b.send(key(n))
	}
}

func key(name string) tea.KeyMsg {
	for t, n := range map[tea.KeyType]string{
		tea.KeyEnter: "enter", tea.KeyEsc: "esc", tea.KeyTab: "tab", tea.KeyShiftTab: "shift+tab", tea.KeyUp: "up", tea.KeyDown: "down",
		tea.KeyPgDown: "pgdown", tea.KeyPgUp: "pgup", tea.KeyCtrlC: "ctrl+c", tea.KeyBackspace: "backspace", tea.KeyCtrlZ: "ctrl+z", tea.KeyCtrlU: "ctrl+u",
		tea.KeyHome: "home", tea.KeyEnd: "end", tea.KeyLeft: "left", tea.KeyRight: "right", tea.KeyCtrlB: "ctrl+b", tea.KeyCtrlF: "ctrl+f",
		tea.KeyCtrlW: "ctrl+w",
	} {
		if n == name {
			return tea.KeyMsg{Type: t}
		}
	}
	if name == " " {
		return tea.KeyMsg{Type: tea.KeySpace, Runes: []rune{' '}}
	}
	return tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(name)}
}

func (b *bench) view() string { return b.m.View() }

func (b *bench) shows(what ...string) {
	b.t.Helper()
	for _, w := range what {
		if !strings.Contains(b.view(), w) {
			b.t.Errorf("the screen does not show %q:\n%s", w, b.view())
		}
	}
}

func (b *bench) hides(what ...string) {
	b.t.Helper()
	for _, w := range what {
		if strings.Contains(b.view(), w) {
			b.t.Errorf("the screen shows %q:\n%s", w, b.view())
		}
	}
}

func (b *bench) selected() string {
	e, _ := b.m.screen().page().list.selected()
	return e.id
}

func (b *bench) did() []string {
	_, did := b.f.log()
	return did
}

func TestTheSettledScreens(t *testing.T) {
	for name, c := range map[string]struct {
		w, h int
		keys []string
	}{
		"airports-80x24":   {80, 24, nil},
		"airports-120x40":  {120, 40, nil},
		"airports-40x10":   {40, 10, nil},
		"gates-80x24":      {80, 24, []string{"down", "down", "enter"}},
		"incidents-80x24":  {80, 24, []string{"enter", "tab"}},
		"parked-80x24":     {80, 24, []string{"enter", "tab", "tab"}},
		"charters-80x24":   {80, 24, []string{"enter", "shift+tab"}},
		"gate-80x24":       {80, 24, []string{"enter", "enter"}},
		"record-80x24":     {80, 24, []string{"enter", "tab", "enter"}},
		"help-80x24":       {80, 24, []string{"?"}},
		"commands-80x24":   {80, 24, []string{"enter", "tab", "tab", "y"}},
		"reopen-80x24":     {80, 24, []string{"r"}},
		"pause-80x24":      {80, 24, []string{"p", "v", "endor"}},
		"replay-80x24":     {80, 24, []string{"R"}},
		"filter-80x24":     {80, 24, []string{"/", "acme", " ", "pay"}},
		"no-match-80x24":   {80, 24, []string{"/", "nothing", "enter"}},
		"read-once-120x40": {120, 40, []string{"i"}},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake()
			f.pace = 30
			b := settled(t, f, c.w, c.h)
			for range 5 {
				b.tick(2 * time.Second)
			}
			b.keys(c.keys...)
			clitest.Golden(t, name+".txt", []byte(b.view()+"\n"))
			b.fits(c.w, c.h)
		})
	}
}

// fits checks that the screen is as large as the terminal and no wider.
func (b *bench) fits(w, h int) {
	b.t.Helper()
	lines := strings.Split(b.view(), "\n")
	if len(lines) != h {
		b.t.Errorf("%d lines, want %d", len(lines), h)
	}
	for _, l := range lines {
		if n := cells.StringWidth(l); n > w {
			b.t.Errorf("%d cells, want at most %d: %q", n, w, l)
		}
	}
}

func TestEverySizeFits(t *testing.T) {
	b := settled(t, newFake(), 80, 24)
	for _, open := range [][]string{nil, {"?"}, {"esc", "r"}, {"esc", "p"}, {"esc", "enter", "tab", "enter"}, {"esc", "y"}, {"esc", "/"}} {
		b.keys(open...)
		for _, size := range [][2]int{{1, 1}, {2, 2}, {5, 3}, {10, 5}, {20, 8}, {40, 12}, {80, 14}, {80, 24}, {300, 90}} {
			b.send(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
			b.fits(size[0], size[1])
		}
	}
}

func TestNothingFromOutsideMovesTheCursor(t *testing.T) {
	b := settled(t, newFake(), 200, 30)
	for _, k := range []string{"i", "esc", "enter", "tab", "enter", "esc", "tab", "down", "enter", "esc", "y", "esc", "R"} {
		b.keys(k)
		if v := b.view(); strings.ContainsAny(v, "\x1b\u202e\r\u009b") {
			t.Fatalf("after %q a character of the evidence is raw:\n%q", k, v)
		}
	}
	b.f.fails(errAway)
	b.keys("esc")
	b.tick(time.Second)
	b.shows(`\x1b[2J`)
	if strings.Contains(b.view(), "\x1b") {
		t.Fatalf("an error's text is raw: %q", b.view())
	}
}

func TestOneReadingATick(t *testing.T) {
	f := newFake()
	b := settled(t, f, 80, 24)
	next, cmd := b.m.Update(lookMsg{})
	b.m = next.(Model)
	if cmd == nil {
		t.Fatal("no reading was started")
	}
	// While it is out, ticks and keys start none; one that was asked for follows it.
	next, second := b.m.Update(lookMsg{})
	b.m = next.(Model)
	if second != nil {
		t.Fatal("a second reading was started beside the first")
	}
	before, _ := f.log()
	b.carry(cmd)
	after, _ := f.log()
	if got, want := after[len(before):], []string{"airports", "processes", "airports", "processes"}; !slices.Equal(got, want) {
		t.Errorf("asked %v, want %v", got, want)
	}
	if b.m.looking || b.m.again {
		t.Error("a reading counts as out, and all are back")
	}
}
