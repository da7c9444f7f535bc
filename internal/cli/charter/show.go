package charter

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/traction-go/traction/internal/cli/command"
	"github.com/traction-go/traction/internal/cli/exit"
	"github.com/traction-go/traction/internal/cli/factory"
	"github.com/traction-go/traction/internal/cli/form"
	"github.com/traction-go/traction/internal/cli/render"
	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/governor"
)

type shower interface {
	Charter(ctx context.Context, run string) (governor.CharterInfo, error)
}

type showOptions struct {
	*factory.Factory
	Open    func(context.Context) (shower, error)
	Charter string
}

func newShow(f *factory.Factory, runF func(context.Context, *showOptions) error) *cobra.Command {
	opts := &showOptions{Factory: f, Open: func(ctx context.Context) (shower, error) { return f.Governor(ctx) }}
	return &cobra.Command{
		Use:   "show CHARTER",
		Short: "Show one bulk run: its books, how far it is, and what to do",
		Example: `  tractionctl charter show crm:acme/contact-sync/import-7
  tractionctl charter show crm:acme/contact-sync/import-7 -o json | jq .pending`,
		Args: command.Exactly("CHARTER"),
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.Charter = args[0]
			if _, err := parse(opts.Charter); err != nil {
				return err
			}
			if runF != nil {
				return runF(cmd.Context(), opts)
			}
			return runShow(cmd.Context(), opts)
		},
	}
}

// parse reads airport/gate/run.
func parse(charter string) (wire.Scope, error) {
	s, err := wire.ParseScope(charter)
	if err == nil && s.Run == "" {
		err = exit.WithHint(exit.Usagef("%s: want a charter, as airport/gate/run", s), "tractionctl charter list %s", s)
	}
	return s, err
}

// absent adds where the runs are listed to an error of class not found.
func absent(err error, charter string) error {
	if s, e := wire.ParseScope(charter); e == nil && errors.Is(err, governor.ErrNotFound) {
		return exit.WithHint(err, "tractionctl charter list %s", s.Airport)
	}
	return err
}

func runShow(ctx context.Context, opts *showOptions) error {
	ctx, cancel := opts.Bound(ctx)
	defer cancel()
	gov, err := opts.Open(ctx)
	if err != nil {
		return err
	}
	c, err := gov.Charter(ctx, opts.Charter)
	if err != nil {
		return absent(err, opts.Charter)
	}
	return show(opts.Factory, c)
}

// show writes the books of one run, as show and abort do.
func show(f *factory.Factory, c governor.CharterInfo) error {
	if f.Output != render.AsTable {
		return render.One(f.Out, f.Output, form.OfCharter(c))
	}
	return render.Fields(f.Out, fields(c, f.Now()), f.Width, f.Palette())
}

func fields(c governor.CharterInfo, now time.Time) []render.Field {
	b := c.Books
	list := []render.Field{
		{Name: "charter", Value: wire.Visible(c.Charter), Style: render.Bold},
		{Name: "state", Value: string(c.State), Style: style(c.State)},
		{Name: "opened", Value: opened(c, now)},
		{Name: "told", Value: render.Since(now, c.ToldAt)},
	}
	if c.State != governor.CharterLost {
		list = append(list, render.Field{Name: "progress", Value: progress(c)})
		for _, x := range []struct {
			name string
			n    int
		}{
			{"expected", b.Expected}, {"landed", b.Landed}, {"rejected", b.Rejected}, {"skipped", b.Skipped}, {"parked", b.Parked}, {"discarded", b.Discarded},
		} {
			list = append(list, render.Field{Name: x.name, Value: render.Count(x.n).String()})
		}
		list = append(list, render.Field{Name: "pending", Value: pending(b.Pending(), b.Dispatched)})
	}
	for _, line := range next(c) {
		list = append(list, render.Field{Name: "next", Value: line})
	}
	return list
}

func opened(c governor.CharterInfo, now time.Time) string {
	at := render.Since(now, c.OpenedAt)
	if c.OpenedBy != "" {
		at += " by " + wire.Visible(c.OpenedBy)
	}
	return at
}

// progress says how many seats have ended, and when the last will at this pace.
func progress(c governor.CharterInfo) string {
	b := c.Books
	s := fmt.Sprintf("%s of %s", render.Count(b.Ended()), render.Count(b.Expected))
	if b.Expected > 0 {
		// Rounded down: 100 % means all.
		s += fmt.Sprintf(" (%d%%)", 100*int64(b.Ended())/int64(b.Expected))
	}
	if c.State == governor.CharterOpen && c.ETA > 0 {
		s += ", " + render.Rough(c.ETA) + " to go at the pace so far"
	}
	return s
}

func pending(all, dispatched int) string {
	if all == 0 {
		return "0"
	}
	return fmt.Sprintf("%s: %s on their way, %s not dispatched", render.Count(all), render.Count(dispatched), render.Count(all-dispatched))
}

// next gives the commands that bring the run to its end.
func next(c governor.CharterInfo) []string {
	s, err := wire.ParseScope(c.Charter)
	if err != nil {
		return nil
	}
	gate, b := s.Parent().String(), c.Books
	var list []string
	switch {
	case c.State == governor.CharterLost:
		list = append(list, "the store lost its books; its flights are parked as CHARTER_LOST: tractionctl parked list "+gate+" --charter "+s.Run)
	case c.State == governor.CharterAborted && b.Pending() > 0:
		list = append(list, "nothing: its flights are skipped as they reach a worker")
	case c.State == governor.CharterOpen && b.Pending() > b.Dispatched:
		list = append(list, fmt.Sprintf("unless a dispatch is under way, the same source again sends the rest: tractionctl dispatch %s --charter %s --expected %d", gate, s.Run, b.Expected))
	case c.State == governor.CharterOpen && b.Pending() > 0:
		list = append(list, "nothing: what waits flies; tractionctl gate show "+gate)
	}
	if b.Parked > 0 && c.State == governor.CharterAborted {
		list = append(list, fmt.Sprintf("drop what is parked: tractionctl parked discard %s --charter %s --confirm %s", gate, s.Run, gate))
	} else if b.Parked > 0 {
		list = append(list, fmt.Sprintf("once fixed: tractionctl parked replay %s --charter %s", gate, s.Run))
	}
	if b.Rejected > 0 {
		list = append(list, fmt.Sprintf("see what was refused: tractionctl rejected list %s --charter %s", gate, s.Run))
	}
	return list
}
