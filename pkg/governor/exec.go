package governor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/traction-go/traction/internal/execpilot"
	"github.com/traction-go/traction/internal/wire"
)

// DefaultPath is where a program and its own programs are looked for when its
// environment names no PATH.
const DefaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// ExecSpec declares a program that flies flights, one process for each.
//
// The payload is on its stdin. Its environment is PATH (DefaultPath unless Env has
// one), what Env and LateEnv name, and the flight:
//
//	TRACTION_FLIGHT        the flight id, the same at every attempt
//	TRACTION_BUSINESS_ID   the caller's idempotency key
//	TRACTION_KEY           the idempotency key to send to a vendor
//	TRACTION_SCOPE         the gate, as airport/gate
//	TRACTION_ATTEMPT       1 for the first try
//	TRACTION_REPLAYS       how often an operator replayed it
//	TRACTION_DEADLINE      when the program is killed, RFC 3339 in UTC
//	TRACTION_CONTENT_TYPE  what the payload is said to be
//	TRACTION_CHARTER       the bulk run
//	TRACTION_SEAT          its number in it
//
// All are set at every flight, empty where there is nothing to say. Nothing else of
// the worker's environment is passed on.
type ExecSpec struct {
	// Command is the program and its arguments. A name with a slash starts at Dir; a
	// plain one is looked for in the program's own PATH. Required. It is not given to
	// a shell.
	Command []string

	// Dir is where the program runs. Default: the worker's working directory.
	Dir string

	// Env is added to the environment. Names that start with TRACTION_ are refused.
	Env map[string]string

	// LateEnv is asked at each start and stands over Env: for credentials that are
	// rotated while the worker runs. Its values are masked in evidence. It is called
	// from many goroutines.
	LateEnv func() map[string]string

	// Memory is the most that the program, with all that it starts, may have
	// resident, in bytes: over it, it is killed, which counts as a death. Zero: no
	// ceiling. Linux only.
	Memory int64
}

// Exec makes a pilot that runs a program for each flight, in a process group of its
// own, which ends as a whole with the program, the timeout or the worker.
//
// Its error is nil for exit 0, an ExitError for any other code, a DeathError where a
// signal or the memory ceiling ended the program, and a StoppedError where the
// flight's context did. A program that cannot be started gives a StartError. Evidence
// is the end of stderr; stdout is discarded. What the spec gets wrong is said by
// Airport.Validate, and by Run.
func Exec(spec ExecSpec) Pilot { return &execPilot{spec} }

type execPilot struct{ spec ExecSpec }

// validate says what is wrong with the spec; the governor's own pilots can be asked.
func (p *execPilot) validate(at string) error {
	s := p.spec
	switch {
	case !execpilot.Supported:
		return badSpec(at+": Pilot", "programs cannot be flown on this system: run the worker on Linux")
	case len(s.Command) == 0 || s.Command[0] == "":
		return badSpec(at+": Command", "is empty: want a program and its arguments")
	case s.Memory < 0:
		return badSpec(at+": Memory", "%d: want a positive size", s.Memory)
	case s.Memory > 0 && !execpilot.CanWatchMemory:
		return badSpec(at+": Memory", "a memory ceiling is kept on Linux alone: remove it, or run the worker there")
	}
	for _, arg := range s.Command {
		if strings.ContainsRune(arg, 0) {
			return badSpec(at+": Command", "an argument holds a NUL, which no program can be given")
		}
	}
	for name, v := range s.Env {
		if err := execpilot.CheckEnv(name, v); err != nil {
			return badSpec(at+": Env", "%v", err)
		}
	}
	return nil
}

// Find says which file the command is, or why it cannot be run.
func (s ExecSpec) Find() (string, error) {
	if len(s.Command) == 0 {
		return "", s.failed(exec.ErrNotFound)
	}
	return s.find(s.Env["PATH"])
}

func (s ExecSpec) find(path string) (string, error) {
	file, err := execpilot.Look(s.Command[0], s.Dir, or(path, DefaultPath))
	if err != nil {
		return "", s.failed(err)
	}
	return file, nil
}

// Fly runs the program.
func (p *execPilot) Fly(ctx context.Context, f Flight[[]byte]) error {
	env, secrets := p.environment(f.Meta)
	file, err := p.spec.find(env["PATH"])
	if err != nil {
		return err
	}
	dir := p.spec.Dir
	if dir != "" { // the file is absolute, and this must mean what it meant to find
		if dir, err = filepath.Abs(dir); err != nil {
			return p.spec.failed(err)
		}
	}
	job := execpilot.Job{Path: file, Args: p.spec.Command, Dir: dir, Stdin: f.Payload, Memory: p.spec.Memory}
	for _, name := range slices.Sorted(maps.Keys(env)) {
		job.Env = append(job.Env, name+"="+env[name])
	}
	r, err := execpilot.Run(ctx, job)
	if errors.Is(err, execpilot.ErrEnding) {
		return &StoppedError{Err: context.Canceled}
	}
	if err != nil {
		return p.spec.failed(err)
	}
	return p.spec.meaning(ctx, r, secrets)
}

// environment gives all of the program's environment, and what of it is secret.
func (p *execPilot) environment(m Meta) (env map[string]string, secrets []string) {
	env = map[string]string{"PATH": DefaultPath}
	maps.Copy(env, p.spec.Env)
	if p.spec.LateEnv != nil {
		for name, v := range p.spec.LateEnv() {
			if execpilot.CheckEnv(name, v) == nil {
				env[name] = v
				secrets = append(secrets, v)
			}
		}
	}
	deadline, seat := "", ""
	if !m.Deadline.IsZero() {
		deadline = m.Deadline.UTC().Format("2006-01-02T15:04:05.000Z07:00")
	}
	if m.Charter != "" {
		seat = strconv.Itoa(m.Seat)
	}
	for name, v := range map[string]string{
		"FLIGHT": m.ID, "BUSINESS_ID": m.BusinessID, "KEY": m.Key, "SCOPE": m.Scope,
		"ATTEMPT": strconv.Itoa(m.Attempt), "REPLAYS": strconv.Itoa(m.Replays),
		"DEADLINE": deadline, "CONTENT_TYPE": m.ContentType, "CHARTER": m.Charter, "SEAT": seat,
	} {
		// A NUL ends a value there, and would make two business ids one.
		env["TRACTION_"+name] = strings.ReplaceAll(v, "\x00", "%00")
	}
	return env, secrets
}

// meaning turns the program's end into the pilot's error.
func (s ExecSpec) meaning(ctx context.Context, r execpilot.Result, secrets []string) error {
	stderr := excerpt(r.Stderr, secrets)
	died := func(why string) error {
		death := &DeathError{Why: why}
		if stderr == "" {
			return death
		}
		return fmt.Errorf("%w: %s", death, stderr)
	}
	switch r.End {
	case execpilot.Stopped:
		return stopped(ctx, r.Cause, stderr)
	case execpilot.Ceiling:
		return died("memory ceiling of " + execpilot.SizeText(s.Memory))
	case execpilot.Signaled:
		if asked(r.Signal) {
			return &StoppedError{Err: fmt.Errorf("signal: %v, sent by somebody else", r.Signal), Stderr: stderr}
		}
		return died(fmt.Sprintf("signal: %v", r.Signal))
	}
	if r.Code == 0 {
		return nil
	}
	return &ExitError{Code: r.Code, Stderr: stderr}
}

// maxExcerpt leaves room for what an error says before it.
const maxExcerpt = wire.MaxEvidence - 128

// excerpt is the end of stderr as evidence: masked before it is cut, so that half a
// secret cannot stay.
func excerpt(stderr []byte, secrets []string) string {
	s := wire.Visible(strings.TrimSpace(wire.Mask(string(stderr), secrets...)))
	if len(s) <= maxExcerpt && len(stderr) < execpilot.KeptStderr {
		return s
	}
	s = s[max(len(s)-maxExcerpt, 0):]
	if i := strings.IndexAny(s, " \t"); i >= 0 && i < len(s)/2 {
		s = s[i:] // what is left of a word may be half a secret
	}
	return "..." + strings.ToValidUTF8(s, "")
}

func (s ExecSpec) failed(err error) error {
	name := ""
	if len(s.Command) > 0 {
		name = s.Command[0]
	}
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	return &StartError{Command: name, Dir: s.Dir, Err: err}
}
