//go:build unix

package testsvc

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

// RabbitMQProc is a broker that belongs to one test. Its methods fail the test
// when they cannot do what they say; call them from the test's goroutine.
type RabbitMQProc struct {
	t testing.TB
	b *broker
}

// RabbitMQ starts a broker and waits until it serves. It ends with the test. conf
// holds lines for its rabbitmq.conf, such as "consumer_timeout = 5000".
func RabbitMQ(t testing.TB, conf ...string) *RabbitMQProc {
	t.Helper()
	Need(t)
	b, err := newBroker(conf)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.remove)
	return &RabbitMQProc{t: t, b: b}
}

// URL is the broker's address with the guest user; it survives restarts.
func (r *RabbitMQProc) URL() string { return r.b.url() }

// Start starts a broker that was stopped or killed, with the data it had, and
// waits until it serves.
func (r *RabbitMQProc) Start() {
	r.t.Helper()
	if err := r.b.start(); err != nil {
		r.t.Fatal(err)
	}
}

// Stop ends the broker in good order and returns when it has ended.
func (r *RabbitMQProc) Stop() { r.b.stop(syscall.SIGTERM) }

// Kill ends the whole virtual machine with SIGKILL.
func (r *RabbitMQProc) Kill() { r.b.stop(syscall.SIGKILL) }

// Restart is Stop and Start.
func (r *RabbitMQProc) Restart() {
	r.t.Helper()
	r.Stop()
	r.Start()
}

// Ctl runs rabbitmqctl against the broker and returns what it printed. It takes
// about a second.
func (r *RabbitMQProc) Ctl(args ...string) string {
	r.t.Helper()
	argv := append(r.b.ctl(), args...)
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = r.b.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.t.Fatalf("running %s: %v\n%s", strings.Join(argv, " "), err, out)
	}
	return string(out)
}

// broker is a RabbitMQ server with its own folder, ports and epmd.
type broker struct {
	port int
	dir  string
	argv []string
	env  []string
	p    *process
	epmd *process
}

func newBroker(conf []string) (*broker, error) {
	var err error
	// Between finding a port and listening on it another process may take it.
	for range 3 {
		var b *broker
		if b, err = prepareBroker(conf); err != nil {
			return nil, err
		}
		if err = b.start(); err == nil {
			return b, nil
		}
		b.remove()
	}
	return nil, err
}

func (b *broker) url() string { return fmt.Sprintf("amqp://guest:guest@%s/", addr(b.port)) }

func (b *broker) start() error {
	if b.p != nil && !b.p.exited() {
		return fmt.Errorf("starting RabbitMQ on port %d: it runs already; stop it first", b.port)
	}
	if err := b.startEpmd(); err != nil {
		return err
	}
	p, err := start("rabbitmq", b.dir, b.env, b.argv)
	if err != nil {
		return err
	}
	b.p = p
	if until(patience, func() bool { return b.serves() || p.exited() }) && !p.exited() {
		return nil
	}
	what := fmt.Sprintf("did not serve within %v", patience)
	if p.exited() {
		what = "ended at once"
	}
	b.stop(syscall.SIGKILL)
	return fmt.Errorf("starting RabbitMQ on port %d with %q: it %s; its log ends with:\n%s", b.port, b.argv[0], what, p.tail())
}

// serves reports whether the broker opens channels: it listens a little earlier.
func (b *broker) serves() bool {
	if !accepts(b.port) {
		return false
	}
	c, err := amqp.DialConfig(b.url(), amqp.Config{Dial: amqp.DefaultDial(2 * time.Second)})
	if err != nil {
		return false
	}
	defer c.Close()
	ch, err := c.Channel()
	if err != nil {
		return false
	}
	return ch.Close() == nil
}

func (b *broker) stop(sig syscall.Signal) {
	if b.p == nil {
		return
	}
	b.p.end(sig)
	until(patience/3, func() bool { return !accepts(b.port) })
}

// remove ends the broker and its epmd and removes its folder.
func (b *broker) remove() {
	b.stop(syscall.SIGKILL)
	b.stopEpmd()
	_ = os.RemoveAll(b.dir)
}
