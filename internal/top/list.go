package top

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/traction-go/traction/internal/wire"
)

// entry is one row before it is drawn: only what is visible is ever drawn.
type entry struct {
	id    string // what the selection follows
	scope string // what the verbs act on
	only  string // the flight that a replay keeps to; "" for all of the scope
	find  string // what the filter looks through, in lower case
	state wire.State
	keys  []sortKey // one for each order of the table; the smallest first
	cells func(eye) []cell
	gist  func(eye) []string // two lines for the foot of the screen
	shown func(eye) []field  // the record, whole
}

// sortKey is what an order compares: the number, then the word, then the id.
type sortKey struct {
	n    float64
	word string
}

func (k sortKey) compare(o sortKey) int {
	return cmp.Or(cmp.Compare(k.n, o.n), strings.Compare(k.word, o.word))
}

// eye is what drawing depends on beside the data.
type eye struct {
	now time.Time
	g   glyphs
}

// field is one line of a record, visible already.
type field struct{ name, value string }

// list is what a person moves through: the entries that the filter lets pass, in
// order, and which one is selected. The selection is an id; at is only where it
// stood last.
type list struct {
	all    []entry
	shown  []entry
	filter string
	order  int
	sel    string
	at     int
	top    int // first visible row
}

// set replaces the entries. The selection stays on its id; if that has gone, on
// what now stands in its place.
func (l *list) set(entries []entry) {
	l.all = entries
	l.arrange()
}

// arrange filters and sorts again.
func (l *list) arrange() {
	l.shown = l.shown[:0:0]
	words := strings.Fields(strings.ToLower(l.filter))
	for _, e := range l.all {
		if hasAll(e.find, words) {
			l.shown = append(l.shown, e)
		}
	}
	slices.SortStableFunc(l.shown, func(a, b entry) int {
		if l.order < len(a.keys) && l.order < len(b.keys) {
			if c := a.keys[l.order].compare(b.keys[l.order]); c != 0 {
				return c
			}
		}
		return strings.Compare(a.id, b.id)
	})
	if i := l.index(l.sel); i >= 0 {
		l.at = i
		return
	}
	l.to(l.at)
}

func hasAll(s string, words []string) bool {
	for _, w := range words {
		if !strings.Contains(s, w) {
			return false
		}
	}
	return true
}

func (l *list) index(id string) int {
	return slices.IndexFunc(l.shown, func(e entry) bool { return e.id == id })
}

// to selects the row, or the nearest one.
func (l *list) to(row int) {
	l.at = max(0, min(row, len(l.shown)-1))
	if len(l.shown) == 0 {
		// The id is kept: what is filtered away or not read may come back.
		return
	}
	l.sel = l.shown[l.at].id
}

// selected gives the selected entry; false where there is none.
func (l *list) selected() (entry, bool) {
	if l.at >= len(l.shown) {
		return entry{}, false
	}
	return l.shown[l.at], true
}

// fit scrolls as little as is needed for the selection to be among rows lines.
func (l *list) fit(rows int) {
	rows = max(1, rows)
	if l.at < l.top {
		l.top = l.at
	}
	if l.at >= l.top+rows {
		l.top = l.at - rows + 1
	}
	l.top = max(0, min(l.top, len(l.shown)-rows))
}

// visible gives the entries on rows lines.
func (l *list) visible(rows int) []entry {
	from := min(l.top, len(l.shown))
	return l.shown[from:min(from+max(0, rows), len(l.shown))]
}
