package queue

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/traction-go/traction/internal/cli/command"
	"github.com/traction-go/traction/internal/cli/exit"
	"github.com/traction-go/traction/internal/cli/factory"
	"github.com/traction-go/traction/internal/cli/render"
	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/governor"
)

type backuper interface {
	Backup(ctx context.Context, queue, file string, o governor.BackupOptions) (governor.BackupResult, error)
}

type backupOptions struct {
	*factory.Factory
	Open func(context.Context) (backuper, error)

	Queue, File string
	MaxBytes    int64
	AckTimeout  time.Duration
}

func newBackup(f *factory.Factory, runF func(context.Context, *backupOptions) error) *cobra.Command {
	opts := &backupOptions{Factory: f, Open: func(ctx context.Context) (backuper, error) { return f.Governor(ctx) }}
	cmd := &cobra.Command{
		Use:   "backup QUEUE FILE",
		Short: "Write all that is ready on a queue to a file, and leave the queue as it was",
		Long: `Reads every message that is ready without acknowledging it, writes it with a checksum,
and gives everything back. Any queue will do. What consumers have in hand meanwhile is
not in the file. A quorum queue counts one delivery of each message.

The file is readable by its owner alone, appears whole or not at all, and is never
written over. Ctrl-C gives everything back, and it says how far it was.

The broker takes back what is looked at for longer than its ack timeout, so a backup is
refused (exit 4) that cannot be done within half of it, or within --max-bytes. Raise
--ack-timeout only to what the broker's consumer_timeout says.`,
		Example: `  tractionctl queue backup tr.crm:acme/contact-sync.parked parked.backup
  tractionctl queue backup analytical-event.incoming.queue events.backup --max-bytes 8589934592`,
		Args: command.Exactly("QUEUE", "FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.Queue, opts.File = args[0], args[1]
			if opts.Queue == "" || opts.File == "" {
				return exit.Usagef("backup wants the name of a queue and of a file, not empty ones")
			}
			if opts.MaxBytes <= 0 {
				return exit.Usagef("--max-bytes %d: want a positive number", opts.MaxBytes)
			}
			if opts.AckTimeout <= 0 {
				return exit.Usagef("--ack-timeout %s: want a positive duration, such as 30m", opts.AckTimeout)
			}
			if runF != nil {
				return runF(cmd.Context(), opts)
			}
			return runBackup(cmd.Context(), opts)
		},
	}
	cmd.Flags().Int64Var(&opts.MaxBytes, "max-bytes", governor.DefaultMaxBackup, "the file may have at most `N` bytes")
	cmd.Flags().DurationVar(&opts.AckTimeout, "ack-timeout", governor.DefaultAckTimeout, "the broker's consumer_timeout, a `DURATION`")
	return cmd
}

type backedUp struct {
	Queue   wire.Text `json:"queue"`
	File    wire.Text `json:"file"`
	Planned int       `json:"planned"`
	Written int       `json:"written"`
	Bytes   int64     `json:"bytes"`
	TookS   float64   `json:"took_s"`
}

func runBackup(ctx context.Context, opts *backupOptions) error {
	// The queue is looked at, never changed, but the file is made and the look counts
	// as a delivery: it is said where.
	if err := opts.Change(); err != nil {
		return err
	}
	actor, err := opts.Actor()
	if err != nil {
		return err
	}
	// Only the opening is bounded by --timeout: a long queue takes its time, which
	// the ack timeout bounds.
	bound, cancel := opts.Bound(ctx)
	defer cancel()
	gov, err := opts.Open(bound)
	if err != nil {
		return err
	}
	o := governor.BackupOptions{MaxBytes: opts.MaxBytes, AckTimeout: opts.AckTimeout, Actor: actor}
	if opts.OutTTY {
		o.Progress = func(r governor.BackupResult) {
			opts.Notef("\r%s of %s messages", render.Count(r.Written), render.Count(r.Planned))
		}
	}
	r, err := gov.Backup(ctx, opts.Queue, opts.File, o)
	if o.Progress != nil {
		opts.Notef("\r\x1b[K")
	}
	if code := exit.Code(err); code == exit.Interrupted || code == exit.Terminated || ctx.Err() != nil && err != nil {
		// An error of a signal is told by its name alone, and what became of the queue
		// must not be left to guess.
		fmt.Fprintf(opts.Err, "read %s of %s of queue %s when it was told to stop; all of it is still on the queue, and there is no file\n",
			render.Count(r.Written), render.Plural(render.Count(r.Planned), "message"), wire.Visible(r.Queue))
		return err
	}
	if errors.Is(err, governor.ErrFile) {
		return exit.WithHint(err, "%s must be in a directory that is there and can be written to", opts.File)
	}
	if err != nil && !errors.Is(err, governor.ErrPartial) {
		return err
	}
	if opts.Output != render.AsTable {
		return errors.Join(err, render.One(opts.Out, opts.Output, backedUp{wire.Text(r.Queue), wire.Text(r.File), r.Planned, r.Written, r.Bytes, r.Took.Seconds()}))
	}
	_, printErr := fmt.Fprintf(opts.Out, "wrote %s of queue %s to %s, %s bytes; all of it is still on the queue\n",
		render.Plural(render.Count(r.Written), "message"), wire.Visible(r.Queue), wire.Visible(r.File), render.Thousands(r.Bytes))
	return errors.Join(err, printErr)
}
