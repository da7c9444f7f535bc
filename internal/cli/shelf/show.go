package shelf

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
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

// maxShown is the most of a payload that is printed for people, in bytes.
const maxShown = 4096

type shower interface {
	ShowShelved(ctx context.Context, shelf governor.Shelf, gate, flight string) (governor.ShelvedFlight, error)
}

// ShowOptions are one show as it was typed.
type ShowOptions struct {
	*factory.Factory
	Open func(context.Context) (shower, error)
	Noun Noun

	Gate   string
	Flight string
	Raw    bool
}

// NewShow makes the command. runF replaces what it runs, in tests.
func NewShow(f *factory.Factory, noun Noun, runF func(context.Context, *ShowOptions) error) *cobra.Command {
	opts := &ShowOptions{Factory: f, Noun: noun, Open: func(ctx context.Context) (shower, error) { return f.Governor(ctx) }}
	cmd := &cobra.Command{
		Use:   "show GATE FLIGHT",
		Short: "Show one of the " + noun.Name() + " " + noun.Things + " with its payload",
		Long: fmt.Sprintf(`The payload is printed with control characters made visible, the first %d bytes of it.
--raw writes its bytes to stdout as they are, and nothing else: for a file or a pipe.`, maxShown),
		Example: fmt.Sprintf(`  tractionctl %[1]s show crm:acme/contact-sync 01956a3e-0001
  tractionctl %[1]s show crm:acme/contact-sync 01956a3e-0001 --raw > payload.json`, noun.Name()),
		Args: command.Exactly("GATE", "FLIGHT"),
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.Gate, opts.Flight = args[0], args[1]
			if _, err := wire.ParseGate(opts.Gate); err != nil {
				return err
			}
			if opts.Raw && opts.Output != render.AsTable {
				return exit.Usagef("--raw writes the payload's bytes: leave out -o %s", opts.Output)
			}
			if runF != nil {
				return runF(cmd.Context(), opts)
			}
			return runShow(cmd.Context(), opts)
		},
	}
	cmd.Flags().BoolVar(&opts.Raw, "raw", false, "write the payload's bytes to stdout, as they are")
	return cmd
}

// shown is a flight on a shelf with what it carries.
type shown struct {
	form.ParkedFlight
	ContentType wire.Text            `json:"content_type"`
	Headers     map[string]wire.Text `json:"headers"`
	Payload     wire.Text            `json:"payload"`
}

func runShow(ctx context.Context, opts *ShowOptions) error {
	ctx, cancel := opts.Bound(ctx)
	defer cancel()
	gov, err := opts.Open(ctx)
	if err != nil {
		return err
	}
	f, err := gov.ShowShelved(ctx, opts.Noun.Shelf, opts.Gate, opts.Flight)
	if errors.Is(err, governor.ErrPartial) || errors.Is(err, governor.ErrNotFound) {
		return exit.WithHint(err, "%s shows what is there", opts.Noun.list(opts.Gate))
	}
	if err != nil {
		return err
	}
	if opts.Raw {
		_, err := opts.Out.Write(f.Payload)
		return err
	}
	if opts.Output != render.AsTable {
		return render.One(opts.Out, opts.Output, shown{form.OfParked(f.ParkedFlight), wire.Text(f.ContentType), headers(f.Headers), wire.Text(f.Payload)})
	}
	return render.Fields(opts.Out, opts.fields(f), opts.Width, opts.Palette())
}

func (o *ShowOptions) fields(f governor.ShelvedFlight) []render.Field {
	replays := ""
	if f.Replays > 0 {
		replays = strconv.Itoa(f.Replays)
	}
	list := []render.Field{
		{Name: "flight", Value: wire.Visible(f.Flight), Style: render.Bold},
		{Name: "business id", Value: wire.Visible(f.BusinessID)},
		{Name: "gate", Value: wire.Visible(f.Gate)},
		{Name: "charter", Value: wire.Visible(f.Charter)},
		{Name: "reason", Value: wire.Visible(string(f.Reason)), Style: render.Warn},
		{Name: "evidence", Value: wire.Visible(f.Evidence)},
		{Name: o.Noun.Name(), Value: render.Since(o.Now(), f.ParkedAt)},
		{Name: "holds", Value: f.Holds.String()},
		{Name: "replays", Value: replays},
		{Name: "content type", Value: wire.Visible(f.ContentType)},
	}
	all := headers(f.Headers)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		list = append(list, render.Field{Name: "header", Value: wire.Visible(name) + ": " + all[name].String()})
	}
	list = append(list, render.Field{Name: "size", Value: render.Plural(render.Count(len(f.Payload)), "byte")},
		render.Field{Name: "payload", Value: payload(f.Payload)})
	if len(f.Payload) > maxShown {
		list = append(list, render.Field{Name: "next", Value: fmt.Sprintf("%s bytes more: --raw writes all of it",
			render.Count(len(f.Payload)-maxShown))})
	}
	only := " --flight " + quote(f.Flight)
	return append(list,
		render.Field{Name: "next", Value: "once fixed: tractionctl " + o.Noun.Name() + " replay " + o.Gate + only},
		render.Field{Name: "next", Value: "or drop it: tractionctl " + o.Noun.Name() + " discard " + o.Gate + only + " --confirm " + o.Gate})
}

func payload(b []byte) string {
	if len(b) > maxShown {
		b = b[:maxShown]
	}
	return wire.Visible(string(b))
}

// headers are those that the sender gave: the others are what is shown anyway.
func headers(all map[string]any) map[string]wire.Text {
	out := map[string]wire.Text{}
	for name, v := range all {
		if strings.HasPrefix(name, "tr-") || strings.HasPrefix(name, "x-") {
			continue
		}
		s, ok := v.(string)
		if !ok {
			b, err := json.Marshal(v)
			if s = string(b); err != nil {
				s = fmt.Sprint(v)
			}
		}
		out[name] = wire.Text(s)
	}
	return out
}

// quote makes an id safe to paste. Ids of other senders may hold anything.
func quote(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_.:@/+", r)
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(wire.Visible(s), "'", `'\''`) + "'"
}
