//go:build unix

package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/traction-go/traction/internal/testsvc"
	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/governor"
)

// settled waits until all that was dispatched has landed and nothing is on its way,
// and holds it to that nobody was told of anything.
func (s *site) settled() {
	s.t.Helper()
	s.vendor.lands(s.t, len(s.sent))
	s.until("an empty runway", func() bool {
		a := s.look()
		return a.State == governor.OpenState && a.Runway == 0 && a.InAir == 0 && a.Holding == 0
	})
	if list := s.incidents(); len(list) != 0 {
		s.t.Errorf("incidents: %+v", list)
	}
	if list := s.hook.of(""); len(list) != 0 {
		s.t.Errorf("told of %+v", list)
	}
}

// twice fails where more than n landings were of flights that had landed before.
func (b books) twice(t *testing.T, n int) {
	t.Helper()
	twice := 0
	for _, k := range b.landed {
		twice += k - 1
	}
	if twice > n {
		t.Errorf("%d landed twice, want %d at most", twice, n)
	}
}

func TestAMemoryAlarmUnderLoad(t *testing.T) {
	t.Parallel()
	testsvc.Need(t)
	broker := testsvc.RabbitMQ(t)
	s := newSite(t, broker.URL(), "")
	slowly := paced(20 * time.Millisecond)
	alarm := make(chan struct{})
	s.vendor.saying(func(c call) answer {
		if strings.HasPrefix(c.business, "held") && c.nth == 1 {
			return answer{status: 503, wait: alarm} // goes on hold, which is a publish
		}
		return slowly(c)
	})
	ws := s.start(2, s.config("traction.yaml", `
  crm:acme:
    holds: {transient: [1s, 2s, 2s]}
    streaks: {transient: 1000}
    gates:
      contacts: {workers: 4, timeout: 100s, http: {url: "VENDOR/contacts"}}
`))
	s.holds = []string{"1s", "2s"}
	s.dispatch(contacts, "c", 0, 300)
	s.dispatch(contacts, "held", 0, 40)
	s.vendor.lands(t, 50)
	broker.Ctl("set_vm_memory_high_watermark", "absolute", "1MB")
	// It looks at its memory now and then; what is published before is let through.
	s.until("the alarm", func() bool {
		return strings.Contains(broker.Ctl("eval", "rabbit_alarm:get_alarms()."), "resource_limit")
	})
	close(alarm)
	blocked := func(w *worker) bool { return strings.Contains(w.log.String(), "the broker blocks publishers") }
	s.until("a worker to be told of the alarm", func() bool { return blocked(ws[0]) || blocked(ws[1]) })
	s.until("a readiness that says so", func() bool {
		code, _ := ws[0].get("/readyz")
		other, _ := ws[1].get("/readyz")
		return code == 503 || other == 503
	})
	broker.Ctl("set_vm_memory_high_watermark", "0.4")
	s.settled()
	s.close(false).twice(t, 8)
}

func TestAnAckTimeoutUnderACall(t *testing.T) {
	t.Parallel()
	testsvc.Need(t)
	broker := testsvc.RabbitMQ(t)
	broker.Ctl("eval", "application:set_env(rabbit, consumer_timeout, 2000), application:set_env(rabbit, channel_tick_interval, 500).")
	s := newSite(t, broker.URL(), "")
	until := make(chan struct{})
	s.vendor.saying(func(c call) answer {
		if c.business == "long0" {
			return answer{status: 200, wait: until}
		}
		return ok
	})
	ws := s.start(2, s.config("traction.yaml", strings.Replace(oneGate, "timeout: 20s", "timeout: 5m", 1), "heartbeat: 1s"))
	s.dispatch(contacts, "long", 0, 1)
	s.until("the long call to be in the air", func() bool { return s.vendor.air() == 1 })
	s.until("the broker to have closed a channel over it", func() bool {
		return strings.Contains(ws[0].log.String()+ws[1].log.String(), "delivery acknowledgement on channel")
	})
	s.dispatch(contacts, "c", 0, 100)
	s.vendor.lands(t, 100) // the others fly on
	close(until)
	s.settled()
	if n := s.vendor.count(); n != 101 {
		t.Errorf("%d calls for 101 flights", n)
	}
	// What was handed out again may still wait for its word that it has landed.
	s.close(false).twice(t, 0)
}

// channel is one of the test's own to the site's queues.
func (s *site) channel() *amqp.Channel {
	s.t.Helper()
	conn, err := amqp.Dial(s.amqp)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = conn.Close() })
	ch, err := conn.Channel()
	if err != nil {
		s.t.Fatal(err)
	}
	return ch
}

// TestAQueueIsPurgedOrDeletedUnderAWorker: what somebody removed is gone, and nothing
// else is. The runway comes back by itself.
func TestAQueueIsPurgedOrDeletedUnderAWorker(t *testing.T) {
	t.Parallel()
	s := newSite(t, "", "")
	s.start(2, s.config("traction.yaml", oneGate))
	s.dispatch(contacts, "c", 0, 50)
	s.settled()
	gate, err := wire.ParseGate(contacts)
	if err != nil {
		t.Fatal(err)
	}
	runway := wire.Namespace(s.ns).Runway(gate)
	removed := func(what, prefix string, remove func(*amqp.Channel) (int, error)) {
		t.Helper()
		s.do("airport", "pause", airport, "--reason", what)
		s.dispatch(contacts, prefix, 0, 40)
		s.waits(40)
		n, err := remove(s.channel())
		if err != nil || n != 40 {
			t.Fatalf("%s: removed %d, %v; want the 40 that waited", what, n, err)
		}
		for i := range 40 {
			delete(s.sent, fmt.Sprintf("%s%d", prefix, i))
		}
		s.reopen()
	}
	removed("a purge", "purged", func(ch *amqp.Channel) (int, error) { return ch.QueuePurge(runway, false) })
	s.dispatch(contacts, "d", 0, 50)
	s.vendor.lands(t, 100)

	conn, err := amqp.Dial(s.amqp)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	stands := func() bool {
		ch, err := conn.Channel()
		if err != nil {
			t.Fatal(err)
		}
		defer ch.Close()
		q, err := ch.QueueDeclarePassive(runway, true, false, false, false, nil)
		return err == nil && q.Consumers > 0
	}
	removed("a delete", "deleted", func(ch *amqp.Channel) (int, error) { return ch.QueueDelete(runway, false, false, false) })
	s.until("the runway to be back, with its consumers", stands)
	s.dispatch(contacts, "e", 0, 50)
	s.until("150 landings", func() bool { return len(s.vendor.landed()) == 150 })

	// Under its consumers.
	if _, err := s.channel().QueueDelete(runway, false, false, false); err != nil {
		t.Fatal(err)
	}
	s.until("the runway to be back, with its consumers", stands)
	s.dispatch(contacts, "f", 0, 50)
	s.until("200 landings", func() bool { return len(s.vendor.landed()) == 200 })
	s.until("an empty runway", func() bool { a := s.look(); return a.State == governor.OpenState && a.Runway == 0 && a.InAir == 0 })
	s.close(true)
	if list := s.hook.of(""); len(list) != 0 {
		t.Errorf("told of %+v", list)
	}
}
