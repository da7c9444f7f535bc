package audit

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/traction-go/traction/internal/cli/clitest"
	"github.com/traction-go/traction/internal/cli/exit"
)

func TestFiltersParse(t *testing.T) {
	for args, code := range map[string]int{
		"": 0, "crm:acme --since 90m --limit 5": 0, "--limit 0": 2, "--limit -1": 2, "--since 0s": 2, "x y": 2,
	} {
		cmd := newList(clitest.New(t, "").Factory, func(context.Context, *listOptions) error { return nil })
		cmd.SilenceErrors, cmd.SilenceUsage = true, true
		cmd.SetOut(io.Discard)
		cmd.SetArgs(strings.Fields(args))
		if err := cmd.ExecuteContext(t.Context()); exit.Code(err) != code {
			t.Errorf("%q: %v, want code %d", args, err, code)
		}
	}
}
