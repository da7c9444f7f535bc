package top

import (
	"context"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/traction-go/traction/internal/cli/render"
)

// Model is the view's state. It is a value: Update gives the next one.
type Model struct {
	opts    Options
	life    *life
	actions []action
	paint   paint
	g       glyphs
	tick    func(Options) tea.Cmd // the next tick; tests send their own

	width, height int
	now           time.Time

	fleet   panel[fleet]
	history map[string]history // by scope
	screens []screen           // the way in; the last is shown

	looking bool // a reading is out
	again   bool // another is wanted as soon as it is back

	overlay overlay
	record  entry // of overlayRecord
	scroll  int   // of the overlay
	typing  bool  // the filter
	dialog  *dialog
	job     *job

	note     note
	quitting bool  // asked once, while a job runs
	broken   error // why the view ends: a bug
}

// overlay is a page over the table.
type overlay uint8

const (
	overlayNone overlay = iota
	overlayHelp
	overlayRecord
	overlayCommands
)

// note is the line above the foot.
type note struct {
	style render.Style
	text  string
	at    time.Time
}

// noteFor is how long a note stands; while a job runs, its progress is wanted there.
const (
	noteFor     = 30 * time.Second
	noteOverJob = 5 * time.Second
)

// New makes a view. Readings and verbs end with ctx. Its error wraps ErrOptions.
func New(ctx context.Context, o Options) (Model, error) {
	o, err := o.withDefaults()
	if err != nil {
		return Model{}, err
	}
	m := Model{
		opts: o, life: newLife(ctx), actions: allowed(o.ReadOnly != ""), paint: newPaint(o.Color), g: unicodeGlyphs, tick: tick,
		width: 80, height: 24, now: o.Now(), history: map[string]history{}, screens: []screen{newScreen("")},
	}
	if o.ASCII {
		m.g = asciiGlyphs
	}
	return m, nil
}

func (m *Model) screen() *screen { return &m.screens[len(m.screens)-1] }

func (m *Model) say(st render.Style, text string) { m.note = note{st, text, m.now} }

// patience is how long a reading may be out before its picture counts as stale.
func (m Model) patience() time.Duration { return max(5*m.opts.Interval, 5*time.Second) }

// tickMsg is one tick of the view.
type tickMsg time.Time

// tick asks for the next one.
func tick(o Options) tea.Cmd {
	return tea.Tick(o.Interval, func(time.Time) tea.Msg { return tickMsg(o.Now()) })
}

// Init starts the first reading and the ticks.
func (m Model) Init() tea.Cmd {
	return tea.Batch(func() tea.Msg { return lookMsg{} }, m.tick(m.opts))
}

// lookMsg asks for a reading now.
type lookMsg struct{}

// look starts a reading, or notes that one is wanted when the last is back: there
// is never more than one.
func (m *Model) look() tea.Cmd {
	if m.looking {
		m.again = true
		return nil
	}
	m.looking, m.again = true, false
	at := m.screen().place()
	own := hasOwn(at.tab) && m.due()
	opts, l := m.opts, m.life
	return func() tea.Msg {
		if !l.enter() {
			return nil
		}
		defer l.leave()
		ctx, cancel := context.WithTimeout(l.ctx, opts.Timeout)
		defer cancel()
		return read(ctx, opts.Reader, at, own, opts.Now)
	}
}

// due reports whether the shown page's own data is to be read. A parked shelf is
// not looked at while a replay empties it.
func (m *Model) due() bool {
	s := m.screen()
	if s.tab == tabParked && m.job != nil && m.job.order.verb == replay {
		return false
	}
	return !m.now.Before(s.page().due)
}

// take puts what a reading brought into the model.
func (m *Model) take(r reading) {
	m.looking = false
	if r.broken != nil {
		m.broken = r.broken
		return
	}
	m.now = r.at
	m.fleet.take(r.fleet, r.fleetErr, r.at)
	if r.fleetErr == nil {
		m.remember(r)
	}
	if r.own {
		for i := range m.screens {
			s := &m.screens[i]
			if p, ok := s.pages[r.place.tab]; ok && s.scope == r.place.scope {
				p.own.take(r.entries, r.ownErr, r.at)
				if r.ownErr == nil {
					p.list.set(r.entries)
				}
				if r.place.tab == tabParked {
					p.due = r.at.Add(parkedEvery)
				}
			}
		}
	}
	m.refresh()
}

// refresh shows the open record as the last reading has it; one that has gone
// stays as it was.
func (m *Model) refresh() {
	if m.overlay != overlayRecord {
		return
	}
	for _, e := range m.screen().page().list.all {
		if e.id == m.record.id {
			m.record = e
		}
	}
}

// remember adds a reading of the fleet to the histories and rebuilds the rows
// that show it.
func (m *Model) remember(r reading) {
	histories := make(map[string]history, len(m.history))
	see := func(scope string, landed int64, waiting int) {
		histories[scope] = m.history[scope].add(sample{r.at, landed, waiting})
	}
	for _, a := range r.fleet.airports {
		see(a.Airport, a.Landed, plus(plus(a.Runway, a.Holding), a.Adopted))
		for _, g := range a.Gates {
			see(g.Gate, g.Landed, g.Waiting())
		}
	}
	m.history = histories
	for i := range m.screens {
		m.fromFleet(&m.screens[i])
	}
}

// fromFleet fills the pages of a screen that show the fleet.
func (m *Model) fromFleet(s *screen) {
	if p, ok := s.pages[tabAirports]; ok {
		rows := make([]entry, 0, len(m.fleet.data.airports))
		for _, a := range m.fleet.data.airports {
			rows = append(rows, airportEntry(a, m.history[a.Airport]))
		}
		p.list.set(rows)
	}
	if p, ok := s.pages[tabGates]; ok {
		var rows []entry
		for _, a := range m.fleet.data.airports {
			if a.Airport != s.scope {
				continue
			}
			for _, g := range a.Gates {
				rows = append(rows, gateEntry(g, m.history[g.Gate], a.State))
			}
		}
		p.list.set(rows)
	}
}
