// Package scopeverb holds the human's verbs that an airport and a gate share, so
// that each exists once: reopen, with its wait for the first landing, and pause.
package scopeverb

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/traction-go/traction/internal/cli/advice"
	"github.com/traction-go/traction/internal/cli/command"
	"github.com/traction-go/traction/internal/cli/exit"
	"github.com/traction-go/traction/internal/cli/factory"
	"github.com/traction-go/traction/internal/cli/render"
	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/governor"
)

// Noun is what a verb acts on.
type Noun struct {
	Name    string // airport or gate
	Arg     string // AIRPORT or GATE
	Example string // a scope for the help texts
	Parse   func(string) (wire.Scope, error)
}

// The nouns.
var (
	Airport = Noun{"airport", "AIRPORT", "crm:acme", wire.ParseAirport}
	Gate    = Noun{"gate", "GATE", "crm:acme/contact-sync", wire.ParseGate}
)

type reopener interface {
	Reopen(ctx context.Context, scope string, o governor.ReopenOptions) (governor.Reopening, error)
	watcher
}

// ReopenOptions are one reopen as it was typed.
type ReopenOptions struct {
	*factory.Factory
	Open func(context.Context) (reopener, error)
	Noun Noun

	Scope  string
	Canary int
	Reason string
	Wait   bool
	Every  time.Duration // between two looks while waiting
}

// NewReopen makes the command. runF replaces what it runs, in tests.
func NewReopen(f *factory.Factory, noun Noun, runF func(context.Context, *ReopenOptions) error) *cobra.Command {
	opts := &ReopenOptions{
		Factory: f, Noun: noun, Every: 500 * time.Millisecond,
		Open: func(ctx context.Context) (reopener, error) { return f.Governor(ctx) },
	}
	cmd := &cobra.Command{
		Use:     "reopen " + noun.Arg,
		Aliases: []string{"resume"},
		Short:   "Let a stopped or paused " + noun.Name + " fly again",
		Long: strings.ReplaceAll(`Opens the NOUN, ends its own pause, throttle or delay, and closes the incident. A failure
of a call that began before the reopen cannot stop it again. Reopening what is open
says so and succeeds.

With --canary N only N flights fly; when all N have landed the NOUN opens by itself,
and the first fault stops it again under the same incident.

With --wait, the default on a terminal, the command follows until the first landing
(exit 0) or the next stop (exit 1); what waits for a gate that was scaled to no workers
ends it too (exit 1). Nothing that is parked flies again by itself: the
command prints how much is parked and how to replay it.`, "NOUN", noun.Name),
		Example: fmt.Sprintf(`  tractionctl %[1]s reopen %[2]s
  tractionctl %[1]s reopen %[2]s --canary 3 --wait
  tractionctl %[1]s resume %[2]s --wait=false`, noun.Name, noun.Example),
		Args: command.Exactly(noun.Arg),
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.Scope = args[0]
			if !cmd.Flags().Changed("wait") {
				opts.Wait = f.OutTTY
			}
			if cmd.Flags().Changed("canary") && (opts.Canary < 1 || opts.Canary > governor.MaxCanary) {
				return exit.Usagef("--canary %d: want 1 to %d, or leave it out to open fully", opts.Canary, governor.MaxCanary)
			}
			if runF != nil {
				return runF(cmd.Context(), opts)
			}
			return runReopen(cmd.Context(), opts)
		},
	}
	cmd.Flags().IntVar(&opts.Canary, "canary", 0, "fly only `N` flights first")
	cmd.Flags().BoolVar(&opts.Wait, "wait", false, "follow until the first landing or the next stop (default on a terminal)")
	cmd.Flags().StringVar(&opts.Reason, "reason", "", "`TEXT` for the audit: what was fixed")
	return cmd
}

type reopened struct {
	Scope    wire.Text    `json:"scope"`
	Changed  bool         `json:"changed"`
	Was      wire.Text    `json:"was"`
	State    wire.Text    `json:"state"`
	Incident wire.Text    `json:"incident"`
	StoodS   float64      `json:"stood_s"`
	Waiting  render.Count `json:"waiting"`
	Adopted  render.Count `json:"adopted"` // in the queues that are adopted
	Parked   render.Count `json:"parked"`
	Next     []string     `json:"next"`
}

func runReopen(ctx context.Context, opts *ReopenOptions) error {
	if _, err := opts.Noun.Parse(opts.Scope); err != nil {
		return err
	}
	if err := opts.Change(); err != nil {
		return err
	}
	actor, err := opts.Actor()
	if err != nil {
		return err
	}
	bound, cancel := opts.Bound(ctx)
	defer cancel()
	gov, err := opts.Open(bound)
	if err != nil {
		return err
	}
	var before sight
	if opts.Wait {
		// Read first: a flight that lands between the reopen and the first look
		// must count.
		if before, err = look(bound, gov, opts.Scope); err != nil {
			return err
		}
	}
	r, err := gov.Reopen(bound, opts.Scope, governor.ReopenOptions{Canary: opts.Canary, Actor: actor, Reason: opts.Reason})
	if err != nil {
		return err
	}
	next := nextSteps(opts.Scope, r)
	if opts.Output != render.AsTable {
		err = render.One(opts.Out, opts.Output, reopened{
			wire.Text(r.Scope), r.Changed, wire.Text(r.Was), wire.Text(r.State), wire.Text(r.Incident),
			r.Stood.Seconds(), render.Count(r.Waiting), render.Count(r.Adopted), render.Count(r.Parked), next,
		})
	} else {
		err = printReopening(opts, r)
	}
	if err != nil || !opts.Wait || !r.Changed {
		return err
	}
	return follow(ctx, opts, gov, before, r)
}

func printReopening(opts *ReopenOptions, r governor.Reopening) error {
	p := opts.Palette()
	var b strings.Builder
	state := p.Paint(render.StateStyle(r.State), string(r.State))
	switch {
	case !r.Changed:
		fmt.Fprintf(&b, "%s is %s already: nothing to reopen\n", opts.Scope, state)
	case r.State == wire.Canary:
		fmt.Fprintf(&b, "%s is %s: %s first\n", opts.Scope, state, render.Plural(render.Count(opts.Canary), "flight"))
	default:
		fmt.Fprintf(&b, "%s is %s, was %s", opts.Scope, state, r.Was)
		if r.Stood > 0 {
			fmt.Fprintf(&b, " for %s", render.Rough(r.Stood))
		}
		b.WriteByte('\n')
	}
	if r.Incident != "" && r.Changed {
		fmt.Fprintf(&b, "incident  %s\n", wire.Visible(r.Incident))
	}
	fmt.Fprintf(&b, "waits     %s\n", waits(r))
	for _, g := range r.Gates {
		fmt.Fprintf(&b, "but       %s is %s\n", wire.Visible(g.Gate), p.Paint(render.StateStyle(g.State), string(g.State)))
	}
	for _, step := range nextSteps(opts.Scope, r) {
		fmt.Fprintf(&b, "next      %s\n", step)
	}
	_, err := fmt.Fprint(opts.Out, b.String())
	return err
}

// nextSteps are the commands that come next: a gate that does not fly is reopened
// before anything is replayed into it.
func nextSteps(scope string, r governor.Reopening) []string {
	next := []string{}
	for _, g := range r.Gates {
		if g.State != governor.Canary {
			next = append(next, advice.Reopen(g.Gate))
		}
	}
	if r.Parked != 0 { // not read: there may be some
		next = append(next, advice.Replay(scope))
	}
	return next
}

func waits(r governor.Reopening) string {
	if r.Waiting == 0 && r.Adopted == 0 && r.Parked == 0 {
		return "nothing"
	}
	s := render.Plural(render.Count(r.Waiting), "flight")
	if r.Adopted != 0 {
		s += "; " + render.Count(r.Adopted).String() + " in what it adopts"
	}
	if r.Parked != 0 {
		s += "; " + render.Count(r.Parked).String() + " parked, until they are replayed"
	}
	return s
}
