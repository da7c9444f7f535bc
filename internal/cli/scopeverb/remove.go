package scopeverb

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/traction-go/traction/internal/cli/advice"
	"github.com/traction-go/traction/internal/cli/command"
	"github.com/traction-go/traction/internal/cli/exit"
	"github.com/traction-go/traction/internal/cli/factory"
	"github.com/traction-go/traction/internal/cli/render"
	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/governor"
)

type removerOf interface {
	Remove(ctx context.Context, scope string, o governor.RemoveOptions) (governor.Removal, error)
}

// RemoveOptions are one removal as it was typed.
type RemoveOptions struct {
	*factory.Factory
	Open func(context.Context) (removerOf, error)
	Noun Noun

	Scope   string
	Confirm string
	To      string
	Reason  string
}

// NewRemove makes the command. runF replaces what it runs, in tests.
func NewRemove(f *factory.Factory, noun Noun, runF func(context.Context, *RemoveOptions) error) *cobra.Command {
	opts := &RemoveOptions{
		Factory: f, Noun: noun,
		Open: func(ctx context.Context) (removerOf, error) { return f.Governor(ctx) },
	}
	cmd := &cobra.Command{
		Use:   fmt.Sprintf("remove %s --confirm %s", noun.Arg, noun.Arg),
		Short: "Forget a" + article(noun.Name) + " that nobody serves",
		Long: strings.ReplaceAll(`Forgets the NOUN. Refused (exit 4), with nothing changed, while a worker that serves it
beats, and while REFUSED. Incidents and the audit are kept.

A removal that ends half-way (exit 6) has lost nothing: run it again, or reopen the NOUN,
which takes it back. Ctrl-C waits up to ten seconds for what is on its way, and it says
how far it came.`, "NOUN", noun.Name),
		Args: command.Exactly(noun.Arg),
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.Scope = args[0]
			if cmd.Flags().Changed("to") && opts.To == "" {
				return exit.Usagef("--to wants the name of a queue")
			}
			if runF != nil {
				return runF(cmd.Context(), opts)
			}
			return runRemove(cmd.Context(), opts)
		},
	}
	cmd.Flags().StringVar(&opts.Confirm, "confirm", "", "the `"+noun.Arg+"` once more, exactly (required)")
	cmd.Flags().StringVar(&opts.Reason, "reason", "", "`TEXT` for the audit")
	cmd.Example = fmt.Sprintf("  tractionctl %[1]s remove %[2]s --confirm %[2]s", noun.Name, noun.Example)
	refused := "it has gates"
	if noun.Name == Gate.Name {
		refused = `any flight is left: waiting, parked,
rejected or on hold. Its queues are deleted, and the books of its runs. With --to, what
waits, is parked or rejected first moves to a queue of yours, with its body, ids and
headers`
		cmd.Use += " [--to QUEUE]"
		cmd.Flags().StringVar(&opts.To, "to", "", "a `QUEUE` that takes what is left")
		cmd.Example += fmt.Sprintf("\n  tractionctl gate remove %[1]s --confirm %[1]s --to contacts.incoming.queue", noun.Example)
	}
	cmd.Long = strings.Replace(cmd.Long, "REFUSED", refused, 1)
	return cmd
}

type removed struct {
	Scope wire.Text `json:"scope"`
	Moved int       `json:"moved"`
	To    wire.Text `json:"to"`
}

func runRemove(ctx context.Context, opts *RemoveOptions) error {
	if _, err := opts.Noun.Parse(opts.Scope); err != nil {
		return err
	}
	if opts.Confirm != opts.Scope {
		return exit.WithHint(fmt.Errorf("%w: a removal wants --confirm with the exact scope, and got %q", governor.ErrRefused, wire.Visible(opts.Confirm)),
			"tractionctl %s remove %s --confirm %s", opts.Noun.Name, opts.Scope, opts.Scope)
	}
	if err := opts.Change(); err != nil {
		return err
	}
	actor, err := opts.Actor()
	if err != nil {
		return err
	}
	// Only the opening is bounded by --timeout: flights that are moved take their
	// time, and each step has a bound of its own.
	bound, cancel := opts.Bound(ctx)
	defer cancel()
	gov, err := opts.Open(bound)
	if err != nil {
		return err
	}
	r, err := gov.Remove(ctx, opts.Scope, governor.RemoveOptions{Confirm: opts.Confirm, To: opts.To, Actor: actor, Reason: opts.Reason})
	if code := exit.Code(err); err != nil && (ctx.Err() != nil || code == exit.Interrupted || code == exit.Terminated) {
		// An error of a signal is told by its name alone, and what became of the scope
		// must not be left to guess.
		fmt.Fprint(opts.Err, interrupted(opts, r, err))
	}
	if errors.Is(err, governor.ErrPartial) {
		return exit.WithHint(err, "%s; or, to take it back: %s", again(opts), advice.Reopen(opts.Scope))
	}
	if err != nil {
		return err
	}
	if opts.Output != render.AsTable {
		return render.One(opts.Out, opts.Output, removed{wire.Text(r.Scope), r.Moved, wire.Text(opts.To)})
	}
	line := r.Scope + " is removed"
	if opts.To != "" {
		line += fmt.Sprintf("; %s moved to queue %s", render.Plural(render.Count(r.Moved), "flight"), wire.Visible(opts.To))
	}
	_, err = fmt.Fprintln(opts.Out, line)
	return err
}

// again is the command that goes on with a removal.
func again(opts *RemoveOptions) string {
	line := advice.Remove(opts.Scope)
	if opts.To != "" {
		line += " --to " + wire.Visible(opts.To)
	}
	return line
}

// interrupted says how far a removal came that was told to stop, and what is next.
func interrupted(opts *RemoveOptions, r governor.Removal, err error) string {
	scope := wire.Visible(opts.Scope)
	if !errors.Is(err, governor.ErrPartial) {
		return scope + " was not removed: the removal was told to stop before it moved or deleted anything\n"
	}
	moved := ""
	if opts.To != "" {
		moved = fmt.Sprintf("moved %s to queue %s; ", render.Plural(render.Count(r.Moved), "flight"), wire.Visible(opts.To))
	}
	return fmt.Sprintf("%sthe removal of %s was told to stop before its end; the rest is where it was\nnext  %s\n      to take it back: %s\n",
		moved, scope, again(opts), advice.Reopen(opts.Scope))
}
