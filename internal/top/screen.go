package top

import (
	"time"

	"github.com/traction-go/traction/internal/wire"
)

// place is one table of one scope.
type place struct {
	scope string // "": the whole namespace
	tab   tab
}

// page is a place that was looked at: its list, and, where it has data of its own,
// that data's age.
type page struct {
	list list
	own  panel[[]entry] // of incidents, parked flights and charters
	due  time.Time      // of the next reading; zero: now
}

// screen is one level that was entered: a scope, and its tabs.
type screen struct {
	scope string
	tabs  []tab
	tab   tab
	pages map[tab]*page
}

func newScreen(scope string) screen {
	gate := false
	if s, err := wire.ParseScope(scope); err == nil {
		gate = s.IsGate()
	}
	s := screen{scope: scope, tabs: below(scope, gate), pages: map[tab]*page{}}
	s.tab = s.tabs[0]
	for _, t := range s.tabs {
		s.pages[t] = &page{}
	}
	return s
}

func (s *screen) page() *page { return s.pages[s.tab] }
func (s *screen) place() place {
	return place{s.scope, s.tab}
}

// turn goes to another tab, n further.
func (s *screen) turn(n int) {
	for i, t := range s.tabs {
		if t == s.tab {
			s.tab = s.tabs[(i+n+len(s.tabs))%len(s.tabs)]
			return
		}
	}
}
