package execpilot

import (
	"bytes"
	"os"
	"strconv"
	"sync"
	"time"
)

// CanWatchMemory says whether a ceiling can be kept here.
const CanWatchMemory = true

// lookEvery is how often a program with a ceiling is looked at.
const lookEvery = 50 * time.Millisecond

var pageSize = int64(os.Getpagesize())

// process is what is known of a process in a program's session.
type process struct {
	pid   int
	group int
	rss   int64
}

// over reports whether the session of a program that was started at since holds more
// memory than it may. Resident sizes
// count shared pages once for each process; before they cost a program its life,
// they are counted exactly.
func over(session int, since time.Time, ceiling int64) bool {
	all := looks.recent(since)[session]
	sum := int64(0)
	for _, p := range all {
		sum += p.rss
	}
	if sum <= ceiling || len(all) == 1 {
		return sum > ceiling
	}
	sum = 0
	for _, p := range all {
		sum += proportional(p)
	}
	return sum > ceiling
}

// proportional is the process's memory with shared pages divided by those who share
// them; where that cannot be read, all of it.
func proportional(p process) int64 {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(p.pid) + "/smaps_rollup")
	if err != nil {
		if os.IsNotExist(err) {
			if _, err := os.Stat("/proc/" + strconv.Itoa(p.pid)); err != nil {
				return 0 // it has ended
			}
		}
		return p.rss
	}
	for line := range bytes.Lines(text) {
		rest, ok := bytes.CutPrefix(line, []byte("Pss:"))
		if !ok {
			continue
		}
		if n, err := strconv.ParseInt(string(bytes.TrimSuffix(bytes.TrimSpace(rest), []byte(" kB"))), 10, 64); err == nil {
			return n << 10
		}
	}
	return p.rss
}

// looks shares one look at the machine's processes among all programs with a
// ceiling.
var looks look

type look struct {
	mu   sync.Mutex
	at   time.Time
	rest time.Duration
	seen map[int][]process
}

// recent gives a look that began after since and is not old; on a machine with so many
// processes that looking takes long, a twentieth of the time is spent on it. What was
// seen before a program's start has finished is nothing to judge it by: until then it
// is a copy of the worker, with all of the worker's memory.
func (l *look) recent(since time.Time) map[int][]process {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.seen != nil && l.at.After(since) && time.Since(l.at) < l.rest {
		return l.seen
	}
	l.at = time.Now()
	l.seen = scan()
	l.rest = max(lookEvery/2, 20*time.Since(l.at))
	return l.seen
}

// scan lists the processes of the machine by session.
func scan() map[int][]process {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	all := map[int][]process{}
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		text, err := os.ReadFile("/proc/" + name + "/stat")
		if err != nil {
			continue // it has ended
		}
		if session, p, ok := stat(pid, text); ok {
			all[session] = append(all[session], p)
		}
	}
	return all
}

// stat reads what is needed of a line of /proc/PID/stat. The name in it may hold
// spaces and parentheses; what follows its last one is plain.
func stat(pid int, text []byte) (session int, p process, ok bool) {
	i := bytes.LastIndexByte(text, ')')
	if i < 0 {
		return 0, p, false
	}
	f := bytes.Fields(text[i+1:])
	if len(f) < 22 || f[0][0] == 'Z' || f[0][0] == 'X' {
		return 0, p, false
	}
	group, err1 := strconv.Atoi(string(f[2]))
	session, err2 := strconv.Atoi(string(f[3]))
	rss, err3 := strconv.ParseInt(string(f[21]), 10, 64)
	return session, process{pid, group, rss * pageSize}, err1 == nil && err2 == nil && err3 == nil
}
