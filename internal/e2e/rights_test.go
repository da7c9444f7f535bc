//go:build unix

package e2e

import (
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	amqp "github.com/rabbitmq/amqp091-go"
	"github.com/redis/go-redis/v9"

	"github.com/traction-go/traction/internal/testsvc"
	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/governor"
)

// limited is a site whose user has the rights that the documentation gives it, on a
// broker and a store of its own.
type limited struct {
	*site
	broker           *testsvc.RabbitMQProc
	admin            *redis.Client
	permissions      [3]string // configure, write, read
	rights           []string
	amqpAll, redsAll string // as the administrator
}

var (
	brokerRights = regexp.MustCompile(`rabbitmqctl set_permissions -p / \S+ '([^']+)' '([^']+)' '([^']+)'`)
	storeRights  = regexp.MustCompile("`(~tr:\\* &tr:\\* [^`]+)`")
)

func limit(t *testing.T) *limited {
	t.Helper()
	testsvc.Need(t)
	f := &limited{broker: testsvc.RabbitMQ(t)}
	store := testsvc.Redis(t)
	f.site = newSite(t, f.broker.URL(), store.URL())
	f.amqpAll, f.redsAll = f.amqp, f.redis
	opt, err := redis.ParseURL(store.URL())
	if err != nil {
		t.Fatal(err)
	}
	f.admin = redis.NewClient(opt)
	t.Cleanup(func() { _ = f.admin.Close() })
	m := brokerRights.FindStringSubmatch(f.doc("operations.md"))
	n := storeRights.FindStringSubmatch(f.doc("wire.md"))
	if m == nil || n == nil {
		t.Fatal("the documentation does not say which rights the services' user needs")
	}
	for i, p := range m[1:] {
		f.permissions[i] = strings.ReplaceAll(p, `tr\.`, f.ns+`\.`)
	}
	f.rights = strings.Fields(strings.NewReplacer("~tr:*", "~"+f.ns+":*", "&tr:*", "&"+f.ns+":*").Replace(n[1]))
	f.broker.Ctl("add_user", "traction", "secret")
	f.broker.Ctl("add_user", "operator", "secret")
	f.amqp, f.redis = f.as(f.amqpAll), f.as(f.redsAll)
	f.grant(f.permissions, f.rights)
	return f
}

func (f *limited) doc(name string) string {
	f.t.Helper()
	b, err := os.ReadFile("../../docs/" + name)
	if err != nil {
		f.t.Fatal(err)
	}
	return string(b)
}

// as is a service's URL for the user.
func (f *limited) as(service string) string {
	u, err := url.Parse(service)
	if err != nil {
		f.t.Fatal(err)
	}
	u.User = url.UserPassword("traction", "secret")
	return u.String()
}

// grant gives the user these rights and no others.
func (f *limited) grant(permissions [3]string, rights []string) {
	f.t.Helper()
	f.broker.Ctl("set_permissions", "-p", "/", "traction", permissions[0], permissions[1], permissions[2])
	args := []any{"ACL", "SETUSER", "traction", "reset", "on", ">secret"}
	for _, r := range rights {
		args = append(args, r)
	}
	if err := f.admin.Do(f.t.Context(), args...).Err(); err != nil {
		f.t.Fatal(err)
	}
}

// denied lists what the store has refused the user.
func (f *limited) denied() (list []string) {
	f.t.Helper()
	log, err := f.admin.Do(f.t.Context(), "ACL", "LOG").Slice()
	if err != nil {
		f.t.Fatal(err)
	}
	for _, e := range log {
		m := map[string]string{}
		switch e := e.(type) {
		case map[any]any:
			for k, v := range e {
				if s, ok := v.(string); ok {
					m[k.(string)] = s
				}
			}
		case []any:
			for i := 0; i+1 < len(e); i += 2 {
				if s, ok := e[i+1].(string); ok {
					m[e[i].(string)] = s
				}
			}
		}
		list = append(list, m["reason"]+" "+m["object"])
	}
	return list
}

// TestTheDocumentedRightsAreEnough has workers, a tower and an operator do what they
// do, with the rights of the documentation.
func TestTheDocumentedRightsAreEnough(t *testing.T) {
	t.Parallel()
	f := limit(t)
	f.holds = []string{"1s"}
	f.vendor.saying(func(c call) answer {
		switch {
		case strings.HasPrefix(c.business, "reject"):
			return answer{status: 422}
		case strings.HasPrefix(c.business, "park"):
			return answer{status: 404}
		case strings.HasPrefix(c.business, "hold") && c.nth == 1:
			return answer{status: 503}
		}
		return dead(c)
	})
	f.start(2, f.config("traction.yaml", `
  crm:acme:
    slots: 1000/1s
    holds: {transient: [1s]}
    streaks: {gate_fault: 1000, record_fault: 1000}
    gates:
      contacts: {workers: 4, timeout: 20s, http: {url: "VENDOR/contacts", TOKEN}}
`))
	for _, prefix := range []string{"c", "reject", "park", "hold"} {
		f.dispatch(contacts, prefix, 0, 3)
	}
	f.until("every settlement", func() bool {
		a := f.look()
		return a.Landed == 6 && a.Rejected == 3 && a.Parked == 3
	})
	f.do("parked", "list", airport)
	f.do("parked", "replay", contacts, "--limit", "1")
	f.until("the replayed flight back on its shelf", func() bool { return f.look().Parked == 3 && f.look().InAir == 0 })
	f.do("rejected", "list", airport)
	f.do("gate", "scale", contacts, "--workers", "2")
	f.token(deadToken)
	f.dispatch(contacts, "d", 0, 5)
	f.becomes(governor.Stopped)
	f.hook.tells(t, 1, "GROUND_STOP")
	// An operator declares nothing: without a right to, all works but a removal and the
	// comparison of queues.
	f.broker.Ctl("set_permissions", "-p", "/", "operator", "^$", f.permissions[0], f.permissions[2])
	f.env = []string{"TRACTION_AMQP_URL=" + strings.Replace(f.amqp, "//traction:", "//operator:", 1)}
	for _, args := range [][]string{
		{"status"}, {"airport", "list"}, {"airport", "show", airport}, {"gate", "list"}, {"gate", "show", contacts},
		{"incident", "list"}, {"incident", "show", airport}, {"audit", "list", airport}, {"suspect", "list"},
		{"charter", "list"}, {"notify", "test", airport}, {"parked", "list", airport},
	} {
		if out, errOut, code := f.ctl("", args...); code != 0 {
			t.Errorf("%s: exit %d\n%s%s", strings.Join(args, " "), code, out, errOut)
		}
	}
	f.do("parked", "replay", contacts, "--limit", "1")
	f.token(goodToken)
	f.reopen()
	f.vendor.lands(t, 11)
	f.do("airport", "pause", airport, "--reason", "rights")
	f.do("airport", "reopen", airport, "--canary", "1", "--wait=false")
	f.env = nil
	f.do("doctor")
	// What the worker and the doctor read of the store's settings is theirs to miss.
	for _, d := range f.denied() {
		if d != "command config|get" && d != "command info" {
			t.Errorf("the store refused: %s", d)
		}
	}
	// What a tower can place nowhere it keeps aside.
	ch := f.channelTo(f.amqpAll)
	if err := ch.PublishWithContext(t.Context(), f.ns+".limit", "", false, false, amqp.Publishing{Body: []byte("of nobody's")}); err != nil {
		t.Fatal(err)
	}
	f.until("what belongs nowhere to be kept aside", func() bool {
		q, err := ch.QueueDeclarePassive(wire.Namespace(f.ns).UnreadableQueue(), true, false, false, false, nil)
		return err == nil && q.Messages == 1
	})
	f.amqp = f.amqpAll // to read the books
	f.close(false)
}

// TestOneRightLessIsRefusedInWords takes one right away at a time. What lacks it says
// so, names what was refused, and loses nothing.
func TestOneRightLessIsRefusedInWords(t *testing.T) {
	t.Parallel()
	f := limit(t)
	// Nobody may declare: a worker waits, and says why.
	f.grant([3]string{"^$", f.permissions[1], f.permissions[2]}, f.rights)
	w := start(t, f.config("traction.yaml", oneGate))
	f.until("the worker to say what it may not", func() bool { return strings.Contains(w.log.String(), "access to exchange") })
	if code, text := w.get("/readyz"); w.gone() || code != 503 {
		t.Errorf("gone %v; ready: %d %s", w.gone(), code, text)
	}
	w.kill()
	f.grant(f.permissions, f.rights)
	f.vendor.saying(func(call) answer { return answer{status: 404} })
	f.start(1, f.config("traction.yaml", oneGate))
	f.dispatch(contacts, "c", 0, 1)
	f.until("one to be parked", func() bool { return f.look().Parked == 1 })
	for _, tt := range []struct {
		name   string
		broker [3]string
		store  []string // without these
		args   []string
		says   string
	}{
		{"nobody may write", [3]string{f.permissions[0], "^$", f.permissions[2]}, nil, []string{"dispatch", contacts}, "access to exchange"},
		{"nobody may read", [3]string{f.permissions[0], f.permissions[1], "^$"}, nil, []string{"parked", "list", contacts}, "access to queue"},
		{"no scripts", f.permissions, []string{"+eval", "+evalsha"}, []string{"airport", "reopen", airport}, "NOPERM"},
		{"no keys", f.permissions, []string{"~" + f.ns + ":*"}, []string{"airport", "show", airport}, "NOPERM"},
		{"no lists of processes", f.permissions, []string{"+scan"}, []string{"status"}, "'scan'"},
		{"no events", f.permissions, []string{"&" + f.ns + ":*"}, []string{"airport", "pause", airport, "--reason", "x"}, "channel"},
	} {
		rights := slices.DeleteFunc(slices.Clone(f.rights), func(r string) bool { return slices.Contains(tt.store, r) })
		f.grant(tt.broker, rights)
		out, errOut, code := f.ctl(`{"id":"not sent"}`, append(tt.args, "--timeout", "10s")...)
		t.Logf("%s: exit %d\n%s%s", tt.name, code, out, errOut)
		if code == 0 || !strings.Contains(errOut, tt.says) {
			t.Errorf("%s: exit %d, want an error that says %q", tt.name, code, tt.says)
		}
	}
	f.grant(f.permissions, f.rights)
	f.amqp = f.amqpAll
	if b := f.close(false); !sameSet(b.parked, "c0") {
		t.Errorf("parked: %v", b.parked)
	}
}

// channelTo is a channel to a broker.
func (s *site) channelTo(amqpURL string) *amqp.Channel {
	s.t.Helper()
	own := s.amqp
	defer func() { s.amqp = own }()
	s.amqp = amqpURL
	return s.channel()
}
