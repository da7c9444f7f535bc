package simfleet

import (
	"bytes"
	"net"
	"sync"
	"time"
)

// link is a connection of a process to the store, which can be cut, delays what is
// said, and is where a process may be killed around each call.
type link struct {
	net.Conn
	p    *process
	once sync.Once
}

func (p *process) dial() (net.Conn, error) {
	w := p.w
	w.mu.Lock()
	defer w.mu.Unlock()
	if p.dead || p.cutOff || w.storeAway {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: errGone}
	}
	c, err := w.redis.Dial()
	if err != nil {
		return nil, err
	}
	l := &link{Conn: spool(c), p: p}
	p.conns[l] = true
	return l, nil
}

// cut ends the connection; what was written may still be carried out.
func (l *link) cut() { l.once.Do(func() { _ = l.Conn.Close() }) }

// Close ends it from the process's side.
func (l *link) Close() error {
	l.p.w.mu.Lock()
	delete(l.p.conns, l)
	l.p.w.mu.Unlock()
	l.cut()
	return nil
}

// script is how the library begins a call of a script. Only these are delayed: while it
// greets the store it holds locks, and a goroutine that waits for a lock keeps virtual
// time from passing.
var script = []byte("evalsha")

func (l *link) Write(b []byte) (int, error) {
	if !bytes.Contains(b, script) {
		return l.Conn.Write(b)
	}
	time.Sleep(l.p.w.between(100*time.Microsecond, 1500*time.Microsecond))
	if l.p.step("before a call to the store") {
		return 0, errGone
	}
	return l.Conn.Write(b)
}

func (l *link) Read(b []byte) (int, error) {
	n, err := l.Conn.Read(b)
	if err != nil {
		return n, err
	}
	w := l.p.w
	w.mu.Lock()
	lose := w.plan.LoseReplies > 0 && time.Since(bubbleStart) < w.plan.Faults && w.rnd.Float64() < w.plan.LoseReplies
	w.mu.Unlock()
	if lose {
		l.cut()
		return 0, errGone
	}
	if l.p.step("after a call to the store") {
		return 0, errGone
	}
	return n, nil
}

// storeOutage takes the store away from everybody for d.
func (w *World) storeOutage(d time.Duration) {
	w.mu.Lock()
	if w.storeAway {
		w.mu.Unlock()
		return
	}
	w.storeAway = true
	w.fault("the store is away for %s", d)
	var conns []*link
	for _, p := range w.procs {
		conns = append(conns, p.takeConns()...)
	}
	w.mu.Unlock()
	for _, c := range conns {
		c.cut()
	}
	w.wg.Go(func() {
		time.Sleep(d)
		w.mu.Lock()
		defer w.mu.Unlock()
		w.storeAway = false
		w.fault("the store is back")
	})
}
