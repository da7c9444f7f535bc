//go:build unix

package rabbit_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/traction-go/traction/internal/broker"
	"github.com/traction-go/traction/internal/broker/rabbit"
	"github.com/traction-go/traction/internal/testsvc"
	"github.com/traction-go/traction/internal/wire"
)

func message(queue, id string) broker.Publishing {
	return broker.Publishing{Key: queue, Message: wire.Message{ID: id, Body: []byte(id)}}
}

func queue(t *testing.T, tr broker.Transport) string {
	t.Helper()
	q := testsvc.Namespace(t)
	if err := tr.Declare(t.Context(), broker.Topology{Queues: []broker.Queue{{Name: q}}}); err != nil {
		t.Fatal(err)
	}
	return q
}

// quick is a configuration whose bounds a test can wait for.
func quick(t *testing.T, url ...string) rabbit.Config {
	return rabbit.Config{URLs: url, Logger: logged(t), CallTimeout: 2 * time.Second, ConfirmTimeout: 2 * time.Second}
}

func closeSoon(t *testing.T, tr broker.Transport) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 40*time.Second)
	defer cancel()
	began := time.Now()
	if err := tr.Close(ctx); err != nil {
		t.Error(err)
	}
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("closing took %s", took)
	}
}

// A memory alarm: publishers are stopped, bounded and told why; what consumes goes
// on; closing ends.
func TestBlocked(t *testing.T) {
	t.Parallel()
	proc := testsvc.RabbitMQ(t)
	tr := dial(t, quick(t, proc.URL()))
	q := queue(t, tr)
	for i := range 10 {
		if err := tr.Publish(t.Context(), []broker.Publishing{message(q, fmt.Sprint(i))})[0]; err != nil {
			t.Fatal(err)
		}
	}
	s, err := tr.Subscribe(t.Context(), q, 5)
	if err != nil {
		t.Fatal(err)
	}
	proc.Ctl("set_vm_memory_high_watermark", "absolute", "1MB")
	testsvc.Until(t, time.Minute, "the alarm", func() bool {
		return strings.Contains(proc.Ctl("eval", "rabbit_alarm:get_alarms()."), "resource_limit")
	})
	// The broker tells a connection once it publishes.
	err = tr.Publish(t.Context(), []broker.Publishing{message(q, "during")})[0]
	if !errors.Is(err, broker.ErrNotConfirmed) || !strings.Contains(err.Error(), "blocks publishers") {
		t.Errorf("the publishing that met the alarm: %v", err)
	}
	why, blocked := tr.Blocked()
	if !blocked || why == "" {
		t.Errorf("blocked %v, %q", blocked, why)
	}
	began := time.Now()
	err = tr.Publish(t.Context(), []broker.Publishing{message(q, "after")})[0]
	if !errors.Is(err, broker.ErrUnreachable) || !strings.Contains(err.Error(), why) || time.Since(began) > 20*time.Second {
		t.Errorf("a later one: %v after %s", err, time.Since(began))
	}
	var session uint64
	for range 10 {
		d := within(t, "what waited", s.Deliveries())
		session = d.Session()
		if err := d.Ack(); err != nil {
			t.Error(err)
		}
	}
	if err := s.Sync(t.Context(), session); err != nil {
		t.Errorf("sync under an alarm: %v", err)
	}
	if _, _, err := tr.Depth(t.Context(), q); err != nil {
		t.Errorf("depth under an alarm: %v", err)
	}
	other := dial(t, quick(t, proc.URL())) // one that never published
	closeSoon(t, other)
	third := dial(t, quick(t, proc.URL()))
	_ = third.Publish(t.Context(), []broker.Publishing{message(q, "third")})
	closeSoon(t, third)
	proc.Ctl("set_vm_memory_high_watermark", "0.4")
	testsvc.Until(t, time.Minute, "the end of the alarm", func() bool { _, b := tr.Blocked(); return !b })
	if err := tr.Publish(t.Context(), []broker.Publishing{message(q, "over")})[0]; err != nil {
		t.Error(err)
	}
	closeSoon(t, tr)
}

// An exchange that vanishes under its publishers takes nobody else along for long.
func TestExchangeDeleted(t *testing.T) {
	t.Parallel()
	url := testsvc.SharedRabbitMQ(t)
	tr := dial(t, quick(t, url))
	defer closeSoon(t, tr)
	q := queue(t, tr)
	x := q + ".x"
	if err := tr.Declare(t.Context(), broker.Topology{
		Exchanges: []broker.Exchange{{Name: x, Kind: broker.Fanout}}, Bindings: []broker.Binding{{Queue: q, Exchange: x}},
	}); err != nil {
		t.Fatal(err)
	}
	p := message("", "a")
	p.Exchange = x
	if err := tr.Publish(t.Context(), []broker.Publishing{p})[0]; err != nil {
		t.Fatal(err)
	}
	other := dial(t, quick(t, url)) // behind tr's back
	defer closeSoon(t, other)
	if err := other.DeleteExchange(t.Context(), x); err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		if err := tr.Publish(t.Context(), []broker.Publishing{p})[0]; !errors.Is(err, broker.ErrUnroutable) {
			t.Errorf("%d: %v, want unroutable", i, err)
		}
	}
	if err := tr.Publish(t.Context(), []broker.Publishing{message(q, "b")})[0]; err != nil {
		t.Error(err)
	}
}

// The acknowledgement timeout closes the channel; its tenants come back.
func TestAckTimeout(t *testing.T) {
	t.Parallel()
	proc := testsvc.RabbitMQ(t)
	proc.Ctl("eval", "application:set_env(rabbit, consumer_timeout, 1000), application:set_env(rabbit, channel_tick_interval, 500).")
	tr := dial(t, quick(t, proc.URL()))
	defer closeSoon(t, tr)
	q := queue(t, tr)
	if err := tr.Publish(t.Context(), []broker.Publishing{message(q, "a")})[0]; err != nil {
		t.Fatal(err)
	}
	s, err := tr.Subscribe(t.Context(), q, 1)
	if err != nil {
		t.Fatal(err)
	}
	d := within(t, "the message", s.Deliveries())
	if n := within(t, "the end of the channel", s.Lost()); n != d.Session() {
		t.Errorf("lost %d, want %d", n, d.Session())
	}
	if err := d.Ack(); !errors.Is(err, broker.ErrStale) {
		t.Errorf("ack: %v", err)
	}
	again := within(t, "it again", s.Deliveries())
	if !again.Redelivered() || again.Session() <= d.Session() {
		t.Errorf("redelivered %v, session %d", again.Redelivered(), again.Session())
	}
	if err := again.Ack(); err != nil {
		t.Error(err)
	}
}

// within waits for what a broker brings about, but not until the whole run times out.
func within[T any](t *testing.T, what string, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(time.Minute):
		t.Fatalf("waited a minute for %s", what)
		panic("unreachable")
	}
}

// While the broker is away every call ends in time, with a class and without the
// password of any endpoint; afterwards all goes on.
func TestOutage(t *testing.T) {
	t.Parallel()
	proc := testsvc.RabbitMQ(t)
	dead := "amqp://guest:secretword@127.0.0.1:1/"
	tr := dial(t, quick(t, dead, proc.URL()))
	q := queue(t, tr)
	s, err := tr.Subscribe(t.Context(), q, 5)
	if err != nil {
		t.Fatal(err)
	}
	if err := tr.Publish(t.Context(), []broker.Publishing{message(q, "a")})[0]; err != nil {
		t.Fatal(err)
	}
	within(t, "the message", s.Deliveries())
	// A broker killed soon after a queue was declared may not know it any more: its
	// name is put on disk later, and for certain in good order only.
	proc.Restart()
	within(t, "the queue back after a restart", s.Deliveries())
	proc.Kill()
	within(t, "a lost session", s.Lost())
	_, _, depth := tr.Depth(t.Context(), q)
	if err := s.Pause(t.Context()); err != nil {
		t.Errorf("a pause while away: %v", err)
	}
	for what, err := range map[string]error{
		"publish": tr.Publish(t.Context(), []broker.Publishing{message(q, "b")})[0],
		"ping":    tr.Ping(t.Context()), "depth": depth,
	} {
		if !errors.Is(err, broker.ErrUnreachable) || strings.Contains(err.Error(), "secretword") {
			t.Errorf("%s: %v", what, err)
		}
	}
	if err := s.Resume(t.Context(), 3); err != nil {
		t.Errorf("a resume while away: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := tr.Subscribe(ctx, q, 1); !errors.Is(err, broker.ErrUnreachable) {
		t.Errorf("subscribe: %v", err)
	}
	proc.Start()
	d := within(t, "the queue back after a kill", s.Deliveries())
	if err := d.Ack(); err != nil || !d.Redelivered() {
		t.Errorf("after the outage: %v, redelivered %v", err, d.Redelivered())
	}
	proc.Stop()
	closeSoon(t, tr)
}

func TestDialFails(t *testing.T) {
	_, err := rabbit.Dial(t.Context(), rabbit.Config{URLs: []string{"amqp://u:topsecret@127.0.0.1:1/"}})
	if !errors.Is(err, broker.ErrUnreachable) || strings.Contains(err.Error(), "topsecret") || !strings.Contains(err.Error(), "127.0.0.1:1") {
		t.Errorf("%v", err)
	}
	for _, urls := range [][]string{nil, {""}, {"http://u:topsecret@h/"}, {"amqp://u:topsecret@h:port/"}, {"amqp://u:top secret@h/"}} {
		_, err := rabbit.Dial(t.Context(), rabbit.Config{URLs: urls})
		if !errors.Is(err, broker.ErrInvalid) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v", urls, err)
		}
	}
}

func TestWrongPassword(t *testing.T) {
	t.Parallel()
	url := testsvc.SharedRabbitMQ(t)
	url = strings.Replace(url, "guest:guest@", "guest:topsecret@", 1)
	_, err := rabbit.Dial(t.Context(), rabbit.Config{URLs: []string{url}})
	if !errors.Is(err, broker.ErrUnreachable) || strings.Contains(err.Error(), "topsecret") || !strings.Contains(err.Error(), "not allowed") {
		t.Errorf("%v", err)
	}
}
