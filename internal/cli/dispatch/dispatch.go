// Package dispatch is `tractionctl dispatch`: it reads JSON and publishes one
// flight for each value, confirmed by the broker.
//
// Until the broker has confirmed a flight it is the caller's: a process that
// dies in the middle has dispatched what it counted, and perhaps the ones that
// were on their way. Running it again dispatches all of them again, under new
// flight ids; a business id is what tells two of them apart. With --charter the
// store keeps a book of the run, and running it again sends what is still missing.
package dispatch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/traction-go/traction/internal/cli/command"
	"github.com/traction-go/traction/internal/cli/exit"
	"github.com/traction-go/traction/internal/cli/factory"
	"github.com/traction-go/traction/internal/cli/render"
	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/governor"
)

type dispatcher interface {
	DispatchAll(ctx context.Context, gate string, seq iter.Seq2[governor.Outgoing, error]) (governor.DispatchResult, error)
	AuditDispatchBegun(ctx context.Context, gate string) error
	AuditDispatch(ctx context.Context, gate string, r governor.DispatchResult, ended error) error
}

type options struct {
	*factory.Factory
	Open     func(context.Context) (dispatcher, error)
	Charters func(context.Context) (charterer, error)

	bulk
	Gate       string
	BusinessID string // a JSON pointer; "" for none
	File       string // "-" for stdin
}

// New makes the command.
func New(f *factory.Factory) *cobra.Command { return newCmd(f, nil) }

func newCmd(f *factory.Factory, runF func(context.Context, *options) error) *cobra.Command {
	opts := &options{
		Factory:  f,
		Open:     func(ctx context.Context) (dispatcher, error) { return f.Governor(ctx) },
		Charters: func(ctx context.Context) (charterer, error) { return f.Governor(ctx) },
	}
	cmd := &cobra.Command{
		Use:   "dispatch GATE",
		Short: "Send flights to a gate: one JSON payload, or JSON Lines",
		Long: `Reads JSON values from a file or from a pipe, sends each as one flight, byte for byte,
and waits until the broker has confirmed all of them. An array is one payload.

--business-id names the field that identifies the record, as a JSON pointer. It is the
caller's idempotency key: streaks count records by it and pilots pass it on.

The input is sent as it is read. When a value cannot be read, or the broker refuses
some, the count says how many were confirmed and the exit code is 6. Ctrl-C sends no
more, and waits up to ten seconds for what is on its way.

--charter RUN --expected N makes it a bulk run whose books balance. The input is read
twice, the first time before anything is done: a value that cannot be read (exit 2),
another source, another count or more flights than expected (exit 4) publish nothing and
open no run. A source is known by its business ids, in their order, or by its payloads
where it has none. Running it again sends what is still missing; --again also what is
on its way, and never what has landed. A source that is shorter exits 6.`,
		Example: `  echo '{"id": "7", "email": "ada@example.com"}' | tractionctl dispatch crm:acme/contact-sync
  tractionctl dispatch crm:acme/contact-sync --file contacts.jsonl --business-id /id
  psql -At -c 'select row_to_json(c) from contacts c' | tractionctl dispatch crm:acme/contact-sync --business-id /id
  tractionctl dispatch crm:acme/contact-sync --file contacts.jsonl --business-id /id --charter import-7 --expected 3000`,
		Args: command.Exactly("GATE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.Gate = args[0]
			if _, err := wire.ParseGate(opts.Gate); err != nil {
				return err
			}
			if _, err := parsePointer(opts.BusinessID); err != nil {
				return err
			}
			if err := opts.check(cmd); err != nil {
				return err
			}
			if opts.File == "" {
				if f.InTTY {
					return exit.WithHint(exit.Usagef("dispatch reads JSON from a pipe or a file, and stdin is a terminal"),
						"give --file FILE, or --file - to type it")
				}
				opts.File = "-"
			}
			if runF != nil {
				return runF(cmd.Context(), opts)
			}
			return run(cmd.Context(), opts)
		},
	}
	cmd.Flags().StringVar(&opts.BusinessID, "business-id", "", "the field with the business id, as a JSON `POINTER` such as /id")
	opts.flags(cmd)
	cmd.Flags().StringVarP(&opts.File, "file", "f", "", "read `FILE`; - is stdin (default stdin, when it is a pipe)")
	return cmd
}

type dispatched struct {
	Gate   wire.Text `json:"gate"`
	Sent   int       `json:"sent"`
	Failed int       `json:"failed"`
}

func run(ctx context.Context, opts *options) error {
	in, done, err := open(opts)
	if err != nil {
		return err
	}
	defer done()
	if opts.Run != "" {
		return runCharter(ctx, opts, in)
	}
	if err := opts.Change(); err != nil {
		return err
	}
	// Only the opening is bounded by --timeout: a long file takes its time, and
	// each confirm has a bound of its own.
	bound, cancel := opts.Bound(ctx)
	defer cancel()
	gov, err := opts.Open(bound)
	if err != nil {
		return err
	}
	pointer, err := parsePointer(opts.BusinessID)
	if err != nil {
		return err
	}
	begun := false
	r, err := gov.DispatchAll(ctx, opts.Gate, before(values(ctx, in, pointer), func() { begun = begin(ctx, opts, gov) }))
	if begun || r.Sent > 0 { // else nothing was done, perhaps to a gate that nobody has declared
		note(ctx, opts, gov, r, err)
	}
	if printErr := show(opts, r); printErr != nil && err == nil {
		err = printErr
	}
	return classify(ctx, r, err)
}

// before calls first before it passes on the first value.
func before(seq iter.Seq2[governor.Outgoing, error], first func()) iter.Seq2[governor.Outgoing, error] {
	return func(yield func(governor.Outgoing, error) bool) {
		called := false
		for o, err := range seq {
			if err == nil && !called {
				called = true
				first()
			}
			if !yield(o, err) {
				return
			}
		}
	}
}

// noteFor bounds the writing of an entry of the audit.
const noteFor = 5 * time.Second

// begin puts in the audit that a dispatch begins, so that one that is killed stands
// there too, and reports whether it does.
func begin(ctx context.Context, opts *options, gov dispatcher) bool {
	ctx, cancel := context.WithTimeout(ctx, noteFor)
	defer cancel()
	err := gov.AuditDispatchBegun(ctx, opts.Gate)
	if err != nil && !errors.Is(err, governor.ErrNotFound) { // that is told by the dispatch itself
		opts.Notef("warning: the beginning of the dispatch is not in the audit: %v\n", err)
	}
	return err == nil
}

// note puts what was dispatched in the audit. A dispatch needs only the broker: where
// the store is away it has been done all the same, and the missing entry is told.
func note(ctx context.Context, opts *options, gov dispatcher, r governor.DispatchResult, ended error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), noteFor)
	defer cancel()
	if err := gov.AuditDispatch(ctx, opts.Gate, r, ended); err != nil {
		opts.Notef("warning: the dispatch is not in the audit: %s\n", wire.Visible(err.Error()))
	}
}

// classify says partly done where some flights were confirmed and not all.
func classify(ctx context.Context, r governor.DispatchResult, err error) error {
	if err == nil && r.Failed == 0 {
		return nil
	}
	if err == nil {
		err = fmt.Errorf("the broker did not confirm %s", render.Plural(render.Count(r.Failed), "flight"))
	}
	// The cause of an ended context says which signal it was.
	if ctx.Err() != nil {
		err = errors.Join(err, context.Cause(ctx))
	}
	if r.Sent == 0 {
		return err
	}
	if !errors.Is(err, governor.ErrPartial) {
		err = &partial{err}
	}
	return exit.WithHint(err, "%s confirmed; send the rest of the input again", render.Plural(render.Count(r.Sent), "flight"))
}

// partial adds the class to an error and leaves its text alone.
type partial struct{ err error }

func (p *partial) Error() string   { return p.err.Error() }
func (p *partial) Unwrap() []error { return []error{p.err, governor.ErrPartial} }

func show(opts *options, r governor.DispatchResult) error {
	if opts.Output != render.AsTable {
		return render.One(opts.Out, opts.Output, dispatched{wire.Text(opts.Gate), r.Sent, r.Failed})
	}
	line := fmt.Sprintf("dispatched %s to %s", render.Plural(render.Count(r.Sent), "flight"), opts.Gate)
	if r.Failed > 0 {
		line += fmt.Sprintf("; %s not confirmed", render.Count(r.Failed))
	}
	_, err := fmt.Fprintln(opts.Out, line)
	return err
}

func open(opts *options) (io.Reader, func(), error) {
	if opts.File == "-" {
		return opts.In, func() {}, nil
	}
	f, err := os.Open(opts.File)
	if err == nil {
		if st, _ := f.Stat(); st != nil && st.IsDir() {
			_ = f.Close()
			err = errors.New("it is a directory")
		}
	}
	if err != nil {
		return nil, nil, exit.WithHint(exit.Usagef("read the flights from %s: %w", opts.File, err), "%s must be a file that can be read", opts.File)
	}
	return f, func() { _ = f.Close() }, nil
}
