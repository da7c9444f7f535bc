package wire

import (
	"strconv"
	"strings"
)

// Scale is what an operator has set for a gate, over what its processes declare:
// <workers>:<batch>, where nothing stands for "as declared". The empty one sets
// nothing.
type Scale string

// Workers gives the workers per process, where declared is what the process has
// declared.
func (s Scale) Workers(declared int) int { return s.part(0, declared) }

// Batch gives the flights in one call, where declared is what the process has
// declared.
func (s Scale) Batch(declared int) int { return s.part(1, declared) }

func (s Scale) part(i, declared int) int {
	parts := strings.Split(string(s), ":")
	if len(parts) != 2 {
		return declared
	}
	n, err := strconv.Atoi(parts[i])
	if err != nil || n < 0 {
		return declared
	}
	return n
}
