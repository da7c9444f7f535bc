package rehearse

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/traction-go/traction/internal/broker"
	"github.com/traction-go/traction/internal/broker/rabbit"
	"github.com/traction-go/traction/internal/store"
	"github.com/traction-go/traction/internal/testsvc"
	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/governor"
)

// services are real ones with something of somebody else's on them: an adopted queue
// with messages, and a namespace in use.
type services struct {
	mq    *testsvc.RabbitMQProc
	redis string
	conn  *amqp.Connection

	messages map[string]int // that are not the rehearsal's, by queue
}

const (
	adoptedQueue = "incoming"
	usedQueue    = "used.crm:acme/contacts.parked"
)

func newServices(t *testing.T) *services {
	testsvc.Need(t)
	s := &services{mq: testsvc.RabbitMQ(t), redis: testsvc.Redis(t).URL(), messages: map[string]int{}}
	var err error
	if s.conn, err = amqp.Dial(s.mq.URL()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.conn.Close() })
	s.declare(t, adoptedQueue, amqp.Table{"x-queue-type": "quorum", "x-delivery-limit": 7, "x-dead-letter-exchange": "incoming.dlx", "x-message-ttl": 86_400_000, "x-max-length": 100_000})
	s.declare(t, usedQueue, amqp.Table{"x-queue-type": "quorum"})
	bk, st := s.open(t, "used")
	for _, q := range []string{adoptedQueue, usedQueue} {
		s.fill(t, bk, q, 2)
	}
	if err := st.AddAirport(t.Context(), "crm:acme"); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *services) declare(t *testing.T, queue string, args amqp.Table) {
	t.Helper()
	err := declare(s.conn, func(ch *amqp.Channel) error {
		_, err := ch.QueueDeclare(queue, true, false, false, false, args)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// fill puts somebody else's messages on a queue.
func (s *services) fill(t *testing.T, bk broker.Publisher, queue string, n int) {
	t.Helper()
	for range n {
		if err := bk.Publish(t.Context(), []broker.Publishing{{Key: queue, Message: wire.Message{ID: "precious"}}})[0]; err != nil {
			t.Fatal(err)
		}
	}
	s.messages[queue] = n
}

func (s *services) open(t *testing.T, ns wire.Namespace) (broker.Transport, *store.Store) {
	t.Helper()
	bk, err := rabbit.Dial(t.Context(), rabbit.Config{URLs: []string{s.mq.URL()}})
	if err != nil {
		t.Fatal(err)
	}
	st, err := store.Open(store.Config{URLs: []string{s.redis}, Namespace: ns})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = bk.Close(context.Background()), st.Close() })
	return bk, st
}

// untouched looks that what was there still is, with its messages, and nothing else.
func (s *services) untouched(t *testing.T, spaces ...string) {
	t.Helper()
	bk, _ := s.open(t, "used")
	seen := 0
	for _, what := range []string{"list_queues", "list_exchanges"} {
		for name := range strings.SplitSeq(strings.TrimSpace(s.mq.Ctl("-q", "--no-table-headers", what, "name")), "\n") {
			name = strings.TrimSpace(name)
			if name == "" || strings.HasPrefix(name, "amq.") {
				continue
			}
			n, _, err := bk.Depth(t.Context(), name)
			if what == "list_exchanges" || err != nil || n != s.messages[name] || n == 0 {
				t.Errorf("%s has %q with %d messages, want %d: %v", what, name, n, s.messages[name], err)
			}
			seen++
		}
	}
	if seen != len(s.messages) {
		t.Errorf("%d queues stand, want %d", seen, len(s.messages))
	}
	for _, ns := range append(spaces, "used") {
		_, st := s.open(t, wire.Namespace(ns))
		want := 0
		if ns == "used" {
			want = 1
		}
		if n, err := st.CountKeys(t.Context()); n != want || err != nil {
			t.Errorf("%d keys of %s, want %d: %v", n, ns, want, err)
		}
	}
}

func (s *services) options(t *testing.T) Options {
	return Options{AMQP: s.mq.URL(), Redis: s.redis, Airports: small(t), Flights: 6, Actor: "dana"}
}

// Two at once on a broker in use: both pass, under names of their own, and what was
// there stays.
func TestTwoOnRealServices(t *testing.T) {
	s := newServices(t)
	var reports [2]*Report
	var wg sync.WaitGroup
	for i := range reports {
		wg.Go(func() {
			r, err := Run(t.Context(), s.options(t))
			if err != nil || !r.Passed() {
				t.Errorf("%v", err)
			}
			reports[i] = r
		})
	}
	wg.Wait()
	if t.Failed() {
		for _, r := range reports {
			if r != nil {
				t.Log("\n" + r.text())
			}
		}
		return
	}
	if reports[0].Namespace == reports[1].Namespace || !strings.HasPrefix(reports[0].Namespace, "rehearse-") {
		t.Errorf("namespaces %s and %s", reports[0].Namespace, reports[1].Namespace)
	}
	const like = "incoming is quorum with dead-letter-exchange=incoming.dlx delivery-limit=7 max-length=100000 message-ttl=86400000; the stand-in has a dead-letter exchange of its own"
	if got := reports[0].Steps[1].Seen; got != like {
		t.Errorf("got  %s\nwant %s", got, like)
	}
	s.untouched(t, reports[0].Namespace, reports[1].Namespace)

	o := s.options(t)
	o.Namespace = "used"
	if r, err := Run(t.Context(), o); !errors.Is(err, governor.ErrRefused) || r != nil {
		t.Errorf("a namespace in use: %v", err)
	}
	s.untouched(t)
}

// The landmine: a delay that is baked into a queue's definition, and was changed. The
// run is ended in the middle, and leaves nothing.
func TestARefusedDeclarationOnRealServices(t *testing.T) {
	s := newServices(t)
	s.declare(t, "tr.hold.30s", amqp.Table{"x-queue-type": "quorum", "x-delivery-limit": wire.DeliveryLimit, "x-message-ttl": 18_000_000,
		"x-dead-letter-exchange": "tr.return", "x-dead-letter-strategy": "at-least-once", "x-overflow": "reject-publish"})
	bk, _ := s.open(t, "tr")
	s.fill(t, bk, "tr.hold.30s", 1)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	o := s.options(t)
	for i := range o.Airports {
		o.Airports[i].Holds.Transient = []time.Duration{30 * time.Second}
	}
	o.Told = func(st Step) {
		if st.Name == "land" {
			cancel()
		}
	}
	r, err := Run(ctx, o)
	var m *Mismatch
	if !errors.As(err, &m) || !errors.Is(err, context.Canceled) || m.Step != "compare" || !strings.Contains(m.Seen, "tr.hold.30s: its declaration would be refused") || !strings.Contains(m.Seen, "x-message-ttl") || m.Next == "" {
		t.Errorf("%v\n%s", err, r.text())
	}
	if got := r.count(Passed); got != 4 { // stand in, declare, land, clean
		t.Errorf("%d steps passed:\n%s", got, r.text())
	}
	s.untouched(t, r.Namespace)
}

func TestAStreamIsNotAdopted(t *testing.T) {
	s := newServices(t)
	s.declare(t, "log", amqp.Table{"x-queue-type": "stream"})
	o := s.options(t)
	o.Airports[0].Gates[0].Adopt = &governor.Adoption{Queue: "log"}
	r, err := Run(t.Context(), o)
	var m *Mismatch
	if !errors.As(err, &m) || m.Step != "stand in" || !strings.Contains(m.Seen, "a stream") {
		t.Errorf("%v\n%s", err, r.text())
	}
}
