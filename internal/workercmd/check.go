package workercmd

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/traction-go/traction/internal/cli/command"
	"github.com/traction-go/traction/internal/config"
	"github.com/traction-go/traction/internal/execpilot"
	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/governor"
	"github.com/traction-go/traction/pkg/settle"
)

type checkOptions struct {
	*World
	file string
}

func newCheckCmd(w *World, runF func(context.Context, *checkOptions) error) *cobra.Command {
	opts := &checkOptions{World: w}
	cmd := &cobra.Command{
		Use:   "check -c FILE",
		Short: "Read a configuration and say what it would govern, offline",
		Long: "check reads a configuration as run does and prints what it would govern. It asks\n" +
			"neither the broker nor the store nor a vendor. Variables must be set and files of\n" +
			"secrets must be there. Warnings go to stderr and leave the exit code 0.",
		Example: "  traction-worker check -c traction.yaml",
		Args:    command.None,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := needFile(opts.file); err != nil {
				return err
			}
			return runF(cmd.Context(), opts)
		},
	}
	cmd.Flags().StringVarP(&opts.file, "config", "c", "", "the configuration `file`")
	return cmd
}

func check(_ context.Context, opts *checkOptions) error {
	c, err := config.Load(opts.file, opts.Env)
	if err != nil {
		return err
	}
	_, closes, err := c.Declare()
	if err != nil {
		return err
	}
	closes()
	for _, w := range c.Warnings() {
		fmt.Fprintf(opts.Err, "warning: %s\n", wire.Visible(w))
	}
	return summary(opts.Out, c)
}

// summary prints what the configuration governs, each gate with its defaults.
func summary(to io.Writer, c *config.Config) error {
	var b strings.Builder
	line := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "%-11s%s\n", name, fmt.Sprintf(format, args...))
	}
	gates := 0
	for _, a := range c.Airports {
		gates += len(a.Gates)
	}
	fmt.Fprintf(&b, "%s: ok, %s, %s\n", wire.Visible(c.Path), count(len(c.Airports), "airport"), count(gates, "gate"))
	line("broker", "%s", maskURLs(c.AMQP))
	line("store", "%s", maskURLs(c.Redis))
	line("namespace", "%s", or(c.Namespace, string(wire.DefaultNamespace)))
	line("listen", "%s", or(c.Listen, "nowhere: no health, no metrics"))
	line("tower", "%s", map[bool]string{true: "here too", false: "elsewhere"}[c.Tower])
	line("grace", "%s", wire.ShortDuration(c.Drain()))
	line("heartbeat", "%s", wire.ShortDuration(or(c.Heartbeat, governor.DefaultHeartbeat)))
	line("notify", "%s", or(maskURLs(c.Webhook), "the log"))
	for _, a := range c.Airports {
		fmt.Fprintf(&b, "\n%s  %s, %s\n", a.ID, slots(a.Slots), or(a.Mode, governor.Enforce))
		for _, g := range a.Gates {
			onStop, rejected := "park", "keep"
			if g.OnStop == settle.StayOnStop {
				onStop = "stay"
			}
			if g.DropRejected {
				rejected = "drop"
			}
			fmt.Fprintf(&b, "  %s  %s  workers %d, timeout %s, payloads to %s, on stop %s, rejected %s%s\n", g.ID, calls(g),
				or(g.Workers, governor.DefaultWorkers), wire.ShortDuration(or(g.Timeout, governor.DefaultTimeout)),
				execpilot.SizeText(int64(or(g.MaxPayload, governor.DefaultMaxPayload))), onStop, rejected, batches(g, c.BatchSize)+adopts(g))
		}
	}
	_, err := io.WriteString(to, b.String())
	return err
}

// batches says how many flights fly in one call, and how.
func batches(g config.Gate, size int) string {
	if g.Batch == nil {
		return ""
	}
	n, from := g.Batch.Size, ""
	if size > 0 {
		n, from = size, config.BatchSizeVariable+", "
	}
	dedupe, slots := "none", "call"
	if len(g.Batch.Dedupe) > 0 {
		dedupe = wire.Visible(strings.Join(g.Batch.Dedupe, " "))
	}
	if g.Batch.SlotPerFlight {
		slots = "flight"
	}
	return fmt.Sprintf(", batches of %d (%slinger %s, dedupe %s, a slot for each %s)", n, from,
		wire.ShortDuration(or(g.Batch.Linger, governor.DefaultLinger)), dedupe, slots)
}

// adopts says which queue the gate takes over, and where its messages go.
func adopts(g config.Gate) string {
	if g.Adopt == nil {
		return ""
	}
	s := ", adopts " + wire.Visible(g.Adopt.Queue) + " (business id " + wire.Visible(or(g.Adopt.BusinessID, "none"))
	if r := g.Adopt.Route; r != nil {
		s += ", route by " + wire.Visible(r.By) + ":"
		for _, value := range slices.Sorted(maps.Keys(r.Gates)) {
			s += " " + wire.Visible(value) + " to " + r.Gates[value] + ","
		}
		s += " others to " + or(r.Default, g.ID)
	}
	return s + ")"
}

// calls says what the gate's flights become. Arguments may hold what is nobody's
// business.
func calls(g config.Gate) string {
	if g.Exec == nil {
		return or(g.HTTP.Method, "POST") + " " + wire.MaskURL(g.HTTP.URL)
	}
	memory := "no memory ceiling"
	if g.Exec.Memory > 0 {
		memory = "memory " + execpilot.SizeText(g.Exec.Memory)
	}
	return "exec " + wire.Visible(g.Exec.Command[0]) + ", " + memory
}

func slots(s governor.Slots) string {
	if s.N == 0 {
		return "no limit of calls"
	}
	return fmt.Sprintf("%s in any %s", count(s.N, "call"), wire.ShortDuration(s.Per))
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func maskURLs(list string) string {
	if list == "" {
		return ""
	}
	var all []string
	for u := range strings.SplitSeq(list, ",") {
		all = append(all, wire.MaskURL(strings.TrimSpace(u)))
	}
	return strings.Join(all, ", ")
}

func or[T ~string | ~int | time.Duration](v, def T) T {
	var zero T
	if v == zero {
		return def
	}
	return v
}
