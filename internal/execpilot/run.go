package execpilot

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"time"
)

// Job is one run of a program.
type Job struct {
	Path   string   // of the program, as Look found it
	Args   []string // with the program's own name first
	Dir    string   // where it runs
	Env    []string // all of its environment, as NAME=value
	Stdin  []byte
	Memory int64 // ceiling in bytes; 0: none
}

// End is how a program ended.
type End uint8

const (
	// Exited by itself: Result.Code says with what.
	Exited End = iota
	// Signaled: Result.Signal ended it, and we did not send it.
	Signaled
	// Ceiling: it, with all that it started, went over its memory and was killed.
	Ceiling
	// Stopped: we killed it because the context had ended.
	Stopped
)

// Result is what became of a program that was started.
type Result struct {
	End    End
	Code   int
	Signal syscall.Signal
	Cause  error  // the context's error, for Stopped
	Stderr []byte // the end of it, KeptStderr bytes at most
}

// ErrEnding refuses a start after KillAll.
var ErrEnding = errors.New("this process is ending")

// lingers is how long pipes that somebody outside the group holds open are waited
// for after the program has ended.
const lingers = time.Second

// Run runs the program to its end. An error says that it was never started.
func Run(ctx context.Context, job Job) (Result, error) {
	if err := ctx.Err(); err != nil {
		return Result{End: Stopped, Cause: err}, nil
	}
	// The kernel's promise to kill the program with its parent is about this
	// thread; it must not end, or serve a goroutine that ends it, before the
	// program does.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()

	var stderr tail
	cmd := &exec.Cmd{
		Path: job.Path, Args: job.Args, Dir: job.Dir, Env: job.Env,
		Stdin: bytes.NewReader(job.Stdin), Stderr: &stderr,
		SysProcAttr: attributes(), WaitDelay: lingers,
	}
	c, err := start(cmd)
	if err != nil {
		return Result{}, err
	}
	done, watched := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(watched)
		c.watch(ctx, job.Memory, done)
	}()
	c.wait(sync.OnceFunc(func() { close(done); <-watched }))
	live.remove(c)
	return c.result(stderr.last()), nil
}

// watch kills the group when the context ends or the ceiling is crossed.
func (c *child) watch(ctx context.Context, memory int64, done <-chan struct{}) {
	var look <-chan time.Time
	if memory > 0 {
		t := time.NewTicker(lookEvery)
		defer t.Stop()
		look = t.C
	}
	for {
		select {
		case <-done:
			return
		case <-ctx.Done():
			c.kill(Stopped, ctx.Err())
			return
		case <-look:
			if over(c.pid, c.began, memory) {
				c.kill(Ceiling, nil)
				return
			}
		}
	}
}

// result tells how the program ended, once it is reaped. A program that exited
// before our signal reached it has said what it wanted to say.
func (c *child) result(stderr []byte) Result {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := Result{Stderr: stderr}
	state := c.cmd.ProcessState
	if state == nil {
		// Nobody could wait for it: somebody else in this process reaped it.
		r.End, r.Cause = Stopped, errors.New("its end was taken by somebody else: nothing in this process may wait for children that it did not start")
		return r
	}
	status, ok := state.Sys().(syscall.WaitStatus)
	switch {
	case !ok || !status.Signaled():
		r.End, r.Code = Exited, state.ExitCode()
	case c.killed:
		r.End, r.Cause = c.why, c.cause
	default:
		r.End, r.Signal = Signaled, status.Signal()
	}
	return r
}
