package scopeverb

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/traction-go/traction/internal/cli/advice"
	"github.com/traction-go/traction/internal/cli/command"
	"github.com/traction-go/traction/internal/cli/exit"
	"github.com/traction-go/traction/internal/cli/factory"
	"github.com/traction-go/traction/internal/cli/form"
	"github.com/traction-go/traction/internal/cli/render"
	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/governor"
)

type pauser interface {
	Pause(ctx context.Context, scope string, o governor.PauseOptions) (governor.Pausing, error)
}

// PauseOptions are one pause as it was typed.
type PauseOptions struct {
	*factory.Factory
	Open func(context.Context) (pauser, error)
	Noun Noun

	Scope  string
	Reason string
}

// NewPause makes the command. runF replaces what it runs, in tests.
func NewPause(f *factory.Factory, noun Noun, runF func(context.Context, *PauseOptions) error) *cobra.Command {
	opts := &PauseOptions{
		Factory: f, Noun: noun,
		Open: func(ctx context.Context) (pauser, error) { return f.Governor(ctx) },
	}
	cmd := &cobra.Command{
		Use:   "pause " + noun.Arg + " --reason TEXT",
		Short: "Stop a" + article(noun.Name) + " by hand; its flights stay where they are",
		Long: `An operator's ground stop: it needs no fault and opens no incident. Calls that are in
the air finish; nothing new takes off until the resume. The reason is shown to everyone
who asks why nothing flies.

The command returns when every live process has seen the pause, or says which had not
within --timeout. Those make no new calls either: each call asks the store first.`,
		Example: fmt.Sprintf(`  tractionctl %[1]s pause %[2]s --reason "vendor maintenance until 04:00"
  tractionctl %[1]s resume %[2]s`, noun.Name, noun.Example),
		Args: command.Exactly(noun.Arg),
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.Scope = args[0]
			if strings.TrimSpace(opts.Reason) == "" {
				return exit.WithHint(exit.Usagef("pause %s needs a --reason", wire.Visible(opts.Scope)),
					`tractionctl %s pause %s --reason "why"`, noun.Name, wire.Visible(opts.Scope))
			}
			if runF != nil {
				return runF(cmd.Context(), opts)
			}
			return runPause(cmd.Context(), opts)
		},
	}
	cmd.Flags().StringVar(&opts.Reason, "reason", "", "`TEXT` that says why (required)")
	return cmd
}

func article(noun string) string {
	if strings.HasPrefix(noun, "a") {
		return "n " + noun
	}
	return " " + noun
}

type paused struct {
	Scope   wire.Text   `json:"scope"`
	Changed bool        `json:"changed"`
	Unseen  []wire.Text `json:"unseen"`
}

func runPause(ctx context.Context, opts *PauseOptions) error {
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
	p, err := gov.Pause(bound, opts.Scope, governor.PauseOptions{Actor: actor, Reason: opts.Reason})
	if err != nil {
		return err
	}
	if opts.Output != render.AsTable {
		return render.One(opts.Out, opts.Output, paused{wire.Text(p.Scope), p.Changed,
			form.Each(p.Unseen, func(s string) wire.Text { return wire.Text(s) })})
	}
	var b strings.Builder
	state := opts.Palette().Paint(render.StateStyle(wire.Paused), string(wire.Paused))
	if p.Changed {
		fmt.Fprintf(&b, "%s is %s: %s\n", opts.Scope, state, wire.Visible(opts.Reason))
	} else {
		fmt.Fprintf(&b, "%s is %s already; the reason that stands was kept\n", opts.Scope, state)
	}
	if len(p.Unseen) > 0 {
		fmt.Fprintf(&b, "unseen    by %s after %s: no new call there either, but a call in the air may still run\n",
			render.Join(p.Unseen), wire.ShortDuration(opts.Timeout))
	}
	fmt.Fprintf(&b, "next      %s\n", advice.Resume(opts.Scope))
	_, err = fmt.Fprint(opts.Out, b.String())
	return err
}
