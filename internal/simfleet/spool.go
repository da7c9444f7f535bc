package simfleet

import (
	"io"
	"net"
)

// spool is a connection to c that takes at once whatever its other end says, read or
// not. The embedded store holds a lock while it writes to a subscriber: one that does
// not read for a moment, and another that is told meanwhile, would wait for a lock, and
// virtual time would stand still for ever.
func spool(c net.Conn) net.Conn {
	near, far := net.Pipe()
	said := make(chan []byte, 1<<14) // more than is ever unread
	go func() {
		defer close(said)
		for {
			b := make([]byte, 4096)
			n, err := c.Read(b)
			if n > 0 {
				said <- b[:n]
			}
			if err != nil {
				return
			}
		}
	}()
	go func() {
		defer far.Close()
		for b := range said {
			if _, err := far.Write(b); err != nil {
				break
			}
		}
		for range said {
		}
	}()
	go func() {
		defer c.Close()
		_, _ = io.Copy(c, far) // either end closed: the other is closed too
	}()
	return near
}
