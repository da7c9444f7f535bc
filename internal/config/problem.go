package config

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/traction-go/traction/pkg/governor"
)

// ErrConfig is the class of every refused configuration. Its errors are
// governor.ErrSpec too.
var ErrConfig = errors.New("invalid configuration")

// position is a place in the file, counted from 1. The zero position is the file
// as a whole.
type position struct{ line, col int }

// Problem is one thing that is wrong with a configuration, and where.
type Problem struct {
	File string
	Line int // 0: the file as a whole
	Col  int
	Path string // such as airports.crm:acme.gates.contact-sync.timeout
	Why  string
}

func (p *Problem) Error() string {
	var b strings.Builder
	b.WriteString(p.File)
	if p.Line > 0 {
		fmt.Fprintf(&b, ":%d:%d", p.Line, p.Col)
	}
	if p.Path != "" {
		b.WriteString(": " + p.Path)
	}
	b.WriteString(": " + p.Why)
	return b.String()
}

// Unwrap makes the problem an ErrConfig and a governor.ErrSpec.
func (p *Problem) Unwrap() []error { return []error{ErrConfig, governor.ErrSpec} }

// shown is how many problems are told at once.
const shown = 10

// Problems is everything that is wrong with a configuration, in the order of the
// file.
type Problems []*Problem

func (ps Problems) Error() string {
	var lines []string
	for _, p := range ps[:min(len(ps), shown)] {
		lines = append(lines, p.Error())
	}
	if n := len(ps) - shown; n > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", n))
	}
	return strings.Join(lines, "\n")
}

// Unwrap gives the problems one by one.
func (ps Problems) Unwrap() []error {
	all := make([]error, len(ps))
	for i, p := range ps {
		all[i] = p
	}
	return all
}

// err gives the problems in the order of the file, or nil where there is none.
func (ps Problems) err() error {
	if len(ps) == 0 {
		return nil
	}
	slices.SortStableFunc(ps, func(a, b *Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col))
	})
	return ps
}
