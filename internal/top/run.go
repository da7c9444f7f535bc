package top

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/traction-go/traction/internal/top/unasked"
)

// Bubble Tea's init has run: this package imports it.
func init() { unasked.Done() }

// HangupError is the cause of an end by SIGHUP: the terminal has gone.
type HangupError struct{}

func (*HangupError) Error() string { return "the terminal hung up" }

// Run shows the view on a terminal until somebody quits or ctx ends; then it
// restores the terminal, cuts off what runs and returns when that has ended. It
// gives what is to be told about a verb that was cut off. Its error is the cause
// of ctx's end, *HangupError, or a bug that was caught: a panic, with its stack.
func Run(ctx context.Context, o Options, in io.Reader, out io.Writer) (told string, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	m, err := New(ctx, o)
	if err != nil {
		return "", err
	}
	defer m.life.end()
	p := tea.NewProgram(guarded{m, cancel}, tea.WithInput(in), tea.WithOutput(out), tea.WithAltScreen(), tea.WithoutSignalHandler())
	hangup := make(chan os.Signal, 1)
	signal.Notify(hangup, syscall.SIGHUP)
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		select {
		case <-hangup:
			cancel(&HangupError{})
		case <-ctx.Done():
		}
		// Not tea.WithContext: a program whose context ends closes the terminal under
		// the reader of its keys; one that quits waits for the reader first.
		p.Quit()
	}()
	defer func() {
		signal.Stop(hangup)
		cancel(nil)
		<-watched
	}()
	last, err := p.Run()
	cause := context.Cause(ctx)
	m.life.end()
	if end, ok := last.(guarded); ok {
		told = end.unfinished()
		if end.broken != nil {
			return told, fmt.Errorf("top: %w", end.broken)
		}
	}
	switch {
	case cause != nil:
		return told, cause
	case err != nil:
		return told, fmt.Errorf("top: the terminal: %w", err)
	}
	return told, nil
}

// unfinished tells what came of a verb that was cut off; "" where none was.
func (m Model) unfinished() string {
	if m.job == nil {
		return ""
	}
	told, err := m.job.state()
	if err == nil {
		return told
	}
	if told == "" {
		told = m.job.order.String()
	}
	return told + ": cut off: " + said(err)
}
