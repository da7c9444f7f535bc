//go:build unix

package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/traction-go/traction/internal/testsvc"
	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/settle"
)

// operating is a tractionctl that runs while the test goes on.
type operating struct {
	t        *testing.T
	cmd      *exec.Cmd
	out, err *buffer
	done     chan struct{} // closed when it was reaped
}

// operate starts tractionctl; env goes before what the site gives it.
func (s *site) operate(env []string, args ...string) *operating {
	s.t.Helper()
	o := &operating{t: s.t, cmd: exec.Command(ctlBin, args...), out: &buffer{}, err: &buffer{}, done: make(chan struct{})}
	o.cmd.Env = append(append(os.Environ(), "TRACTION_AMQP_URL="+s.amqp, "TRACTION_REDIS_URL="+s.redis, "TRACTION_NAMESPACE="+s.ns,
		"TRACTION_ACTOR=dana", "TRACTION_CONFIG=", "HOME="+s.dir, "XDG_CONFIG_HOME="+s.dir, "NO_COLOR=1"), env...)
	o.cmd.Stdout, o.cmd.Stderr = o.out, o.err
	if err := o.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	guard.tell("+", o.cmd.Process.Pid)
	go func() {
		_ = o.cmd.Wait()
		guard.tell("-", o.cmd.Process.Pid)
		close(o.done)
	}()
	s.t.Cleanup(func() { _ = o.cmd.Process.Kill(); <-o.done })
	return o
}

// ends sends a signal and gives the exit code: -1 where the signal ended it.
func (o *operating) ends(sig syscall.Signal) int {
	o.t.Helper()
	if err := o.cmd.Process.Signal(sig); err != nil {
		o.t.Fatalf("it ended before it could be told to: %v\n%s%s", err, o.out, o.err)
	}
	testsvc.Until(o.t, long, "tractionctl to end", func() bool {
		select {
		case <-o.done:
			return true
		default:
			return false
		}
	})
	return o.cmd.ProcessState.ExitCode()
}

// declare has a worker declare the site's gates, and ends it: what is put on the
// shelves and the runways then stays there.
func (s *site) declare() {
	s.t.Helper()
	w := s.start(1, s.config("declare.yaml", oneGate))[0]
	s.becomes(wire.Open)
	w.term()
	w.exits()
}

// shelve parks flights n..m-1, as a worker would have; their business ids are prefix
// and number.
func (s *site) shelve(prefix string, n, m int) (ids []string) {
	s.t.Helper()
	gate, err := wire.ParseGate(contacts)
	if err != nil {
		s.t.Fatal(err)
	}
	conn, err := amqp.Dial(s.amqp)
	if err != nil {
		s.t.Fatal(err)
	}
	defer conn.Close()
	ch, err := conn.Channel()
	if err != nil {
		s.t.Fatal(err)
	}
	if err := ch.Confirm(false); err != nil {
		s.t.Fatal(err)
	}
	confirms := ch.NotifyPublish(make(chan amqp.Confirmation, m-n))
	at := time.Now().UTC()
	for i := n; i < m; i++ {
		id := fmt.Sprintf("%s%d", prefix, i)
		f := wire.Flight{ID: "flight-" + id, Scope: gate, BusinessID: id, Seat: wire.NoSeat, ParkedReason: settle.ReasonGateFault,
			Evidence: "404 Not Found", ParkedAt: at, Worker: "w", Msg: wire.Message{ContentType: "application/json", Body: []byte(`{"id":"` + id + `"}`)}}
		msg := f.Message()
		err := ch.PublishWithContext(s.t.Context(), "", wire.Namespace(s.ns).Parked(gate), false, false, amqp.Publishing{
			MessageId: msg.ID, Type: msg.Type, ContentType: msg.ContentType, Headers: amqp.Table(msg.Headers), Body: msg.Body, DeliveryMode: amqp.Persistent})
		if err != nil {
			s.t.Fatal(err)
		}
		s.sent[id] = true
		ids = append(ids, id)
	}
	late := time.After(long)
	for range ids {
		select {
		case c := <-confirms:
			if !c.Ack {
				s.t.Fatal("the broker refused a parked flight")
			}
		case <-late:
			s.t.Fatalf("the broker has not confirmed %d parked flights within %v", m-n, long)
		}
	}
	return ids
}

// queued gives the business ids in a queue, in their order, and empties it.
func (s *site) queued(queue string) (ids []string) {
	s.t.Helper()
	conn, err := amqp.Dial(s.amqp)
	if err != nil {
		s.t.Fatal(err)
	}
	defer conn.Close()
	ch, err := conn.Channel()
	if err != nil {
		s.t.Fatal(err)
	}
	q, err := ch.QueueDeclarePassive(queue, true, false, false, false, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	ds, err := ch.Consume(queue, "", true, false, false, false, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	late := time.After(long)
	for range q.Messages {
		select {
		case d := <-ds:
			id, _ := d.Headers[wire.HeaderBusinessID].(string)
			ids = append(ids, strings.Clone(id))
		case <-late:
			s.t.Fatalf("%s gave %d of %d flights within %v", queue, len(ids), q.Messages, long)
		}
	}
	return ids
}

// emptied reads the gate's runway and parked queue to their ends and checks them
// as sets: every id that was shelved must be in one of them, except for gone ids.
// It gives what was on each, and how many copies there were too many.
func (s *site) emptied(gone int) (runway, parked []string, twice int) {
	s.t.Helper()
	gate, err := wire.ParseGate(contacts)
	if err != nil {
		s.t.Fatal(err)
	}
	n := wire.Namespace(s.ns)
	runway, parked = s.queued(n.Runway(gate)), s.queued(n.Parked(gate))
	seen := map[string]int{}
	for _, id := range append(append([]string{}, runway...), parked...) {
		if !s.sent[id] {
			s.t.Errorf("%q was never shelved", id)
		}
		if seen[id]++; seen[id] > 1 {
			twice++
		}
	}
	if lost := len(s.sent) - len(seen) - gone; lost != 0 {
		s.t.Errorf("of %d flights %d are on the runway and %d parked, as a set %d: %d LOST", len(s.sent), len(runway), len(parked), len(seen), lost)
	}
	s.t.Logf("books: %d shelved; %d on the runway, %d parked, %d gone; %d copies too many", len(s.sent), len(runway), len(parked), gone, twice)
	return runway, parked, twice
}
