package rabbit

import (
	"net"
	"os"
	"sync"
	"time"
)

// maxUnsent is how much a socket takes before Write waits.
const maxUnsent = 1 << 20

// socket writes in the background, everything at hand in one call: the library
// flushes each frame, and a system call for each acknowledgement costs more than
// the acknowledgement. A write that the network does not take in time closes the
// connection, so that nobody hangs on it.
type socket struct {
	net.Conn
	timeout time.Duration
	kick    chan struct{}
	done    chan struct{}
	once    sync.Once

	mu   sync.Mutex
	buf  []byte
	err  error
	room chan struct{} // closed when buf was taken; nil when nobody waits
}

func newSocket(c net.Conn, timeout time.Duration) *socket {
	s := &socket{Conn: c, timeout: timeout, kick: make(chan struct{}, 1), done: make(chan struct{})}
	go s.flush()
	return s
}

func (s *socket) Write(p []byte) (int, error) {
	s.mu.Lock()
	for len(s.buf) > maxUnsent && s.err == nil {
		if s.room == nil {
			s.room = make(chan struct{})
		}
		room := s.room
		s.mu.Unlock()
		timer := time.NewTimer(s.timeout)
		select {
		case <-room:
		case <-s.done:
		case <-timer.C:
			s.fail(os.ErrDeadlineExceeded)
		}
		timer.Stop()
		s.mu.Lock()
	}
	if s.err != nil {
		defer s.mu.Unlock()
		return 0, s.err
	}
	s.buf = append(s.buf, p...)
	s.mu.Unlock()
	select {
	case s.kick <- struct{}{}:
	default:
	}
	return len(p), nil
}

func (s *socket) flush() {
	var spare []byte
	for {
		select {
		case <-s.kick:
		case <-s.done:
			return
		}
		s.mu.Lock()
		out := s.buf
		s.buf = spare[:0]
		if s.room != nil {
			close(s.room)
			s.room = nil
		}
		s.mu.Unlock()
		if len(out) == 0 {
			spare = out
			continue
		}
		err := s.Conn.SetWriteDeadline(time.Now().Add(s.timeout))
		if err == nil {
			_, err = s.Conn.Write(out)
		}
		if err != nil {
			s.fail(err)
			return
		}
		if spare = out; cap(spare) > 2*maxUnsent {
			spare = nil // one huge message must not be kept for good
		}
	}
}

func (s *socket) fail(err error) {
	s.mu.Lock()
	if s.err == nil {
		s.err = err
	}
	s.mu.Unlock()
	s.Close()
}

// SetDeadline and SetWriteDeadline leave writing to the background, which has a
// deadline of its own for each write.
func (s *socket) SetDeadline(t time.Time) error { return s.Conn.SetReadDeadline(t) }

// SetWriteDeadline does nothing, see SetDeadline.
func (s *socket) SetWriteDeadline(time.Time) error { return nil }

func (s *socket) Close() error {
	err := net.ErrClosed
	s.once.Do(func() {
		s.mu.Lock()
		if s.err == nil {
			s.err = net.ErrClosed
		}
		s.mu.Unlock()
		close(s.done)
		err = s.Conn.Close()
	})
	return err
}
