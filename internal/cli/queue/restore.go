package queue

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/traction-go/traction/internal/cli/command"
	"github.com/traction-go/traction/internal/cli/exit"
	"github.com/traction-go/traction/internal/cli/factory"
	"github.com/traction-go/traction/internal/cli/render"
	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/governor"
)

type restorer interface {
	Restore(ctx context.Context, file string, o governor.RestoreOptions) (governor.RestoreResult, error)
}

type restoreOptions struct {
	*factory.Factory
	Open func(context.Context) (restorer, error)

	File, To string
}

func newRestore(f *factory.Factory, runF func(context.Context, *restoreOptions) error) *cobra.Command {
	opts := &restoreOptions{Factory: f, Open: func(ctx context.Context) (restorer, error) { return f.Governor(ctx) }}
	cmd := &cobra.Command{
		Use:   "restore FILE",
		Short: "Publish what a backup holds to its queue, or to another",
		Long: `Checks the whole file first: a damaged one is refused (exit 4) and the record named.
Then every message is published with a confirm.

It can be run again. What the broker confirmed is noted in FILE.restored and skipped the
next time. Ctrl-C sends no more, waits up to ten seconds for the confirms of what is on
its way, and says what was restored and what is left. Only what the broker did not
confirm in time, which is counted, or what was on its way when the command crashed may
be on the queue and be restored again: each time at most 1,000 messages. To restore
everything once more, or to another queue, remove FILE.restored.

Bodies, ids and headers stay as they were. An expiration, a user-id and CC are kept in
the headers tr-original-*: as properties they would make the message vanish, be refused,
or arrive twice.`,
		Example: `  tractionctl queue restore events.backup
  tractionctl queue restore events.backup --to analytical-event.replay.queue`,
		Args: command.Exactly("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.File = args[0]
			if cmd.Flags().Changed("to") && opts.To == "" {
				return exit.Usagef("--to wants the name of a queue")
			}
			if runF != nil {
				return runF(cmd.Context(), opts)
			}
			return runRestore(cmd.Context(), opts)
		},
	}
	cmd.Flags().StringVar(&opts.To, "to", "", "restore to `QUEUE` (default the one the backup was taken from)")
	return cmd
}

type restored struct {
	Queue    wire.Text `json:"queue"`
	File     wire.Text `json:"file"`
	Records  int       `json:"records"`
	Restored int       `json:"restored"`
	Skipped  int       `json:"skipped"`
	Left     int       `json:"left"`
	// Unconfirmed are those of Left that may be on the queue all the same.
	Unconfirmed int `json:"unconfirmed"`
}

func runRestore(ctx context.Context, opts *restoreOptions) error {
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
	o := governor.RestoreOptions{To: opts.To, Actor: actor}
	if opts.OutTTY {
		o.Progress = func(r governor.RestoreResult) {
			opts.Notef("\r%s of %s messages", render.Count(r.Skipped+r.Restored), render.Count(r.Records))
		}
	}
	r, err := gov.Restore(ctx, opts.File, o)
	if o.Progress != nil {
		opts.Notef("\r\x1b[K")
	}
	if errors.Is(err, governor.ErrFile) {
		return exit.WithHint(err, "%s must be a file that can be read, in a directory that can be written to: what is restored is noted beside it", opts.File)
	}
	if r.Records == 0 && err != nil {
		return err
	}
	// What was done is said even when it ended early.
	if opts.Output != render.AsTable {
		return errors.Join(err, render.One(opts.Out, opts.Output, restored{wire.Text(r.Queue), wire.Text(r.File), r.Records, r.Restored, r.Skipped, r.Left, r.Unconfirmed}))
	}
	unsure := ""
	if r.Unconfirmed > 0 {
		unsure = fmt.Sprintf("; %s of these had no confirm, may be there all the same, and would be twice after another run", render.Count(r.Unconfirmed))
	}
	_, printErr := fmt.Fprintf(opts.Out, "restored %s to queue %s; %s skipped, restored before; %s left%s\n",
		render.Plural(render.Count(r.Restored), "message"), wire.Visible(r.Queue), render.Count(r.Skipped), render.Count(r.Left), unsure)
	return errors.Join(err, printErr)
}
