// Package streams is what a command talks through: data on Out, all else on Err.
// What kind of terminal stands behind them is decided once, here.
package streams

import (
	"bytes"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// Streams are a command's input and outputs. Fields are set before the command
// runs and only read afterwards.
type Streams struct {
	In  io.Reader
	Out io.Writer
	Err io.Writer

	InTTY  bool // someone types
	OutTTY bool // someone reads along
	ErrTTY bool // someone sees what is written over itself, such as progress
	Width  int  // of the terminal behind Out, in cells; 0: not fitted
	Color  bool // Out understands colour and nobody asked for none

	ErrWidth int // of the terminal behind Err, in cells; 0: unknown
}

// System gives the process's own streams. getenv reads the environment (NO_COLOR,
// TERM, CLICOLOR_FORCE is not honoured: a pipe gets plain text).
func System(getenv func(string) string) *Streams {
	s := &Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}
	s.InTTY = term.IsTerminal(int(os.Stdin.Fd()))
	if fd := int(os.Stderr.Fd()); term.IsTerminal(fd) {
		s.ErrTTY = getenv("TERM") != "dumb"
		s.ErrWidth, _, _ = term.GetSize(fd) // 0 where it is unknown
	}
	out := int(os.Stdout.Fd())
	if term.IsTerminal(out) {
		s.OutTTY = true
		s.Width = 80
		if w, _, err := term.GetSize(out); err == nil && w > 0 {
			s.Width = w
		}
		s.Color = getenv("NO_COLOR") == "" && getenv("TERM") != "dumb"
	}
	return s
}

// Test gives streams in memory, as a pipe would have them.
func Test(in string) (s *Streams, out, err *bytes.Buffer) {
	out, err = &bytes.Buffer{}, &bytes.Buffer{}
	return &Streams{In: strings.NewReader(in), Out: out, Err: err}, out, err
}
