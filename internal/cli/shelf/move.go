package shelf

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/traction-go/traction/internal/cli/advice"
	"github.com/traction-go/traction/internal/cli/exit"
	"github.com/traction-go/traction/internal/cli/factory"
	"github.com/traction-go/traction/internal/cli/render"
	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/governor"
)

type mover interface {
	Replay(ctx context.Context, shelf governor.Shelf, scope string, o governor.MoveOptions) (governor.MoveResult, error)
	Discard(ctx context.Context, shelf governor.Shelf, scope string, o governor.MoveOptions) (governor.MoveResult, error)
	Airport(ctx context.Context, id string) (governor.AirportInfo, error)
}

// MoveOptions are one replay or discard as it was typed.
type MoveOptions struct {
	*factory.Factory
	Open func(context.Context) (mover, error)
	Noun Noun
	Verb string // replay or discard

	chosen
	DryRun  bool
	Rate    float64
	Canary  int
	Confirm string
}

// moved is what was done, in JSON. moved, skipped, unknown and left add up to planned.
type moved struct {
	Scope   wire.Text      `json:"scope"`
	Shelf   string         `json:"shelf"`
	Action  string         `json:"action"`
	DryRun  bool           `json:"dry_run"`
	Planned int            `json:"planned"`
	Moved   int            `json:"moved"`
	Skipped map[string]int `json:"skipped"` // by reason
	Unknown int            `json:"unknown"` // left or moved: acknowledged as the connection was lost
	Left    int            `json:"left"`
}

func runMove(ctx context.Context, opts *MoveOptions) error {
	if !opts.DryRun {
		if err := opts.Change(); err != nil {
			return err
		}
	}
	if opts.Verb == "discard" && !opts.DryRun && opts.Confirm != opts.Scope {
		return exit.WithHint(fmt.Errorf("%w: a discard drops %s for good and wants --confirm with the exact scope %s, got %q; nothing was dropped",
			governor.ErrRefused, opts.Noun.Things, opts.Scope, wire.Visible(opts.Confirm)),
			"look first: add --dry-run; then: --confirm %s", opts.Scope)
	}
	actor, err := opts.Actor()
	if err != nil {
		return err
	}
	// Only the opening and a first look are bounded by --timeout: a long replay
	// takes its time, and every step of it has a bound of its own.
	bound, cancel := opts.Bound(ctx)
	defer cancel()
	gov, err := opts.Open(bound)
	if err != nil {
		return err
	}
	if err := opts.warn(bound, gov); err != nil {
		return err
	}
	bar := render.Progress{}
	if opts.ErrTTY && !opts.Quiet {
		bar = render.Progress{W: opts.Err, Width: opts.ErrWidth, Now: opts.Now}
	}
	o := governor.MoveOptions{Filter: opts.Filter, DryRun: opts.DryRun, Rate: opts.Rate, Canary: opts.Canary, Confirm: opts.Confirm, Actor: actor,
		Progress: func(r governor.MoveResult) { bar.Show(past[opts.Verb], r.Moved, r.Planned-skipped(r)) },
		Waits: func(what string) {
			bar.Clear()
			opts.Notef("the canary waits: %s (Ctrl-C stops waiting, and the rest stays %s)\n", what, opts.Noun.Name())
		}}
	move := gov.Replay
	if opts.Verb == "discard" {
		move = gov.Discard
	}
	r, err := move(ctx, opts.Noun.Shelf, opts.Scope, o)
	bar.Clear()
	// What was moved is told however it ended; a command that did not begin has
	// nothing to tell.
	if err == nil || r.Planned > 0 || ctx.Err() != nil {
		if printErr := opts.print(r); printErr != nil {
			return errors.Join(err, printErr)
		}
	}
	if err == nil || ctx.Err() != nil {
		return err
	}
	if errors.Is(err, governor.ErrPartial) || errors.Is(err, governor.ErrRefused) && r.Planned > 0 {
		return exit.WithHint(err, "%s --group-by evidence; the same command goes on with what is left", opts.Noun.list(opts.Scope))
	}
	return err
}

// warn says so when what is replayed meets a scope that does not fly. Whoever asks
// for it gets it all the same: at a gate that keeps its order it is right.
func (o *MoveOptions) warn(ctx context.Context, gov mover) error {
	s, err := wire.ParseScope(o.Scope)
	if err != nil {
		return err
	}
	a, err := gov.Airport(ctx, s.Airport)
	if err != nil || o.Verb != "replay" {
		return err
	}
	say := func(scope string, state governor.State, reason, evidence, then string) {
		why := wire.Visible(reason)
		if evidence != "" {
			why += ": " + wire.Visible(evidence)
		}
		o.Notef("warning: %s is %s (%s): what is replayed now %s; fix the cause, %s, then replay\n", scope, state, why, then, advice.Reopen(scope))
	}
	if holds(a.State) {
		say(a.Airport, a.State, a.Reason, a.Evidence, "waits")
	}
	for _, g := range a.Gates {
		if (s.Gate == "" || g.Gate == s.String()) && holds(g.State) {
			then := "is parked again"
			if g.State == governor.Paused || advice.Stays(g) {
				then = "waits"
			}
			say(g.Gate, g.State, g.Reason, g.Evidence, then)
		}
	}
	return nil
}

func holds(s governor.State) bool { return s == governor.Stopped || s == governor.Paused }

var past = map[string]string{"replay": "replayed", "discard": "discarded"}

func skipped(r governor.MoveResult) (n int) {
	for _, x := range r.Skipped {
		n += x
	}
	return n
}

func (o *MoveOptions) print(r governor.MoveResult) error {
	if o.Output != render.AsTable {
		form := moved{wire.Text(o.Scope), o.Noun.Name(), o.Verb, o.DryRun, r.Planned, r.Moved, r.Skipped, r.Unknown, r.Left}
		if form.Skipped == nil {
			form.Skipped = map[string]int{}
		}
		return render.One(o.Out, o.Output, form)
	}
	var b strings.Builder
	done := past[o.Verb]
	if o.DryRun {
		done = "would have " + done
	}
	fmt.Fprintf(&b, "%s %s of %s %s at %s", done, render.Count(r.Moved), render.Count(r.Planned), o.Noun.Name(), o.Scope)
	for _, why := range slices.Sorted(maps.Keys(r.Skipped)) {
		fmt.Fprintf(&b, "; skipped %s (%s)", render.Count(r.Skipped[why]), because(why))
	}
	if r.Unknown > 0 {
		fmt.Fprintf(&b, "; unknown %s (acknowledged as the connection was lost: left or %s)", render.Count(r.Unknown), past[o.Verb])
	}
	fmt.Fprintf(&b, "; left %s\n", render.Count(r.Left))
	if r.Moved > 0 && !o.DryRun && o.Verb == "replay" {
		fmt.Fprintf(&b, "next  %s\n", advice.Show(o.Scope))
	}
	_, err := fmt.Fprint(o.Out, b.String())
	return err
}

// because says why flights were passed over, in words.
func because(reason string) string {
	if reason == "filter" {
		return "not asked for"
	}
	return wire.Visible(reason)
}
