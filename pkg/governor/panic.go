package governor

import (
	"fmt"
	"runtime/debug"
	"strconv"
	"strings"
)

func itoa(n int) string { return strconv.Itoa(n) }

// PanicError is a panic of a pilot or a reporter, caught. Its text is the panic's
// value and the head of the stack.
type PanicError struct {
	Value any
	Stack string
}

// Error says the panic's value and where it began.
func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v at %s", e.Value, e.Stack) }

// call runs f and turns a panic into an error.
func call(f func() error) (err error, panicked bool) {
	defer func() {
		if v := recover(); v != nil {
			err, panicked = &PanicError{v, stackHead(string(debug.Stack()))}, true
		}
	}()
	return f(), false
}

// stackHead finds the first frames below the panic.
func stackHead(stack string) string {
	lines := strings.Split(stack, "\n")
	for i, line := range lines {
		if !strings.HasPrefix(line, "panic(") || i+2 >= len(lines) {
			continue
		}
		var frames []string
		for _, l := range lines[i+2:] {
			if l = strings.TrimSpace(l); l != "" && len(frames) < 4 {
				frames = append(frames, l)
			}
		}
		return strings.Join(frames, " < ")
	}
	return "unknown"
}

// atoi64 reads a number the store wrote; 0 where it is none.
func atoi64(s string) int64 {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return 0
	}
	return n
}
