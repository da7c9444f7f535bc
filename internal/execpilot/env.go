package execpilot

import (
	"fmt"
	"strings"

	"github.com/traction-go/traction/internal/wire"
)

// Prefix starts the names of the variables that tell a program its flight.
const Prefix = "TRACTION_"

// CheckEnv refuses what no environment can hold, and the names that are the
// worker's own. It never repeats the value.
func CheckEnv(name, value string) error {
	switch {
	case name == "" || strings.ContainsAny(name, "=\x00"):
		return fmt.Errorf("%q is no name of an environment variable", wire.Visible(name))
	case strings.HasPrefix(name, Prefix):
		return fmt.Errorf("%s: names that start with %s are set by the worker itself", wire.Visible(name), Prefix)
	case strings.ContainsRune(value, 0):
		return fmt.Errorf("%s: holds a NUL, which no environment can", wire.Visible(name))
	}
	return nil
}
