package top

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/traction-go/traction/internal/cli/render"
	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/governor"
)

// verb is what an operator can do here.
type verb string

// The verbs.
const (
	reopen verb = "reopen"
	pause  verb = "pause"
	replay verb = "replay"
)

// order is a verb with what it is for, as it was confirmed.
type order struct {
	verb   verb
	scope  string
	only   string // the flight that a replay keeps to
	reason string // of a pause
}

// String names the order.
func (o order) String() string {
	s := string(o.verb) + " " + wire.Visible(o.scope)
	if o.only != "" {
		s += " " + wire.Visible(o.only)
	}
	return s
}

// job is an order that runs. Its methods may be called from any goroutine.
type job struct {
	order order

	mu    sync.Mutex
	moved governor.MoveResult
	told  string // how it ended; "" while it runs
	err   error
}

func (j *job) progress(r governor.MoveResult) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.moved = r
}

func (j *job) finish(told string, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.told, j.err = told, err
}

// state says how far it is, or how it ended.
func (j *job) state() (told string, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.told != "" || j.err != nil {
		return j.told, j.err
	}
	told = j.order.String() + ": running"
	if j.moved.Planned > 0 {
		told += fmt.Sprintf(", %s of %s moved", render.Count(j.moved.Moved), render.Count(j.moved.Planned))
	}
	return told, nil
}

// done is the message that a job has ended.
type done struct{ job *job }

// start runs an order beside the program.
func (m *Model) start(o order) tea.Cmd {
	j := &job{order: o}
	m.job, m.note = j, note{}
	opts, l := m.opts, m.life
	return func() tea.Msg {
		if !l.enter() {
			return nil
		}
		defer l.leave()
		j.finish(perform(l.ctx, opts, o, j.progress))
		return done{j}
	}
}

// perform carries out an order and says in one line what came of it. A replay has
// no time limit; the others are one step.
func perform(ctx context.Context, opts Options, o order, progress func(governor.MoveResult)) (told string, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("%s panicked: %v\n%s", o, v, debug.Stack())
		}
	}()
	if o.verb != replay {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, opts.Timeout)
		defer cancel()
	}
	switch o.verb {
	case reopen:
		r, err := opts.Verbs.Reopen(ctx, o.scope, governor.ReopenOptions{Actor: opts.Actor})
		if err != nil {
			return "", err
		}
		return toldReopen(r), nil
	case pause:
		p, err := opts.Verbs.Pause(ctx, o.scope, governor.PauseOptions{Actor: opts.Actor, Reason: o.reason})
		if err != nil {
			return "", err
		}
		return toldPause(p, o.reason), nil
	case replay:
		r, err := opts.Verbs.Replay(ctx, governor.ParkedShelf, o.scope, governor.MoveOptions{
			Actor: opts.Actor, Filter: governor.ParkedFilter{Flight: o.only}, Progress: progress,
		})
		// What was moved is told, whatever ended it.
		return toldReplay(o, r), err
	}
	return "", fmt.Errorf("%w: no verb %q", ErrOptions, o.verb)
}

func toldReopen(r governor.Reopening) string {
	scope := wire.Visible(r.Scope)
	if !r.Changed {
		return fmt.Sprintf("%s is %s already: nothing to reopen", scope, r.State)
	}
	s := fmt.Sprintf("%s is %s, was %s", scope, r.State, r.Was)
	if r.Stood > 0 {
		s += " for " + render.Rough(r.Stood)
	}
	s += "; " + plural(plus(r.Waiting, r.Adopted), "flight") + " to fly"
	if r.Parked > 0 {
		s += ", " + render.Count(r.Parked).String() + " parked until replayed (R)"
	}
	return s
}

func toldPause(p governor.Pausing, reason string) string {
	scope := wire.Visible(p.Scope)
	if !p.Changed {
		return scope + " is PAUSED already; the reason that stands was kept"
	}
	s := scope + " is PAUSED: " + wire.Visible(reason)
	if len(p.Unseen) > 0 {
		s += "; not seen yet by " + render.Join(p.Unseen) + ", where a call in the air may still run"
	}
	return s
}

func toldReplay(o order, r governor.MoveResult) string {
	s := fmt.Sprintf("%s: %s of %s moved", o, render.Count(r.Moved), render.Count(r.Planned))
	skipped := 0
	for _, n := range r.Skipped {
		skipped += n
	}
	if skipped > 0 {
		s += fmt.Sprintf(", %s left out", render.Count(skipped))
	}
	if r.Unknown > 0 {
		s += fmt.Sprintf(", %s unknown", render.Count(r.Unknown))
	}
	return s + fmt.Sprintf(", %s left", render.Count(r.Left))
}
