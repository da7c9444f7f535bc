package expand

import (
	"errors"
	"fmt"
	"strings"
)

// ErrExpand is the class of what cannot be expanded.
var ErrExpand = errors.New("cannot expand")

// Error says which reference could not be expanded, and why. It wraps ErrExpand.
type Error struct {
	Ref string // as written, such as ${TOKEN}
	Why string
}

func (e *Error) Error() string { return e.Ref + ": " + e.Why }

// Unwrap makes errors.Is(err, ErrExpand) true.
func (e *Error) Unwrap() error { return ErrExpand }

// Source is where references are looked up.
type Source struct {
	// Env reads the environment, as os.LookupEnv does. Required.
	Env func(name string) (string, bool)
	// Dir is where relative file paths start; "" is the working directory.
	Dir string
}

// Text is a text whose references have been looked up.
type Text struct {
	parts []part
}

// part is a literal, a variable's value, or a file.
type part struct {
	text string
	env  bool
	file *file
}

// Parse reads a text and looks up what it refers to.
func Parse(s string, from Source) (*Text, error) {
	t := &Text{}
	var literal strings.Builder
	flush := func() {
		if literal.Len() > 0 {
			t.parts = append(t.parts, part{text: literal.String()})
			literal.Reset()
		}
	}
	for s != "" {
		i := strings.Index(s, "${")
		if i < 0 {
			literal.WriteString(s)
			break
		}
		if i > 0 && s[i-1] == '$' { // $${
			literal.WriteString(s[:i-1] + "${")
			s = s[i+2:]
			continue
		}
		literal.WriteString(s[:i])
		end := strings.IndexByte(s[i:], '}')
		if end < 0 {
			return nil, &Error{"${", "is not closed: want ${NAME} or ${file:path}; write $${ for a plain ${"}
		}
		p, err := lookUp(s[i+2:i+end], from)
		if err != nil {
			return nil, err
		}
		flush()
		t.parts = append(t.parts, p)
		s = s[i+end+1:]
	}
	flush()
	return t, nil
}

func lookUp(ref string, from Source) (part, error) {
	if path, ok := strings.CutPrefix(ref, "file:"); ok {
		f, err := openFile(path, from.Dir)
		if err != nil {
			return part{}, &Error{"${" + ref + "}", err.Error()}
		}
		return part{file: f}, nil
	}
	if !isName(ref) {
		return part{}, &Error{"${" + ref + "}", "is no reference: want ${NAME}, of letters, digits and _, or ${file:path}; write $${ for a plain ${"}
	}
	v, ok := from.Env(ref)
	if !ok {
		return part{}, &Error{"${" + ref + "}", fmt.Sprintf("the environment variable %s is not set", ref)}
	}
	return part{text: v, env: true}, nil
}

func isName(s string) bool {
	for i := range len(s) {
		c := s[i]
		if c != '_' && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return s != ""
}

// Get gives the text, with files as they are now.
func (t *Text) Get() string {
	if len(t.parts) == 1 {
		return t.parts[0].get()
	}
	var b strings.Builder
	for _, p := range t.parts {
		b.WriteString(p.get())
	}
	return b.String()
}

func (p part) get() string {
	if p.file != nil {
		return p.file.get()
	}
	return p.text
}

// Files gives what the files in the text held when they were last read.
func (t *Text) Files() []string {
	var all []string
	for _, p := range t.parts {
		if p.file != nil {
			all = append(all, p.file.last())
		}
	}
	return all
}

// Variables gives the values of the environment variables in the text.
func (t *Text) Variables() []string {
	var all []string
	for _, p := range t.parts {
		if p.env {
			all = append(all, p.text)
		}
	}
	return all
}

// Refers reports whether the text refers to anything at all.
func (t *Text) Refers() bool {
	for _, p := range t.parts {
		if p.env || p.file != nil {
			return true
		}
	}
	return false
}
