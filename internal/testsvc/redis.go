//go:build unix

package testsvc

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// RedisProc is a store that belongs to one test. Its methods fail the test when
// they cannot do what they say; call them from the test's goroutine.
type RedisProc struct {
	// Addr is host:port; it survives restarts.
	Addr string

	t testing.TB
	s *store
}

// Redis starts a store and waits until it answers. It ends with the test. args
// are redis-server's options. Without any it keeps nothing over a restart; with
// "--appendonly", "yes" it keeps all it has written out.
func Redis(t testing.TB, args ...string) *RedisProc {
	t.Helper()
	Need(t)
	s, err := newStore(args)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.remove)
	return &RedisProc{Addr: addr(s.port), t: t, s: s}
}

// URL is the store's address, database 0.
func (r *RedisProc) URL() string { return r.s.url() }

// Start starts a store that was stopped or killed, with the data it kept.
func (r *RedisProc) Start() {
	r.t.Helper()
	if err := r.s.start(); err != nil {
		r.t.Fatal(err)
	}
}

// Stop ends the store in good order and returns when it has ended.
func (r *RedisProc) Stop() { r.s.stop(syscall.SIGTERM) }

// Kill ends the store with SIGKILL.
func (r *RedisProc) Kill() { r.s.stop(syscall.SIGKILL) }

// Restart is Stop and Start: with an append-only file the data is still there,
// after Save what was there then, and otherwise nothing.
func (r *RedisProc) Restart() {
	r.t.Helper()
	r.Stop()
	r.Start()
}

// RestartEmpty restarts the store without whatever it kept.
func (r *RedisProc) RestartEmpty() {
	r.t.Helper()
	r.Stop()
	if err := os.RemoveAll(r.s.data()); err != nil {
		r.t.Fatalf("emptying the store: %v", err)
	}
	r.Start()
}

// Save writes a snapshot that a store without an append-only file loads at its
// next start, whatever it wrote since: a store that went back in time.
func (r *RedisProc) Save() { r.t.Helper(); r.do("SAVE") }

// FlushAll removes every key.
func (r *RedisProc) FlushAll() { r.t.Helper(); r.do("FLUSHALL") }

func (r *RedisProc) do(command string) {
	r.t.Helper()
	if reply, err := inline(r.Addr, command); err != nil || reply != "+OK" {
		r.t.Fatalf("sending %s to the store at %s: got %q, %v", command, r.Addr, reply, err)
	}
}

// store is a Redis server with its own folder and port.
type store struct {
	port int
	dir  string
	args []string
	p    *process
}

func newStore(args []string) (*store, error) {
	var err error
	for range 3 {
		s := &store{args: args}
		if s.port, err = freePort(); err != nil {
			return nil, err
		}
		if s.dir, err = os.MkdirTemp("", "traction-test-redis-"); err != nil {
			return nil, fmt.Errorf("making the store's folder: %w", err)
		}
		if err = s.start(); err == nil {
			return s, nil
		}
		s.remove()
	}
	return nil, err
}

func (s *store) url() string  { return fmt.Sprintf("redis://%s/0", addr(s.port)) }
func (s *store) data() string { return filepath.Join(s.dir, "data") }

func (s *store) start() error {
	if s.p != nil && !s.p.exited() {
		return fmt.Errorf("starting the store on port %d: it runs already; stop it first", s.port)
	}
	argv, err := redisCommand()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(s.data(), 0o700); err != nil {
		return fmt.Errorf("making the store's folder: %w", err)
	}
	argv = append(argv, strconv.Itoa(s.port), "--bind", "127.0.0.1", "--save", "", "--dir", s.data())
	p, err := start("redis", s.dir, os.Environ(), append(argv, s.args...))
	if err != nil {
		return err
	}
	s.p = p
	if until(patience, func() bool { return s.serves() || p.exited() }) && !p.exited() {
		return nil
	}
	s.stop(syscall.SIGKILL)
	return fmt.Errorf("starting the store on port %d with %q: it does not answer; its log ends with:\n%s", s.port, argv[0], p.tail())
}

func (s *store) serves() bool {
	reply, err := inline(addr(s.port), "PING")
	return err == nil && (reply == "+PONG" || strings.HasPrefix(reply, "-NOAUTH"))
}

func (s *store) stop(sig syscall.Signal) {
	if s.p == nil {
		return
	}
	s.p.end(sig)
	until(patience/3, func() bool { return !accepts(s.port) })
}

func (s *store) remove() {
	s.stop(syscall.SIGKILL)
	_ = os.RemoveAll(s.dir)
}

func redisCommand() ([]string, error) {
	if argv := strings.Fields(os.Getenv(EnvRedisCmd)); len(argv) > 0 {
		return argv, nil
	}
	for _, name := range []string{"redis-server", "valkey-server"} {
		if path, err := exec.LookPath(name); err == nil {
			return []string{path, "--port"}, nil
		}
	}
	return nil, fmt.Errorf("looking for redis-server or valkey-server: neither is in PATH; run scripts/test.sh, which installs one, or set %s", EnvRedisCmd)
}

// inline sends one command as plain text and returns the first line of the reply.
func inline(address, command string) (string, error) {
	c, err := net.DialTimeout("tcp", address, time.Second)
	if err != nil {
		return "", err
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
		return "", err
	}
	if _, err := fmt.Fprintf(c, "%s\r\n", command); err != nil {
		return "", err
	}
	line, err := bufio.NewReader(c).ReadString('\n')
	return strings.TrimSpace(line), err
}
