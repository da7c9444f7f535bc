//go:build unix && !linux

package execpilot

import (
	"syscall"
	"time"
)

// Supported says whether programs can be run here.
const Supported = true

// CanWatchMemory says whether a ceiling can be kept here.
const CanWatchMemory = false

const lookEvery = time.Second

func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// wait reaps the program, then ends its group. Between the two the group's number
// is kept only by what is left in it: the system offers nothing better.
func (c *child) wait(stop func()) {
	_ = c.cmd.Wait()
	stop()
	c.close()
}

func killGroup(pid int)               { _ = syscall.Kill(-pid, syscall.SIGKILL) }
func killSession(pid int)             { killGroup(pid) }
func first(int)                       {}
func over(int, time.Time, int64) bool { return false }
