package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The processes whose time is counted, as Linux names them. The worker is known by its
// id.
var counted = []struct{ name, comm string }{{"worker", ""}, {"broker", "beam.smp"}, {"store", "redis-server"}, {"store", "valkey-server"}}

// tick is what /proc counts a process's time in.
const tick = 10 * time.Millisecond

// spent is the processor time that each party has used up to now: of the workers, by
// default this process, and of the broker and the store that scripts/bench.sh started
// beside it. It is nil where there is no /proc.
func spent(workers ...int) map[string]time.Duration {
	if runtime.GOOS != "linux" {
		return nil
	}
	if len(workers) == 0 {
		workers = []int{os.Getpid()}
	}
	out := map[string]time.Duration{}
	parents, stats := map[int]int{}, map[int][]string{}
	dirs, _ := filepath.Glob("/proc/[0-9]*") // the pattern is well-formed
	for _, dir := range dirs {
		pid, err := strconv.Atoi(filepath.Base(dir))
		if err != nil {
			continue
		}
		b, err := os.ReadFile(filepath.Join(dir, "stat"))
		if err != nil {
			continue // it ended
		}
		// pid (comm) state ppid ...: a comm may have blanks and parentheses.
		at, end := strings.IndexByte(string(b), '('), strings.LastIndexByte(string(b), ')')
		f := strings.Fields(string(b)[end+1:])
		if parents[pid], err = strconv.Atoi(f[1]); err == nil {
			stats[pid] = append([]string{string(b)[at+1 : end]}, f...)
		}
	}
	for pid, s := range stats {
		for _, c := range counted {
			if works := slices.Contains(workers, pid); works != (c.comm == "") || !works && (c.comm != s[0] || !below(os.Getppid(), pid, parents)) {
				continue
			}
			user, _ := strconv.Atoi(s[12]) // utime and stime, always numbers
			system, _ := strconv.Atoi(s[13])
			out[c.name] += time.Duration(user+system) * tick
		}
	}
	return out
}

// below reports whether pid descends from the given process.
func below(from, pid int, parents map[int]int) bool {
	for ; pid > 1; pid = parents[pid] {
		if pid == from {
			return true
		}
	}
	return false
}

// each tells what was used since then for each of n messages.
func each(since map[string]time.Duration, n int, workers ...int) string {
	now := spent(workers...)
	if since == nil || now == nil {
		return ""
	}
	var parts []string
	for _, name := range []string{"worker", "broker", "store"} {
		parts = append(parts, fmt.Sprintf("%s %d", name, (now[name]-since[name]).Microseconds()/int64(n)))
	}
	return strings.Join(parts, ", ")
}

// resident is the memory a process has in the machine's, in MB.
func resident(pid int) (float64, error) {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	_, rest, ok := strings.Cut(string(raw), "VmRSS:")
	if f := strings.Fields(rest); ok && len(f) > 0 {
		kB, err := strconv.Atoi(f[0])
		return float64(kB) / 1024, err
	}
	return 0, fmt.Errorf("/proc/%d/status does not tell VmRSS", pid)
}
