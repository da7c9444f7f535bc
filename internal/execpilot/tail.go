package execpilot

import "sync"

// KeptStderr is how much of a program's stderr is kept, from its end: more than is
// shown, so that a secret at the cut is still recognized as one.
const KeptStderr = 4 << 10

// tail keeps the end of what is written to it, in a ring. The zero tail is empty.
type tail struct {
	mu   sync.Mutex
	ring [KeptStderr]byte
	n    int // bytes ever written, wrapping where the ring does once it is full
	full bool
}

// Write never fails and never waits: a program that floods its stderr only costs
// the copying.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	all := len(p)
	if len(p) > len(t.ring) {
		p = p[len(p)-len(t.ring):]
	}
	for len(p) > 0 {
		k := copy(t.ring[t.n:], p)
		p = p[k:]
		if t.n += k; t.n == len(t.ring) {
			t.n, t.full = 0, true
		}
	}
	return all, nil
}

// last gives what is kept.
func (t *tail) last() []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.full {
		return append([]byte(nil), t.ring[:t.n]...)
	}
	return append(append([]byte(nil), t.ring[t.n:]...), t.ring[:t.n]...)
}
