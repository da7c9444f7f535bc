package demo

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/traction-go/traction/internal/cli/render"
)

// Narrator tells a person what happens. Its methods may be called from any
// goroutine. The zero value says nothing.
type Narrator struct {
	W     io.Writer // nil: nobody listens
	Live  bool      // W is a terminal: progress is written over itself
	Width int       // of the terminal; 0: lines are not broken

	mu   sync.Mutex
	open bool // a progress line stands without its end
	last time.Time
}

// quietProgress is how often progress is told where it cannot be written over.
const quietProgress = 2 * time.Second

// Say writes one line, broken at spaces where the terminal is narrower.
func (n *Narrator) Say(format string, args ...any) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.end()
	n.line(fmt.Sprintf(format, args...))
}

func (n *Narrator) line(s string) {
	if n.W == nil {
		return
	}
	text := strings.TrimLeft(s, " ")
	indent := strings.Repeat(" ", len(s)-len(text))
	for i, part := range render.Wrap(text, n.Width-len(indent)-2) {
		if i == 1 {
			indent += "  "
		}
		fmt.Fprintf(n.W, "%s%s\n", indent, part)
	}
}

// Progress tells how far it is.
func (n *Narrator) Progress(format string, args ...any) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.W == nil {
		return
	}
	s := fmt.Sprintf(format, args...)
	if n.Live {
		fmt.Fprintf(n.W, "\r\x1b[K%s", s)
		n.open = true
		return
	}
	if time.Since(n.last) >= quietProgress {
		n.last = time.Now()
		fmt.Fprintln(n.W, s)
	}
}

// done removes a progress line that still stands.
func (n *Narrator) done() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.end()
}

func (n *Narrator) end() {
	if n.open {
		fmt.Fprint(n.W, "\r\x1b[K")
		n.open = false
	}
	n.last = time.Now()
}

// Write takes log lines.
func (n *Narrator) Write(p []byte) (int, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.end()
	if n.W == nil {
		return len(p), nil
	}
	return n.W.Write(p)
}
