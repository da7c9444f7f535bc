package config

import (
	"regexp"
	"strings"

	"github.com/traction-go/traction/internal/config/expand"
	"github.com/traction-go/traction/internal/execpilot"
)

const (
	minMemory = 1 << 20
	maxMemory = 1 << 40
)

func (v value) exec() *Exec {
	x := &Exec{Dir: v.d.from.Dir}
	found := v.fields("a mapping with command", []field{
		{"command", func(v value) {
			for _, item := range v.items("a program and its arguments, such as [./sync-company]") {
				x.Command = append(x.Command, item.argument())
			}
			if len(x.Command) > 0 && x.Command[0] == "" {
				v.bad("starts with nothing: want a program first")
			}
		}},
		{"memory", func(v value) {
			if x.Memory = v.bytes(minMemory, maxMemory); !execpilot.CanWatchMemory {
				v.bad("a memory ceiling is kept on Linux alone: remove it, or run the worker there")
			}
		}},
		{"env", func(v value) { x.Env = v.environment() }},
	})
	if _, ok := found["command"]; !ok {
		v.bad("has no command")
	}
	if !execpilot.Supported {
		v.bad("programs cannot be flown on this system: run the worker on Linux")
	}
	return x
}

// argument reads one word of a command. Anybody on the machine can read it in the
// list of processes, so what files hold has no place there.
func (v value) argument() string {
	t, ok := v.expanded("a program or an argument")
	if !ok {
		return ""
	}
	if len(t.Files()) > 0 {
		v.bad("a file's content would show in the list of processes: give it in env")
		return ""
	}
	s := t.Get()
	if strings.ContainsRune(s, 0) {
		v.bad("holds a NUL, which no argument can")
	}
	return s
}

func (v value) environment() []Variable {
	var all []Variable
	for _, e := range v.entries("a mapping of names and values") {
		t, ok := e.expanded("a variable's value")
		if !ok {
			continue
		}
		if err := execpilot.CheckEnv(e.name, t.Get()); err != nil {
			e.d.problem(e.keyPos, e.path, "%v", err)
			continue
		}
		all = append(all, Variable{e.name, t})
	}
	return all
}

// Variable is one variable of a program's environment; its value may come from a
// file that is rotated while the worker runs.
type Variable struct {
	Name  string
	Value *expand.Text
}

// secretVariable finds variables whose whole value is a credential.
var secretVariable = regexp.MustCompile(`(?i)token|secret|passw|api_?key|auth|credential|signature|cookie|private_?key`)

// secret reports whether the value must never be shown.
func (v Variable) secret() bool {
	return len(v.Value.Files()) > 0 || secretVariable.MatchString(v.Name)
}
