package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/traction-go/traction/internal/cli/airport"
	"github.com/traction-go/traction/internal/cli/audit"
	"github.com/traction-go/traction/internal/cli/charter"
	"github.com/traction-go/traction/internal/cli/command"
	"github.com/traction-go/traction/internal/cli/complete"
	"github.com/traction-go/traction/internal/cli/demo"
	"github.com/traction-go/traction/internal/cli/dispatch"
	"github.com/traction-go/traction/internal/cli/docs"
	"github.com/traction-go/traction/internal/cli/doctor"
	"github.com/traction-go/traction/internal/cli/exit"
	"github.com/traction-go/traction/internal/cli/factory"
	"github.com/traction-go/traction/internal/cli/gate"
	"github.com/traction-go/traction/internal/cli/incident"
	"github.com/traction-go/traction/internal/cli/notify"
	"github.com/traction-go/traction/internal/cli/parked"
	"github.com/traction-go/traction/internal/cli/queue"
	"github.com/traction-go/traction/internal/cli/rejected"
	"github.com/traction-go/traction/internal/cli/render"
	"github.com/traction-go/traction/internal/cli/settings"
	"github.com/traction-go/traction/internal/cli/status"
	"github.com/traction-go/traction/internal/cli/suspect"
	"github.com/traction-go/traction/internal/cli/top"
	"github.com/traction-go/traction/internal/cli/version"
	"github.com/traction-go/traction/internal/wire"
)

// The groups of commands in the help.
const (
	groupSee  = "see"
	groupAct  = "act"
	groupElse = "else"
)

// NewRoot makes the whole command tree.
func NewRoot(f *factory.Factory) *cobra.Command {
	overview := status.New(f)
	root := &cobra.Command{
		Use:   "tractionctl",
		Short: "See and steer what Traction governs",
		Long: `Talks to the broker and the store directly, so it works when every worker is down.
Scopes are airport or airport/gate. Typed alone it runs status.`,
		Example: `  tractionctl                                     what is stopped, why, and what to do
  tractionctl airport reopen crm:acme             let it fly again, once the cause is fixed
  tractionctl parked list crm:acme --group-by reason
  tractionctl airport list -o json | jq`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return command.Unknown(cmd, args[0])
			}
			return overview.RunE(cmd, nil)
		},
		PersistentPreRunE: func(*cobra.Command, []string) error { return checkGlobals(f) },
	}
	root.SetIn(f.In)
	root.SetOut(f.Out)
	root.SetErr(f.Err)
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return exit.Usagef("%w", err) })
	globals(root, f)
	root.AddGroup(
		&cobra.Group{ID: groupSee, Title: "See:"},
		&cobra.Group{ID: groupAct, Title: "Act:"},
		&cobra.Group{ID: groupElse, Title: "Else:"},
	)
	add := func(group string, cmds ...*cobra.Command) {
		for _, c := range cmds {
			c.GroupID = group
			root.AddCommand(c)
		}
	}
	add(groupSee, overview, top.New(f), airport.New(f), gate.New(f), incident.New(f), parked.New(f), rejected.New(f),
		suspect.New(f), charter.New(f), audit.New(f), doctor.New(f))
	add(groupAct, dispatch.New(f), notify.New(f), queue.New(f))
	add(groupElse, demo.New(f), version.New(f), docs.New(f))
	root.SetCompletionCommandGroupID(groupElse)
	addHelp(root)
	root.InitDefaultCompletionCmd()
	completions(root, f)
	command.Strict(root)
	return root
}

// Commands are listed in the order they were added, the most needed first.
func init() { cobra.EnableCommandSorting = false }

// live says which arguments are completed from the store, by their name in the usage
// line. A --confirm is typed by whoever means it, and has no completion.
var live = map[string]complete.Kind{
	"AIRPORT": complete.Airports, "GATE": complete.Gates, "SCOPE": complete.Scopes,
	"ID|SCOPE": complete.Incidents, "CHARTER": complete.Charters, "FLIGHT": complete.Suspects,
}

// completions gives every command that has none of its own the words for its first
// argument, and nothing, rather than files, where there are none.
func completions(root *cobra.Command, f *factory.Factory) {
	root.CompletionOptions.SetDefaultShellCompDirective(cobra.ShellCompDirectiveNoFileComp)
	// It fails only where the flag does not exist, which the tests would show.
	_ = root.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(
		[]string{string(render.AsTable), string(render.AsJSON), string(render.AsJSONL)}, cobra.ShellCompDirectiveNoFileComp))
	var visit func(*cobra.Command)
	visit = func(cmd *cobra.Command) {
		if kind := live[argument(cmd)]; kind != nil && cmd.ValidArgsFunction == nil && cmd.ValidArgs == nil {
			cmd.ValidArgsFunction = complete.First(f, kind)
		}
		for _, sub := range cmd.Commands() {
			visit(sub)
		}
	}
	visit(root)
}

// argument names a command's first argument, as its usage line does.
func argument(cmd *cobra.Command) string {
	words := strings.Fields(cmd.Use)
	if len(words) < 2 {
		return ""
	}
	return strings.Trim(words[1], "[]")
}

func globals(root *cobra.Command, f *factory.Factory) {
	fl := root.PersistentFlags()
	fl.StringSliceVar(&f.Flags.AMQP, "amqp-url", nil, "broker `URL`; repeat it or use commas for several endpoints (env "+settings.EnvAMQP+"; default "+settings.DefaultAMQP+")")
	fl.StringSliceVar(&f.Flags.Redis, "redis-url", nil, "store `URL`; repeat it or use commas for several endpoints (env "+settings.EnvRedis+"; default "+settings.DefaultRedis+")")
	fl.StringVar(&f.Flags.Namespace, "namespace", "", "`NAME` that keeps installations on the same services apart (env "+settings.EnvNamespace+"; default "+string(wire.DefaultNamespace)+")")
	fl.StringVar(&f.Flags.Context, "context", "", "`NAME` of a context in the config file (default its current one)")
	fl.StringVar(&f.Flags.Actor, "actor", "", "`WHO` acts, for the audit (env "+settings.EnvActor+"; default user@host)")
	fl.VarP(&formatFlag{&f.Output}, "output", "o", "`FORMAT` of the data: table, json or jsonl")
	fl.DurationVar(&f.Timeout, "timeout", factory.DefaultTimeout, "`DURATION` to wait for the broker and the store")
	fl.BoolVarP(&f.Quiet, "quiet", "q", false, "print data and errors only")
	fl.BoolVar(&f.NoColor, "no-color", false, "no colour (also NO_COLOR)")
}

func checkGlobals(f *factory.Factory) error {
	if f.Timeout <= 0 {
		return exit.Usagef("--timeout %s: want a positive duration, such as 10s", f.Timeout)
	}
	return nil
}

type formatFlag struct{ to *render.Format }

func (v *formatFlag) Set(s string) error {
	f, ok := render.ParseFormat(s)
	if !ok {
		return fmt.Errorf("want table, json or jsonl")
	}
	*v.to = f
	return nil
}

func (v *formatFlag) String() string { return string(*v.to) }
func (v *formatFlag) Type() string   { return "format" }
