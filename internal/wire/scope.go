package wire

import (
	"errors"
	"fmt"
	"strings"
)

// MaxName is the longest part of a scope, in bytes. Three parts, the namespace
// and the longest suffix stay within the 255 bytes that AMQP gives a name.
const MaxName = 64

// ErrName is the class of every refused name.
var ErrName = errors.New("invalid name")

// NameError says which name was refused. It wraps ErrName.
type NameError struct {
	Kind string // "airport", "gate", "run" ...
	Name string
}

func (e *NameError) Error() string {
	return fmt.Sprintf("%s %q: use 1 to %d characters of A-Z a-z 0-9 . _ : - starting with a letter or digit", e.Kind, bound(e.Name, 80), MaxName)
}

// Unwrap makes errors.Is(err, ErrName) true.
func (e *NameError) Unwrap() error { return ErrName }

// CheckName refuses a part of a scope that is not 1 to 64 characters of
// A-Z a-z 0-9 . _ : - starting with a letter or digit. kind names the part in
// the error.
func CheckName(kind, name string) error {
	if len(name) == 0 || len(name) > MaxName || !alnum(name[0]) {
		return &NameError{kind, name}
	}
	for i := range len(name) {
		c := name[i]
		if !alnum(c) && c != '.' && c != '_' && c != ':' && c != '-' {
			return &NameError{kind, name}
		}
	}
	return nil
}

func alnum(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

// Scope is a path: an airport, a gate on it, or a charter's run at that gate.
// The zero Scope is no scope.
type Scope struct {
	Airport string
	Gate    string // "" for an airport
	Run     string // "" for an airport or a gate
}

// ParseScope reads "airport", "airport/gate" or "airport/gate/run" and refuses
// anything else with the rule in the error.
func ParseScope(s string) (Scope, error) {
	parts := strings.SplitN(s, "/", 4)
	if len(parts) > 3 {
		return Scope{}, fmt.Errorf("scope %q: want airport, airport/gate or airport/gate/run: %w", bound(s, 80), ErrName)
	}
	kinds := [...]string{"airport", "gate", "run"}
	for i, p := range parts {
		if err := CheckName(kinds[i], p); err != nil {
			return Scope{}, err
		}
	}
	parts = append(parts, "", "")
	return Scope{Airport: parts[0], Gate: parts[1], Run: parts[2]}, nil
}

// ParseGate reads "airport/gate" and nothing else.
func ParseGate(s string) (Scope, error) {
	sc, err := ParseScope(s)
	if err != nil {
		return Scope{}, err
	}
	if !sc.IsGate() {
		return Scope{}, fmt.Errorf("scope %q: want a gate, as airport/gate: %w", s, ErrName)
	}
	return sc, nil
}

// ParseAirport reads an airport's name and nothing else.
func ParseAirport(s string) (Scope, error) {
	sc, err := ParseScope(s)
	if err != nil {
		return Scope{}, err
	}
	if !sc.IsAirport() {
		return Scope{}, fmt.Errorf("scope %q: want an airport, without a slash: %w", s, ErrName)
	}
	return sc, nil
}

// IsAirport reports whether the scope names an airport alone.
func (s Scope) IsAirport() bool { return s.Airport != "" && s.Gate == "" }

// IsGate reports whether the scope names a gate, not a run.
func (s Scope) IsGate() bool { return s.Gate != "" && s.Run == "" }

// Parent gives a gate's airport, or a run's gate.
func (s Scope) Parent() Scope {
	switch {
	case s.Run != "":
		return Scope{Airport: s.Airport, Gate: s.Gate}
	default:
		return Scope{Airport: s.Airport}
	}
}

// String writes the path. For a gate it is also the routing key.
func (s Scope) String() string {
	switch {
	case s.Gate == "":
		return s.Airport
	case s.Run == "":
		return s.Airport + "/" + s.Gate
	}
	return s.Airport + "/" + s.Gate + "/" + s.Run
}
