package governor_test

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/traction-go/traction/internal/testsvc"
	"github.com/traction-go/traction/pkg/governor"
)

// worst gives the worst level of a check, and what was found.
func worst(found []governor.Finding, check string) (governor.Level, string) {
	order := []governor.Level{"", governor.LevelOK, governor.LevelNote, governor.LevelWarning, governor.LevelSerious}
	at, text := 0, ""
	for _, f := range found {
		for i, l := range order {
			if f.Check == check && f.Level == l && i > at {
				at, text = i, f.Subject+": "+f.Found
			}
		}
	}
	return order[at], text
}

func (f *fleet) levels(found []governor.Finding, want map[string]governor.Level) {
	f.t.Helper()
	for check, level := range want {
		if got, text := worst(found, check); got != level {
			f.t.Errorf("%s is %q, want %q: %s", check, got, level, text)
		}
	}
	for _, x := range found {
		if x.Level == governor.LevelSerious && x.Fix == "" || x.Found == "" {
			f.t.Errorf("without a fix: %+v", x)
		}
	}
}

func TestDoctorOfAHealthyFleet(t *testing.T) {
	onBoth(t, func(f *fleet) {
		v := newVendor()
		g, _ := f.run(crm(v))
		f.ready(g, "crm:acme/contacts")
		var found []governor.Finding
		f.until("a healthy fleet", func() bool {
			var err error
			if found, err = g.Doctor(f.t.Context(), crm(v)); err != nil {
				f.t.Fatal(err)
			}
			tower, _ := worst(found, "towers")
			worker, _ := worst(found, "workers")
			return tower == governor.LevelOK && worker == governor.LevelOK
		})
		f.levels(found, map[string]governor.Level{"alarm": governor.LevelOK, "namespace": governor.LevelOK, "towers": governor.LevelOK, "workers": governor.LevelOK,
			"topology": governor.LevelOK, "clock": governor.LevelOK, "ack timeout": governor.LevelNote})
	})
}

func TestDoctorFindsWhatWouldBeRefused(t *testing.T) {
	testsvc.Need(t)
	f := &fleet{t: t, cfg: governor.Config{AMQP: testsvc.SharedRabbitMQ(t), Namespace: testsvc.Namespace(t), Logger: logger()}}
	// What the management API would say of a policy that empties the parked queue.
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ns := f.cfg.Namespace
		_, _ = w.Write([]byte(`{"page_count":1,"items":[
			{"name":"` + ns + `.crm:acme/contacts.parked","type":"quorum","arguments":{"x-delivery-limit":1000000},"policy":"ttl","effective_policy_definition":{"message-ttl":60000,"max-length":5}},
			{"name":"` + ns + `.crm:acme/contacts.runway","type":"quorum","arguments":{"x-delivery-limit":1000000,"x-overflow":"reject-publish"},"policy":"few","effective_policy_definition":{"delivery-limit":20}}]}`))
	}))
	defer api.Close()
	f.cfg.Management = api.URL
	f.cfg.Redis = testsvc.Redis(t, "--maxmemory-policy", "allkeys-lru", "--maxmemory", "50mb").URL()
	g, err := governor.Open(t.Context(), f.cfg)
	if err != nil {
		t.Fatal(err)
	}
	f.open = func() *governor.Governor { return g }
	f.governor()
	conn, err := amqp.Dial(f.cfg.AMQP)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	ch, err := conn.Channel()
	if err != nil {
		t.Fatal(err)
	}
	runway := f.cfg.Namespace + ".crm:acme/contacts.runway"
	if _, err := ch.QueueDeclare(runway, true, false, false, false, amqp.Table{"x-queue-type": "quorum"}); err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = ch.QueueDelete(runway, false, false, false) }()
	found, err := g.Doctor(t.Context(), crm(newVendor()))
	if err != nil {
		t.Fatal(err)
	}
	f.levels(found, map[string]governor.Level{"topology": governor.LevelSerious, "eviction": governor.LevelSerious, "persistence": governor.LevelWarning,
		"message ttl": governor.LevelSerious, "length": governor.LevelSerious, "delivery limit": governor.LevelWarning,
		"broker": governor.LevelOK, "frame size": governor.LevelOK, "store": governor.LevelOK, "memory": governor.LevelOK})
	if _, text := worst(found, "topology"); !strings.HasPrefix(text, runway) || !strings.Contains(text, "x-delivery-limit") && !strings.Contains(text, "x-dead-letter") && !strings.Contains(text, "x-overflow") {
		t.Errorf("%s does not name the queue and the argument", text)
	}
	// It declared nothing.
	if _, err := ch.QueueDeclarePassive(f.cfg.Namespace+".crm:acme/contacts.parked", true, false, false, false, nil); err == nil {
		t.Error("the doctor declared a queue")
	}
}

func TestExamineWithoutServices(t *testing.T) {
	found, err := governor.Examine(t.Context(), governor.Config{AMQP: "amqp://guest:hunter2@127.0.0.1:1", Redis: "redis://:hunter2@127.0.0.1:1", Logger: logger()})
	if err != nil {
		t.Fatal(err)
	}
	f := &fleet{t: t}
	f.levels(found, map[string]governor.Level{"broker": governor.LevelSerious, "store": governor.LevelSerious})
	for _, x := range found {
		if strings.Contains(x.Found, "hunter2") {
			t.Errorf("a password in %q", x.Found)
		}
	}
	if _, err := governor.Examine(t.Context(), governor.Config{AMQP: "amqp://127.0.0.1:1"}); err == nil {
		t.Error("no store was taken")
	}
}

// A broker that takes connections and says nothing uses up its own half of the time.
func TestASilentBrokerIsNotHeldAgainstTheStore(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	m := miniredis.RunT(t)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	found, err := governor.Examine(ctx, governor.Config{AMQP: "amqp://" + silent.Addr().String(), Redis: "redis://" + m.Addr(), Logger: logger()})
	if err != nil {
		t.Fatal(err)
	}
	if l, _ := worst(found, "broker"); l != governor.LevelSerious {
		t.Errorf("found %+v", found)
	}
	if l, text := worst(found, "store"); l == governor.LevelSerious {
		t.Errorf("the store is blamed: %s", text)
	}
}
