package dispatch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"

	"github.com/spf13/cobra"

	"github.com/traction-go/traction/internal/cli/exit"
	"github.com/traction-go/traction/internal/cli/render"
	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/governor"
)

// bulk is what makes a dispatch a charter.
type bulk struct {
	Run      string // "" for none
	Expected int
	Again    bool
}

func (b *bulk) flags(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&b.Run, "charter", "", "dispatch as the bulk run `RUN`, whose books are kept")
	fl.IntVar(&b.Expected, "expected", 0, "how many flights the run has, `N` (required with --charter)")
	fl.BoolVar(&b.Again, "again", false, "also send those of the run that are on their way (with --charter)")
}

func (b *bulk) check(cmd *cobra.Command) error {
	fl := cmd.Flags()
	switch {
	case b.Run == "" && fl.Changed("charter"):
		return exit.Usagef("--charter wants a name")
	case b.Run == "" && (fl.Changed("expected") || b.Again):
		return exit.Usagef("--expected and --again belong to a bulk run: add --charter RUN")
	case b.Run == "":
		return nil
	case b.Expected < 1:
		return exit.WithHint(exit.Usagef("--charter %s wants --expected N: how many flights the run has", wire.Visible(b.Run)),
			"count them first, as with wc -l for JSON Lines; what differs from it is refused")
	}
	return wire.CheckName("run", b.Run)
}

// charterer dispatches bulk runs.
type charterer interface {
	DispatchCharter(ctx context.Context, gate string, spec governor.CharterSpec, source governor.Source) (governor.CharterResult, error)
}

// dispatchedRun is what was sent of a run, in JSON.
type dispatchedRun struct {
	Gate     wire.Text `json:"gate"`
	Charter  wire.Text `json:"charter"`
	Sent     int       `json:"sent"`
	Standing int       `json:"standing"`
	Failed   int       `json:"failed"`
	Missing  int       `json:"missing"`
}

// runCharter dispatches the input as a bulk run. It is read twice, so it is a file:
// the one that was named, or a temporary one that stdin is spooled to.
func runCharter(ctx context.Context, opts *options, in io.Reader) (err error) {
	pointer, err := parsePointer(opts.BusinessID)
	if err != nil {
		return err
	}
	if err := opts.Change(); err != nil {
		return err
	}
	actor, err := opts.Actor()
	if err != nil {
		return err
	}
	file, done, err := rewindable(ctx, in)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	// Reading stdin may have taken its time: the opening has its own.
	bound, cancel := opts.Bound(ctx)
	defer cancel()
	gov, err := opts.Charters(bound)
	if err != nil {
		return err
	}
	r, err := gov.DispatchCharter(ctx, opts.Gate, governor.CharterSpec{Run: opts.Run, Expected: opts.Expected, Again: opts.Again, Actor: actor},
		source(ctx, file, pointer))
	if err == nil || r.Sent+r.Standing+r.Failed > 0 {
		err = errors.Join(err, showRun(opts, r))
	}
	name := opts.Gate + "/" + opts.Run
	switch {
	case err == nil:
		return nil
	case errors.Is(err, governor.ErrPartial):
		return exit.WithHint(err, "tractionctl charter show %s; the same source again goes on where this ended", name)
	case errors.Is(err, governor.ErrRefused):
		return exit.WithHint(err, "tractionctl charter show %s", name)
	}
	return err
}

// source reads the file from its beginning, each time it is asked.
func source(ctx context.Context, file *os.File, pointer []string) governor.Source {
	return func() iter.Seq2[governor.Outgoing, error] {
		return func(yield func(governor.Outgoing, error) bool) {
			if _, err := file.Seek(0, io.SeekStart); err != nil {
				yield(governor.Outgoing{}, err)
				return
			}
			values(ctx, file, pointer)(yield)
		}
	}
}

// rewindable gives a file that can be read again. Anything but a regular file is
// spooled to a temporary one, which done removes.
func rewindable(ctx context.Context, in io.Reader) (file *os.File, done func() error, err error) {
	if f, ok := in.(*os.File); ok {
		if st, err := f.Stat(); err == nil && st.Mode().IsRegular() {
			return f, func() error { return nil }, nil // whoever opened it closes it
		}
	}
	f, err := os.CreateTemp("", "traction-dispatch-*")
	if err != nil {
		return nil, nil, exit.WithHint(exit.Usagef("spool the flights: %w", err), "%s must be a directory that can be written to; TMPDIR names another", os.TempDir())
	}
	done = func() error {
		err := f.Close()
		if rm := os.Remove(f.Name()); !errors.Is(rm, os.ErrNotExist) {
			err = errors.Join(err, rm)
		}
		return err
	}
	if _, err := io.Copy(f, &interruptible{ctx, in}); err != nil {
		return nil, nil, errors.Join(fmt.Errorf("spool the flights to %s: %w", f.Name(), err), done())
	}
	return f, done, nil
}

func showRun(opts *options, r governor.CharterResult) error {
	name := opts.Gate + "/" + opts.Run
	if opts.Output != render.AsTable {
		return render.One(opts.Out, opts.Output, dispatchedRun{wire.Text(opts.Gate), wire.Text(name), r.Sent, r.Standing, r.Failed, r.Missing})
	}
	line := fmt.Sprintf("dispatched %s of %s", render.Plural(render.Count(r.Sent), "flight"), name)
	for _, x := range []struct {
		n    int
		says string
	}{{r.Standing, "left alone: they are on their way or have ended"}, {r.Failed, "not confirmed"}, {r.Missing, "expected and not in the source"}} {
		if x.n > 0 {
			line += fmt.Sprintf("; %s %s", render.Count(x.n), x.says)
		}
	}
	_, err := fmt.Fprintf(opts.Out, "%s\nnext  tractionctl charter show %s\n", line, name)
	return err
}
