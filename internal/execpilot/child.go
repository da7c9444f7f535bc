package execpilot

import (
	"context"
	"os/exec"
	"sync"
	"time"
)

// child is a program that was started and its process group.
type child struct {
	cmd *exec.Cmd
	pid int // of the program; also of its group and its session

	began time.Time // when its start had finished

	mu     sync.Mutex
	over   bool // the pid may be somebody else's from here on
	killed bool // we killed it
	why    End
	cause  error
}

// kill ends the group. The first reason stands.
func (c *child) kill(why End, cause error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over {
		return
	}
	if !c.killed {
		c.killed, c.why, c.cause = true, why, cause
	}
	killSession(c.pid)
}

// close ends what the program left in its group; from here on nothing is sent to
// it. Everything in the group is a leftover: its leader has ended.
func (c *child) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	killGroup(c.pid)
	c.over = true
}

// live are the programs that run.
var live registry

type registry struct {
	mu       sync.RWMutex // held while one is started, so that none slips through
	ending   bool
	set      sync.Mutex
	children map[*child]struct{}
}

func (r *registry) remove(c *child) {
	r.set.Lock()
	defer r.set.Unlock()
	delete(r.children, c)
}

// start starts the program and puts it in the registry.
func start(cmd *exec.Cmd) (*child, error) {
	live.mu.RLock()
	defer live.mu.RUnlock()
	if live.ending {
		return nil, ErrEnding
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	c := &child{cmd: cmd, pid: cmd.Process.Pid, began: time.Now()}
	first(c.pid)
	live.set.Lock()
	defer live.set.Unlock()
	if live.children == nil {
		live.children = map[*child]struct{}{}
	}
	live.children[c] = struct{}{}
	return c, nil
}

// KillAll ends every program that runs, with all that is in their groups, and
// refuses new ones: for a process that is about to exit and will not wait. A flight
// whose program ends so is not counted against it.
func KillAll() { live.killAll(true) }

func (r *registry) killAll(ending bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ending = ending
	r.set.Lock()
	defer r.set.Unlock()
	for c := range r.children {
		c.kill(Stopped, context.Canceled)
	}
}
