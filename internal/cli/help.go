package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/traction-go/traction/internal/cli/command"
	"github.com/traction-go/traction/internal/cli/exit"
)

// helpTemplate puts the examples first: most people look for a line to copy. The
// global flags are listed once, at the root.
const helpTemplate = `{{.Short}}
{{- if .HasExample}}

Examples:
{{.Example}}
{{- end}}

Usage:
  {{if .HasAvailableSubCommands}}{{.CommandPath}} COMMAND{{else}}{{.UseLine}}{{end}}
{{- with .Aliases}}

Aliases:
  {{join . ", "}}
{{- end}}
{{- with .Long}}

{{trim .}}
{{- end}}
{{- if .HasAvailableSubCommands}}
{{- $cmds := .Commands}}
{{- if .Groups}}
{{- range $group := .Groups}}

{{.Title}}
{{- range $cmds}}{{if and (eq .GroupID $group.ID) (or .IsAvailableCommand (eq .Name "help"))}}
  {{rpad .Name .NamePadding}} {{.Short}}
{{- end}}{{end}}
{{- end}}
{{- else}}

Commands:
{{- range $cmds}}{{if .IsAvailableCommand}}
  {{rpad .Name .NamePadding}} {{.Short}}
{{- end}}{{end}}
{{- end}}
{{- end}}
{{- if .HasAvailableLocalFlags}}

Flags:
{{.LocalFlags.FlagUsages | trimTrailingWhitespaces}}
{{- end}}
{{- if .HasParent}}

Global flags (-o, --quiet, --timeout, --namespace, --context ...): {{.Root.Name}} --help
{{- else}}

Help topics:
  exit-codes  what each exit code means: {{.Root.Name}} help exit-codes
  contexts    where a command acts, and the config file: {{.Root.Name}} help contexts
{{- end}}
`

const contextsTopic = `Where a command acts is resolved from, in this order: the flag, the environment, the
context, and a default on this machine.

  flag         environment          default
  --amqp-url   TRACTION_AMQP_URL    amqp://guest:guest@localhost:5672/
  --redis-url  TRACTION_REDIS_URL   redis://localhost:6379
  --namespace  TRACTION_NAMESPACE   tr
  --actor      TRACTION_ACTOR       user@host

Contexts stand in ~/.config/traction/config.yaml, or in the file TRACTION_CONFIG names:

  current: staging            # used when --context is not given; may be left out
  contexts:
    staging:
      amqp: amqp://ops@rabbit.staging:5672/
      redis: redis://redis.staging:6379
    production:
      amqp: amqps://ops@rabbit-1.internal:5671/,amqps://ops@rabbit-2.internal:5671/
      redis: rediss://redis.internal:6379
      namespace: tr
      read_only: true         # every change is refused with exit code 4

An unknown key is refused with its line. Before a command changes anything it prints the
resolved broker, store and namespace on stderr, with passwords masked.
`

func exitCodesTopic() string {
	var b strings.Builder
	b.WriteString("What each exit code means; scripts may rely on it:\n\n")
	for _, m := range exit.Codes() {
		fmt.Fprintf(&b, "  %3d  %s\n", m.Code, m.Text)
	}
	return b.String()
}

// addHelp gives the tree its help: the template, the topics, and a help command
// that refuses what it does not know (cobra's own succeeds).
func addHelp(root *cobra.Command) {
	cobra.AddTemplateFunc("join", strings.Join)
	root.SetHelpTemplate(helpTemplate)
	topics := map[string]string{"exit-codes": exitCodesTopic(), "contexts": contextsTopic}
	help := &cobra.Command{
		Use:   "help [COMMAND|TOPIC]",
		Short: "Help about a command, or a topic: exit-codes, contexts",
		Example: `  tractionctl help airport reopen
  tractionctl help exit-codes`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 && topics[args[0]] != "" {
				_, err := fmt.Fprint(cmd.OutOrStdout(), topics[args[0]])
				return err
			}
			target, rest, err := root.Find(args)
			if err != nil || len(rest) > 0 {
				if target == nil {
					target = root
				}
				if len(rest) == 0 {
					rest = args
				}
				return command.Unknown(target, rest[0])
			}
			return target.Help()
		},
	}
	help.GroupID = groupElse
	root.SetHelpCommand(help)
	root.InitDefaultHelpCmd()
}
