package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/traction-go/traction/internal/cli/exit"
	"github.com/traction-go/traction/internal/cli/factory"
	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/governor"
)

// maxLine bounds a line of an error, in bytes: an error may quote what a vendor
// or a file said.
const maxLine = 600

// report writes an error in at most three lines: what was tried, what happened,
// what to do next.
func report(f *factory.Factory, cmd *cobra.Command, err error) {
	code := exit.Code(err)
	fmt.Fprintf(f.Err, "%s: %s\n", tried(cmd), exit.Name(code))
	if code == exit.Interrupted || code == exit.Terminated {
		return
	}
	fmt.Fprintf(f.Err, "  %s\n", happened(f, err))
	if next := next(f, cmd, err, code); next != "" {
		fmt.Fprintf(f.Err, "  next: %s\n", shorten(wire.Visible(next)))
	}
}

// tried names the command with its arguments, without its flags: those may carry
// a URL with a password.
func tried(cmd *cobra.Command) string {
	words := append([]string{cmd.CommandPath()}, cmd.Flags().Args()...)
	return clip(strings.Join(words, " "))
}

func happened(f *factory.Factory, err error) string {
	text := strings.ReplaceAll(err.Error(), "\n", "; ")
	if errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, governor.ErrUnreachable) {
		text = fmt.Sprintf("no answer within %s: %s", wire.ShortDuration(f.Timeout), text)
	}
	return clip(text)
}

func next(f *factory.Factory, cmd *cobra.Command, err error, code int) string {
	var hint *exit.Hint
	if errors.As(err, &hint) && hint.Next != "" {
		return hint.Next
	}
	switch code {
	case exit.Usage:
		return cmd.CommandPath() + " --help"
	case exit.NotFound:
		namespace := ""
		if s, err := f.Settings(); err == nil {
			namespace = " in namespace " + s.Namespace
		}
		return "tractionctl airport list shows what there is" + namespace
	case exit.Unreachable:
		s, err := f.Settings()
		if err != nil {
			return ""
		}
		amqp, redis := s.Masked()
		return fmt.Sprintf("check that broker %s and store %s are right (--amqp-url, --redis-url) and up", amqp, redis)
	case exit.Refused, exit.Partial:
		return "tractionctl status"
	}
	return ""
}

// clip masks and makes visible, and keeps to one line of bounded length.
func clip(s string) string { return shorten(wire.Visible(wire.Mask(s))) }

func shorten(s string) string {
	if len(s) > maxLine {
		s = strings.ToValidUTF8(s[:maxLine], "") + "..."
	}
	return s
}
