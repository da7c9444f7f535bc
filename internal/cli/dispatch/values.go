package dispatch

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"strconv"
	"strings"

	"github.com/traction-go/traction/internal/cli/exit"
	"github.com/traction-go/traction/internal/jsonptr"
	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/governor"
)

// values reads one JSON value after another. The first that cannot be read, or
// has no business id where one is asked for, ends the sequence with an error that
// says on which line it began. A context that ends stops the reading.
func values(ctx context.Context, r io.Reader, pointer []string) iter.Seq2[governor.Outgoing, error] {
	return func(yield func(governor.Outgoing, error) bool) {
		lines := &lineCounter{r: &interruptible{ctx, r}, line: 1}
		dec := json.NewDecoder(lines)
		for n := 1; ; n++ {
			if ctx.Err() != nil {
				yield(governor.Outgoing{}, context.Cause(ctx))
				return
			}
			var raw json.RawMessage
			err := dec.Decode(&raw)
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				yield(governor.Outgoing{}, unreadable(n, lines, err))
				return
			}
			line := lines.at(dec.InputOffset() - int64(len(raw)))
			out := governor.Outgoing{Payload: bytes.Clone(raw), ContentType: "application/json"}
			if pointer != nil {
				if out.BusinessID, err = lookup(raw, pointer); err != nil {
					yield(governor.Outgoing{}, exit.Usagef("payload %d, line %d: business id: %w", n, line, err))
					return
				}
			}
			if !yield(out, nil) {
				return
			}
		}
	}
}

// unreadable tells input that is not JSON, by the line it breaks on, from an input
// that cannot be read.
func unreadable(n int, lines *lineCounter, err error) error {
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &syntax):
		return exit.Usagef("payload %d, line %d: not JSON: %s", n, lines.at(syntax.Offset-1), wire.Visible(err.Error()))
	case errors.Is(err, io.ErrUnexpectedEOF):
		return exit.Usagef("payload %d: the input ends on line %d, in the middle of a value", n, lines.at(lines.read))
	}
	return fmt.Errorf("read payload %d: %w", n, err)
}

// interruptible ends a read when its context does: a pipe that nobody writes to
// would hold up a Ctrl-C. The read that was given up goes on until the process
// ends, into a buffer of its own.
type interruptible struct {
	ctx context.Context
	r   io.Reader
}

func (i *interruptible) Read(p []byte) (int, error) {
	if i.ctx.Err() != nil {
		return 0, context.Cause(i.ctx)
	}
	type result struct {
		n   int
		err error
	}
	buf := make([]byte, len(p))
	done := make(chan result, 1)
	go func() {
		n, err := i.r.Read(buf)
		done <- result{n, err}
	}()
	select {
	case <-i.ctx.Done():
		return 0, context.Cause(i.ctx)
	case r := <-done:
		return copy(p, buf[:r.n]), r.err
	}
}

// parsePointer splits a JSON pointer (RFC 6901). "" is no pointer, and nil.
func parsePointer(s string) ([]string, error) {
	if s == "" {
		return nil, nil
	}
	if s[0] != '/' {
		return nil, exit.WithHint(exit.Usagef("--business-id %q: want a JSON pointer, which starts with a slash", wire.Visible(s)),
			"--business-id /%s", wire.Visible(s))
	}
	parts := strings.Split(s[1:], "/")
	for i, p := range parts {
		parts[i] = strings.ReplaceAll(strings.ReplaceAll(p, "~1", "/"), "~0", "~")
	}
	return parts, nil
}

// lookup finds the string or number at the pointer. A number keeps the digits it
// was written with. Anything else, and an empty string, is refused: a flight
// without the id that was asked for must not slip through.
func lookup(raw json.RawMessage, pointer []string) (string, error) {
	at := raw
	for i, key := range pointer {
		where := "/" + strings.Join(pointer[:i+1], "/")
		var next json.RawMessage
		switch first(at) {
		case '{':
			var m map[string]json.RawMessage
			if err := json.Unmarshal(at, &m); err != nil {
				return "", err
			}
			next = m[key]
		case '[':
			var a []json.RawMessage
			if err := json.Unmarshal(at, &a); err != nil {
				return "", err
			}
			if n, err := strconv.Atoi(key); err == nil && n >= 0 && n < len(a) {
				next = a[n]
			}
		}
		if next == nil {
			return "", fmt.Errorf("%s is missing", wire.Visible(where))
		}
		at = next
	}
	where := wire.Visible("/" + strings.Join(pointer, "/"))
	id := string(at)
	switch c := first(at); {
	case c == '"':
		if err := json.Unmarshal(at, &id); err != nil {
			return "", err
		}
		if jsonptr.Lossy(id) {
			return "", fmt.Errorf("%s is not UTF-8: ids that differ would look the same", where)
		}
	case c != '-' && (c < '0' || c > '9'):
		return "", fmt.Errorf("%s is neither a string nor a number", where)
	}
	if id == "" {
		return "", fmt.Errorf("%s is empty", where)
	}
	return id, wire.CheckBusinessID(id)
}

func first(raw json.RawMessage) byte {
	raw = bytes.TrimLeft(raw, " \t\r\n")
	if len(raw) == 0 {
		return 0
	}
	return raw[0]
}

// lineCounter knows the line of an offset of what was read through it. Offsets
// are asked for in ascending order, so passed newlines are forgotten.
type lineCounter struct {
	r        io.Reader
	read     int64
	line     int
	newlines []int64 // offsets that were read but not passed
}

func (l *lineCounter) Read(p []byte) (int, error) {
	n, err := l.r.Read(p)
	for i, c := range p[:n] {
		if c == '\n' {
			l.newlines = append(l.newlines, l.read+int64(i))
		}
	}
	l.read += int64(n)
	return n, err
}

func (l *lineCounter) at(offset int64) int {
	i := 0
	for i < len(l.newlines) && l.newlines[i] < offset {
		i++
	}
	l.line += i
	l.newlines = l.newlines[i:]
	return l.line
}
