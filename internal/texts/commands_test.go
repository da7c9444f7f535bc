package texts

import (
	"bytes"
	"context"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/traction-go/traction/internal/cli"
	"github.com/traction-go/traction/internal/cli/exit"
	"github.com/traction-go/traction/internal/cli/factory"
	"github.com/traction-go/traction/internal/cli/streams"
	"github.com/traction-go/traction/internal/workercmd"
)

// commandPages are the pages whose commands are typed by a reader as they stand.
var commandPages = []string{"README.md", "docs/operations.md", "docs/worker.md", "docs/adopting.md", "docs/performance.md"}

var prompt = regexp.MustCompile(`^\s*\$ (.*)$`)

// TestCommands asks the programs whether they know each command that a page shows
// at a prompt, with its flags.
func TestCommands(t *testing.T) {
	shown := 0
	for _, name := range commandPages {
		_, blocks := find(t, name).split()
		for _, b := range blocks {
			for i, line := range b.lines {
				m := prompt.FindStringSubmatch(line)
				if m == nil {
					continue
				}
				for _, part := range strings.Split(m[1], "|") {
					args := words(part)
					at := slices.IndexFunc(args, func(w string) bool { return w == "tractionctl" || w == "traction-worker" })
					if at < 0 {
						continue
					}
					shown++
					if out := known(args[at], args[at+1:]); out != "" {
						t.Errorf("%s:%d: %s\n%s", name, b.line+i, strings.TrimSpace(part), out)
					}
				}
			}
		}
	}
	if shown < 10 {
		t.Errorf("found %d commands: the pattern finds too few", shown)
	}
}

// known gives what the program says of a command it does not know, "" otherwise.
// --help reads the whole line and does nothing.
func known(program string, args []string) string {
	args = append(slices.Clone(args), "--help")
	var said bytes.Buffer
	var got int
	switch program {
	case "tractionctl":
		s, _, errs := streams.Test("")
		got = cli.Run(context.Background(), factory.New(s, func(string) string { return "" }), args)
		said = *errs
	case "traction-worker":
		got = workercmd.Run(context.Background(), &workercmd.World{Out: &bytes.Buffer{}, Err: &said}, args)
	}
	if got == exit.Done {
		return ""
	}
	return said.String()
}

// words splits a line as a shell does, as far as the pages go: quotes, comments
// and line ends of redirections.
func words(line string) []string {
	var all []string
	var word strings.Builder
	quote, some := rune(0), false
	for _, c := range line + " " {
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(c)
		case c == '\'' || c == '"':
			quote, some = c, true
		case c == ' ':
			if some || word.Len() > 0 {
				all = append(all, word.String())
			}
			word.Reset()
			some = false
		default:
			word.WriteRune(c)
		}
	}
	if i := slices.IndexFunc(all, func(w string) bool { return w == "#" || strings.HasPrefix(w, ">") || w == "&" }); i >= 0 {
		all = all[:i]
	}
	return all
}
