package gate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/traction-go/traction/internal/cli/command"
	"github.com/traction-go/traction/internal/cli/exit"
	"github.com/traction-go/traction/internal/cli/factory"
	"github.com/traction-go/traction/internal/cli/form"
	"github.com/traction-go/traction/internal/cli/render"
	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/governor"
)

type scaler interface {
	Scale(ctx context.Context, scope string, o governor.ScaleOptions) (governor.Scaling, error)
}

// scaleOptions are one scaling as it was typed.
type scaleOptions struct {
	*factory.Factory
	Open func(context.Context) (scaler, error)

	Scope string
	To    governor.ScaleOptions
}

// newScale makes the command. runF replaces what it runs, in tests.
func newScale(f *factory.Factory, runF func(context.Context, *scaleOptions) error) *cobra.Command {
	opts := &scaleOptions{Factory: f, Open: func(ctx context.Context) (scaler, error) { return f.Governor(ctx) }}
	var workers, batch int
	cmd := &cobra.Command{
		Use:   "scale AIRPORT/GATE [--workers N] [--batch N] [--reset]",
		Short: "Set a gate's workers per process, and its batches, on the running fleet",
		Long: `Sets how many calls each process makes at once for this gate, and how many flights fly
in one call, over what the processes declare and over TRACTION_BATCH_SIZE. It holds for
processes that start later too, until --reset.

--workers 0 lets just this gate fly nothing: its flights stay on the runway, and those
of an adopted queue stay in that. --batch 1 turns batching off. Calls that are in the
air are not disturbed.

The command returns when every process that serves the gate has as many. It exits with
6 where one had not within --timeout, and says which; or where somebody else has set
something else meanwhile.`,
		Example: `  tractionctl gate scale crm:acme/events --workers 8
  tractionctl gate scale crm:acme/events --workers 0
  tractionctl gate scale crm:acme/events --batch 1
  tractionctl gate scale crm:acme/events --reset`,
		Args: command.Exactly("AIRPORT/GATE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.Scope = args[0]
			if cmd.Flags().Changed("workers") {
				opts.To.Workers = &workers
			}
			if cmd.Flags().Changed("batch") {
				opts.To.Batch = &batch
			}
			if opts.To.Workers == nil && opts.To.Batch == nil && !opts.To.Reset {
				return exit.WithHint(exit.Usagef("scale %s needs --workers, --batch or --reset", wire.Visible(opts.Scope)),
					"tractionctl gate scale %s --workers 8", wire.Visible(opts.Scope))
			}
			if w := opts.To.Workers; w != nil && (*w < 0 || *w > 1000) {
				return exit.Usagef("--workers %d: want 0 to 1000", *w)
			}
			if b := opts.To.Batch; b != nil && (*b < 1 || *b > governor.MaxBatch) {
				return exit.Usagef("--batch %d: want 1 to %d", *b, governor.MaxBatch)
			}
			if runF != nil {
				return runF(cmd.Context(), opts)
			}
			return runScale(cmd.Context(), opts)
		},
	}
	cmd.Flags().IntVar(&workers, "workers", 0, "calls at once in each process, `N` from 0 to 1000")
	cmd.Flags().IntVar(&batch, "batch", 0, "flights in one call, `N` from 1 to 250; 1: each by itself")
	cmd.Flags().BoolVar(&opts.To.Reset, "reset", false, "what the processes declare counts again")
	return cmd
}

type scaled struct {
	Scope         wire.Text    `json:"scope"`
	Changed       bool         `json:"changed"`
	WorkersWanted render.Count `json:"workers_wanted"`
	WorkersActual render.Count `json:"workers_actual"`
	Batch         int          `json:"batch"`
	Overtaken     bool         `json:"overtaken"`
	Unseen        []wire.Text  `json:"unseen"`
}

func runScale(ctx context.Context, opts *scaleOptions) error {
	if _, err := wire.ParseGate(opts.Scope); err != nil {
		return exit.WithHint(exit.Usagef("%v", err), "a gate is written airport/gate")
	}
	if err := opts.Change(); err != nil {
		return err
	}
	actor, err := opts.Actor()
	if err != nil {
		return err
	}
	opts.To.Actor = actor
	bound, cancel := opts.Bound(ctx)
	defer cancel()
	gov, err := opts.Open(bound)
	if err != nil {
		return err
	}
	s, failed := gov.Scale(bound, opts.Scope, opts.To)
	if failed != nil && !errors.Is(failed, governor.ErrPartial) {
		return failed
	}
	if failed != nil {
		failed = exit.WithHint(failed, "tractionctl gate show %s", wire.Visible(opts.Scope))
	}
	if opts.Output != render.AsTable {
		err = render.One(opts.Out, opts.Output, scaled{wire.Text(s.Scope), s.Changed, render.Count(s.Gate.WorkersWanted),
			render.Count(s.Gate.WorkersActual), s.Gate.Batch, s.Overtaken, form.Each(s.Unseen, func(s string) wire.Text { return wire.Text(s) })})
	} else {
		_, err = fmt.Fprint(opts.Out, scaling(s, opts))
	}
	return errors.Join(failed, err)
}

// scaling says what stands now, and who is behind.
func scaling(s governor.Scaling, opts *scaleOptions) string {
	var b strings.Builder
	verb := "has"
	switch {
	case s.Overtaken:
		verb = "is set, by somebody else meanwhile, to"
	case len(s.Unseen) > 0:
		verb = "is set to"
	case !s.Changed:
		verb = "has had"
	}
	fmt.Fprintf(&b, "%s %s %s in each of %s", opts.Scope, verb, render.Plural(render.Count(s.Gate.WorkersWanted), "worker"), processes(len(s.Gate.Processes)))
	differs := slices.ContainsFunc(s.Gate.Processes, func(p governor.Staff) bool { return p.Batch != s.Gate.Batch })
	switch {
	case differs && len(s.Unseen) == 0:
		b.WriteString(", and not all the same batches: gate show tells which")
	case s.Gate.Batch > 1:
		fmt.Fprintf(&b, ", %d flights in a call", s.Gate.Batch)
	case opts.To.Batch != nil:
		b.WriteString(", each flight in a call of its own")
	}
	b.WriteString("\n")
	if s.Gate.WorkersWanted == 0 && len(s.Unseen) == 0 {
		b.WriteString("waiting   nothing of it flies: its flights stay where they are\n")
	}
	if len(s.Unseen) > 0 {
		fmt.Fprintf(&b, "unseen    by %s within %s: it follows with its next beat, or when its calls in the air have ended\n",
			render.Join(s.Unseen), wire.ShortDuration(opts.Timeout))
		if opts.To.Batch != nil {
			b.WriteString("batch     a process that declares no batch for the gate flies each flight by itself, until it is deployed with one\n")
		}
	}
	fmt.Fprintf(&b, "next      tractionctl gate show %s\n", opts.Scope)
	return b.String()
}

func processes(n int) string {
	switch n {
	case 0:
		return "no process: none serves it now"
	case 1:
		return "1 process"
	}
	return fmt.Sprintf("%d processes", n)
}
