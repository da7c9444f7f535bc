package notify

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/traction-go/traction/internal/cli/command"
	"github.com/traction-go/traction/internal/cli/factory"
	"github.com/traction-go/traction/internal/cli/render"
	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/governor"
)

type tester interface {
	TestNotify(ctx context.Context, scope string) (governor.Notification, error)
}

type testOptions struct {
	*factory.Factory
	Open  func(context.Context) (tester, error)
	Scope string // "" for none in particular
}

func newTest(f *factory.Factory, runF func(context.Context, *testOptions) error) *cobra.Command {
	opts := &testOptions{Factory: f, Open: func(ctx context.Context) (tester, error) { return f.Governor(ctx) }}
	return &cobra.Command{
		Use:   "test [SCOPE]",
		Short: "Send a test through the hooks, before a real stop needs them",
		Example: `  tractionctl notify test
  tractionctl notify test crm:acme`,
		Args: command.AtMost("SCOPE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				opts.Scope = args[0]
				if _, err := wire.ParseScope(opts.Scope); err != nil {
					return err
				}
			}
			if runF != nil {
				return runF(cmd.Context(), opts)
			}
			return runTest(cmd.Context(), opts)
		},
	}
}

type tested struct {
	ID    wire.Text `json:"id"`
	Type  wire.Text `json:"type"`
	Scope wire.Text `json:"scope"`
	Text  wire.Text `json:"text"`
}

func runTest(ctx context.Context, opts *testOptions) error {
	if err := opts.Change(); err != nil {
		return err
	}
	ctx, cancel := opts.Bound(ctx)
	defer cancel()
	gov, err := opts.Open(ctx)
	if err != nil {
		return err
	}
	n, err := gov.TestNotify(ctx, opts.Scope)
	if err != nil {
		return err
	}
	if opts.Output != render.AsTable {
		return render.One(opts.Out, opts.Output, tested{wire.Text(n.Key), wire.Text(n.Type), wire.Text(n.Scope), wire.Text(n.Text)})
	}
	return render.Fields(opts.Out, []render.Field{
		{Name: "sent", Value: wire.Visible(n.Key)},
		{Name: "type", Value: wire.Visible(n.Type)},
		{Name: "scope", Value: wire.Visible(n.Scope)},
		{Name: "text", Value: wire.Visible(n.Text)},
		{Name: "next", Value: fmt.Sprintf("look whether it arrived; a tower sends it again under the key %s until a hook takes it", wire.Visible(n.Key))},
	}, opts.Width, opts.Palette())
}
