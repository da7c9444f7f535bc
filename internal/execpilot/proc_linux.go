package execpilot

import (
	"errors"
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// Supported says whether programs can be run here.
const Supported = true

// attributes: a session of its own, so that neither a terminal's signals nor the
// worker's group reach it, and an end with its parent's.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
}

// wait waits for the program's end, ends its group while the program's pid is still
// its own, and reaps it. stop ends the watch and returns when it has ended.
func (c *child) wait(stop func()) {
	for {
		err := unix.Waitid(unix.P_PID, c.pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			break // it has ended, or somebody reaped it: Wait tells
		}
	}
	stop()
	c.close()
	_ = c.cmd.Wait() // the state says more than the error
	reapOrphans(c.pid)
}

// killGroup kills all that is in the group.
func killGroup(pid int) { _ = unix.Kill(-pid, unix.SIGKILL) }

// killSession kills the group, and what has left it for a group of its own in the
// same session, as a shell's background jobs may.
func killSession(pid int) {
	killGroup(pid)
	for _, p := range scan()[pid] {
		if p.group != pid {
			_ = unix.Kill(p.pid, unix.SIGKILL)
		}
	}
}

// reapOrphans reaps what of the group has become ours with the program's end: as
// the first process of a container, nobody else would. The group was killed, so this
// is not waiting for anybody's work.
func reapOrphans(pid int) {
	var reaper uintptr
	if os.Getpid() != 1 {
		if err := prctlGetSubreaper(&reaper); err != nil || reaper == 0 {
			return
		}
	}
	for {
		_, err := unix.Wait4(-pid, nil, 0, nil)
		if err != nil && !errors.Is(err, unix.EINTR) {
			return // ECHILD: none are left
		}
	}
}

// first makes the program one that the kernel takes before the worker when memory
// runs out. What it starts inherits this.
func first(pid int) {
	own, err := os.ReadFile("/proc/self/oom_score_adj")
	if err != nil {
		return
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(own)))
	if err != nil {
		return
	}
	_ = os.WriteFile("/proc/"+strconv.Itoa(pid)+"/oom_score_adj", []byte(strconv.Itoa(min(n+500, 1000))), 0)
}
