// Package demo is `tractionctl demo`: it plays the scenarios of internal/demo and
// prints a result line for each. It owns nothing; the run does.
package demo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/traction-go/traction/internal/cli/command"
	"github.com/traction-go/traction/internal/cli/exit"
	"github.com/traction-go/traction/internal/cli/factory"
	"github.com/traction-go/traction/internal/cli/render"
	"github.com/traction-go/traction/internal/cli/settings"
	"github.com/traction-go/traction/internal/demo"
	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/governor"
)

type options struct {
	*factory.Factory
	Play func(context.Context, string, demo.Options) (*demo.Result, error)

	Scenarios []string
	Rate      int
	Embedded  bool
	Verbose   bool
}

// New makes the command.
func New(f *factory.Factory) *cobra.Command { return newCmd(f, nil) }

func newCmd(f *factory.Factory, runF func(context.Context, *options) error) *cobra.Command {
	opts := &options{Factory: f, Play: demo.Play}
	cmd := &cobra.Command{
		Use:   "demo [SCENARIO]",
		Short: "Play an outage against a simulated vendor, with and without Traction",
		Long: `A simulated vendor, 1,000 flights, and something that goes wrong:

` + table() + `
Without a name it plays ` + strings.Join(demo.Default(), ", then ") + `. Each ends with one result line of measured
numbers (batch: one for each consumer), and fails (exit 1) when they are not what it
claims.

Broker and store are embedded by default: nothing to install, and not for production.
With --amqp-url or --redis-url, or their environment variables, it runs on real
services, in a namespace of its own that it removes when it ends.`,
		Example: `  tractionctl demo
  tractionctl demo outage --rate 20
  tractionctl demo gate
  tractionctl demo batch
  tractionctl demo --amqp-url amqp://localhost --redis-url redis://localhost`,
		Args:      command.AtMost("SCENARIO"),
		ValidArgs: names(),
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.Scenarios = demo.Default()
			if len(args) == 1 {
				if !known(args[0]) {
					return exit.WithHint(exit.Usagef("unknown scenario %q", wire.Visible(args[0])), "%s has: %s", cmd.CommandPath(), strings.Join(names(), ", "))
				}
				opts.Scenarios = args
			}
			if opts.Rate < 1 || opts.Rate > demo.MaxRate {
				return exit.Usagef("--rate %d: want 1 to %d calls a second", opts.Rate, demo.MaxRate)
			}
			if runF != nil {
				return runF(cmd.Context(), opts)
			}
			return run(cmd.Context(), opts)
		},
	}
	cmd.Flags().IntVar(&opts.Rate, "rate", demo.DefaultRate, "the airport's slots: `N` calls a second")
	cmd.Flags().BoolVar(&opts.Embedded, "embedded", false, "broker and store in this process, even where URLs are set")
	cmd.Flags().BoolVar(&opts.Verbose, "verbose", false, "show each error line of the plain consumer, and the workers' log")
	return cmd
}

func names() []string {
	var out []string
	for _, s := range demo.Scenarios() {
		out = append(out, s.Name)
	}
	return out
}

func known(name string) bool {
	for _, s := range demo.Scenarios() {
		if s.Name == name {
			return true
		}
	}
	return false
}

func table() string {
	var b strings.Builder
	for _, s := range demo.Scenarios() {
		fmt.Fprintf(&b, "  %-8s %s\n", s.Name, s.Short)
	}
	return b.String()
}

func run(ctx context.Context, opts *options) error {
	services, err := where(opts)
	if err != nil {
		return err
	}
	actor, err := opts.Actor()
	if err != nil {
		return err
	}
	o := demo.Options{Services: services, Rate: opts.Rate, Actor: actor, Verbose: opts.Verbose, Narrator: narrator(opts)}
	var results []form
	for i, name := range opts.Scenarios {
		if i > 0 {
			opts.Notef("\n")
		}
		r, playErr := opts.Play(ctx, name, o)
		if r != nil && len(r.Facts) > 0 {
			for _, one := range r.All() {
				if opts.Output == render.AsTable {
					err = errors.Join(err, line(opts, one))
				} else {
					results = append(results, formOf(one))
				}
			}
		}
		if playErr != nil {
			err = classify(name, playErr)
		}
		if err != nil {
			break
		}
	}
	if opts.Output != render.AsTable {
		err = errors.Join(err, render.List(opts.Out, opts.Output, results))
	}
	return err
}

// classify says which scenario it was, and what to do.
func classify(name string, err error) error {
	err = fmt.Errorf("%s: %w", name, err)
	if errors.Is(err, demo.ErrDiffers) {
		return exit.WithHint(err, "run it again with --verbose; if it differs again, it is a defect worth reporting")
	}
	return err
}

// where says what the demo runs on, and tells the person.
func where(opts *options) (demo.Services, error) {
	if opts.Embedded || !named(opts) {
		opts.Notef("broker and store embedded in this process: to look at, not for production\n\n")
		return demo.Services{}, nil
	}
	s, err := opts.Settings()
	if err != nil {
		return demo.Services{}, err
	}
	if s.ReadOnly {
		return demo.Services{}, exit.WithHint(fmt.Errorf("context %s is read-only: %w", s.Context, governor.ErrRefused), "add --embedded, or choose another --context")
	}
	// The environment's and the context's namespace is where an installation
	// lives; a demo has no business there.
	namespace := opts.Flags.Namespace
	if namespace == "" {
		namespace = demo.NewNamespace()
	}
	amqp, redis := s.Masked()
	opts.Notef("broker %s  store %s  namespace %s\n\n", amqp, redis, namespace)
	return demo.Services{AMQP: s.AMQP, Redis: s.Redis, Namespace: namespace}, nil
}

// named says whether somebody named real services for this command.
func named(opts *options) bool {
	fl := opts.Flags
	return len(fl.AMQP) > 0 || len(fl.Redis) > 0 || fl.Context != "" || opts.Getenv(settings.EnvAMQP) != "" || opts.Getenv(settings.EnvRedis) != ""
}

func narrator(opts *options) *demo.Narrator {
	if opts.Quiet {
		return &demo.Narrator{}
	}
	n := &demo.Narrator{W: opts.Err}
	if file, ok := opts.Err.(*os.File); ok && term.IsTerminal(int(file.Fd())) {
		n.Live, n.Width = true, 80
		if w, _, err := term.GetSize(int(file.Fd())); err == nil && w > 0 {
			n.Width = w
		}
	}
	return n
}

// line writes the result on one line; on a terminal that is too narrow for it, on
// as few as it takes.
func line(opts *options, r *demo.Result) error {
	text := r.Line()
	if opts.OutTTY && opts.Width > 0 && len([]rune(text)) > opts.Width {
		text = fold(text, opts.Width)
	}
	_, err := fmt.Fprintf(opts.Out, "%s\n", opts.Palette().Paint(render.Bold, text))
	return err
}

func fold(text string, width int) string {
	var b strings.Builder
	used := 0
	for i, part := range strings.Split(text, demo.Separator) {
		n := len([]rune(part))
		switch {
		case i == 0:
		case used+len([]rune(demo.Separator))+n > width:
			b.WriteString(demo.Separator[:len(demo.Separator)-1] + "\n  ")
			used = 2
		default:
			b.WriteString(demo.Separator)
			used += len([]rune(demo.Separator))
		}
		b.WriteString(part)
		used += n
	}
	return b.String()
}

// form is a result in JSON.
type form struct {
	Scenario    string         `json:"scenario"`
	Label       string         `json:"label"` // as the line begins: which consumer of the scenario
	Passed      bool           `json:"passed"`
	Measured    map[string]any `json:"measured"`
	Differences []string       `json:"differences"`
}

func formOf(r *demo.Result) form {
	f := form{Scenario: r.Scenario, Label: r.Label, Passed: len(r.Differences) == 0, Measured: map[string]any{}, Differences: append([]string{}, r.Differences...)}
	for _, fact := range r.Facts {
		name, value := strings.ReplaceAll(fact.Name, " ", "_"), fact.Value
		if d, ok := value.(time.Duration); ok {
			name, value = name+"_s", d.Seconds()
		}
		f.Measured[name] = value
	}
	return f
}
