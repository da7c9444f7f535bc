package shelf

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/traction-go/traction/internal/cli/command"
	"github.com/traction-go/traction/internal/cli/exit"
	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/governor"
	"github.com/traction-go/traction/pkg/settle"
)

// chosen is which flights of a shelf a verb is about, as it was typed.
type chosen struct {
	Scope  string // an airport or a gate; --gate has narrowed it
	Filter governor.ParkedFilter

	gate, reason, evidence string
	olderThan              command.Duration
}

func (c *chosen) flags(cmd *cobra.Command, noun Noun) {
	fl := cmd.Flags()
	fl.StringVar(&c.gate, "gate", "", "only those of the airport's gate `NAME`")
	fl.StringVar(&c.reason, "reason", "", "only those "+noun.Name()+" for `REASON`: "+strings.Join(words(noun.Reasons), ", "))
	fl.StringVar(&c.Filter.Charter, "charter", "", "only those of the bulk run `RUN`")
	fl.StringVar(&c.Filter.Flight, "flight", "", "only the flight `ID`")
	fl.StringVar(&c.Filter.BusinessID, "business-id", "", "only those with the business id `ID`")
	fl.Var(&c.olderThan, "older-than", "only those "+noun.Name()+" at least `DURATION` ago, such as 90m or 7d")
	fl.StringVar(&c.evidence, "evidence", "", "only those whose evidence matches the regular expression `RE`")
	fl.IntVar(&c.Filter.Limit, "limit", 0, "at most `N` "+noun.Things+" (default all)")
	_ = cmd.RegisterFlagCompletionFunc("reason", cobra.FixedCompletions(words(noun.Reasons), cobra.ShellCompDirectiveNoFileComp))
}

// filters are the flags that choose.
var filters = []string{"gate", "reason", "charter", "flight", "business-id", "older-than", "evidence", "limit"}

// read checks what was typed and fills Scope and Filter.
func (c *chosen) read(cmd *cobra.Command, noun Noun, verb, scope string) error {
	if err := command.Filled(cmd, filters...); err != nil {
		return err
	}
	s, err := wire.ParseScope(scope)
	switch {
	case err != nil:
		return err
	case s.Run != "":
		return exit.WithHint(exit.Usagef("%s is a charter's run: want an airport or a gate", s),
			"tractionctl %s %s %s --charter %s", noun.Name(), verb, s.Parent(), s.Run)
	}
	if s, err = c.narrow(s); err != nil {
		return err
	}
	c.Scope = s.String()
	c.Filter.Reason = settle.Reason(strings.ToUpper(c.reason))
	if c.reason != "" && !slices.Contains(noun.Reasons, c.Filter.Reason) {
		return exit.Usagef("--reason %q: want one of %s", wire.Visible(c.reason), strings.Join(words(noun.Reasons), ", "))
	}
	if c.evidence != "" {
		if c.Filter.Evidence, err = regexp.Compile(c.evidence); err != nil {
			return exit.WithHint(exit.Usagef("--evidence: %s", wire.Visible(err.Error())), `write \. for a dot; (?i) in front ignores case`)
		}
	}
	c.Filter.OlderThan = time.Duration(c.olderThan)
	return nil
}

// narrow takes --gate, by its name or as airport/gate.
func (c *chosen) narrow(s wire.Scope) (wire.Scope, error) {
	if c.gate == "" {
		return s, nil
	}
	name := c.gate
	if !strings.Contains(name, "/") {
		name = s.Airport + "/" + name
	}
	g, err := wire.ParseGate(name)
	if err != nil {
		return s, err
	}
	if g.Airport != s.Airport || s.Gate != "" && s.Gate != g.Gate {
		return s, exit.Usagef("--gate %s is not a gate of %s", g, s)
	}
	return g, nil
}

func words(reasons []settle.Reason) []string {
	out := make([]string, len(reasons))
	for i, r := range reasons {
		out[i] = string(r)
	}
	return out
}
