//go:build unix

package testsvc

import (
	"fmt"
	"net"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// startEpmd runs the node's name server in the foreground, as ours, where its
// binary is found. Otherwise the node starts one of its own, in the background,
// and stopEpmd asks that to end.
func (b *broker) startEpmd() error {
	if b.epmd != nil && !b.epmd.exited() {
		return nil
	}
	path := epmdPath()
	if path == "" {
		return nil
	}
	port := b.port + epmdOffset
	p, err := start("epmd", b.dir, b.env, []string{path, "-port", strconv.Itoa(port), "-address", "127.0.0.1"})
	if err != nil {
		return err
	}
	b.epmd = p
	if !until(patience, func() bool { return accepts(port) || p.exited() }) || p.exited() {
		b.stopEpmd()
		return fmt.Errorf("starting epmd on port %d: it does not listen; its log ends with:\n%s", port, p.tail())
	}
	return nil
}

func (b *broker) stopEpmd() {
	if b.epmd != nil {
		b.epmd.end(syscall.SIGTERM)
		b.epmd = nil
	}
	killEpmd(b.port + epmdOffset)
}

// killEpmd sends epmd's own KILL_REQ, which it obeys on the loopback once no node
// is registered any more. Nobody listening is what we want.
func killEpmd(port int) {
	c, err := net.DialTimeout("tcp", addr(port), time.Second)
	if err != nil {
		return
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(2 * time.Second))
	if _, err := c.Write([]byte{0, 1, 'k'}); err == nil {
		_, _ = c.Read(make([]byte, 2))
	}
}

func epmdPath() string {
	if path, err := exec.LookPath("epmd"); err == nil {
		return path
	}
	for _, pattern := range []string{
		"/usr/lib/erlang/erts-*/bin/epmd",
		"/opt/homebrew/opt/erlang*/lib/erlang/erts-*/bin/epmd",
		"/usr/local/opt/erlang*/lib/erlang/erts-*/bin/epmd",
	} {
		if found, _ := filepath.Glob(pattern); len(found) > 0 {
			return found[0]
		}
	}
	return ""
}
