package config

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/traction-go/traction/internal/config/expand"
	"github.com/traction-go/traction/internal/httppilot"
	"github.com/traction-go/traction/internal/jsonptr"
	"github.com/traction-go/traction/pkg/governor"
	"github.com/traction-go/traction/pkg/settle"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func env(name string) (string, bool) {
	v, ok := map[string]string{
		"TRACTION_AMQP_URL": "amqp://u:pw@rabbit/", "TRACTION_REDIS_URL": "redis://store",
		"FOUR": "4", "BAD_URL": "nonsense-with-pw",
	}[name]
	return v, ok
}

func TestLoadReadsEveryKey(t *testing.T) {
	c, err := Load("testdata/full.yaml", env)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range []struct {
		name      string
		got, want any
	}{
		{"amqp", c.AMQP, "amqp://u:pw@rabbit/"}, {"redis", c.Redis, "redis://store"}, {"namespace", c.Namespace, "tr"},
		{"listen", c.Listen, "127.0.0.1:8077"}, {"tower", c.Tower, false}, {"grace", c.Grace, 25 * time.Second},
		{"heartbeat", c.Heartbeat, 2 * time.Second}, {"webhook", c.Webhook, "http://127.0.0.1:9000/hook"},
		{"runbook", c.Runbook, "https://wiki.example/crm"}, {"observed", c.TellObserved, true}, {"airports", len(c.Airports), 2},
	} {
		if f.got != f.want {
			t.Errorf("%s: %v, want %v", f.name, f.got, f.want)
		}
	}
	a := c.Airports[0]
	same(t, "airport", a.ID, "crm:acme")
	same(t, "slots", a.Slots, governor.Slots{N: 20, Per: time.Second})
	same(t, "mode", a.Mode, governor.Observe)
	same(t, "holds", a.Holds, settle.DefaultPolicy())
	same(t, "streaks", a.Streaks, governor.Streaks{AirportFault: 1, GateFault: 3, RecordFault: 5, Transient: 7, Window: 5 * time.Minute})
	same(t, "max_retry_after", a.MaxRetryAfter, time.Hour)
	same(t, "status", a.Outcomes.Status, map[int]settle.Outcome{404: settle.FlightFault})
	same(t, "exit", a.Exit, map[int]settle.Outcome{3: settle.GateFault})
	same(t, "body", a.Outcomes.Body, []httppilot.BodyRule{{Pointer: jsonptr.Pointer{"error"}, Equals: "invalid_grant", Outcome: settle.AirportFault}})
	g := a.Gates[0]
	same(t, "gate", []any{g.ID, g.Workers, g.Timeout, g.MaxPayload, g.OnStop, g.DropRejected, g.HTTP.Method, g.HTTP.URL},
		[]any{"contact-sync", 6, 10 * time.Second, 512 << 10, settle.ParkOnStop, false, "PUT", "http://127.0.0.1:9001/contacts"})
	same(t, "header", []string{g.HTTP.Headers[0].Name, g.HTTP.Headers[0].Value.Get(), g.HTTP.Headers[1].Value.Get()},
		[]string{"Authorization", "Bearer s3cret-token", "acme"})
	ledger := a.Gates[1]
	same(t, "ledger", []any{ledger.OnStop, ledger.DropRejected}, []any{settle.StayOnStop, true})
}

func same(t *testing.T, name string, got, want any) {
	t.Helper()
	g, _ := json.Marshal(got)
	w, _ := json.Marshal(want)
	if string(g) != string(w) {
		t.Errorf("%s: %s, want %s", name, g, w)
	}
}

func TestDeclare(t *testing.T) {
	c, err := Load("testdata/full.yaml", env)
	if err != nil {
		t.Fatal(err)
	}
	g := c.Governor(nil)
	if err := g.Validate(); err != nil || !g.NoTower || len(g.Hooks) != 1 || g.Grace != 25*time.Second || g.Runbook == "" {
		t.Errorf("%+v, %v", g, err)
	}
	airports, closes, err := c.Declare()
	if err != nil {
		t.Fatal(err)
	}
	defer closes()
	a := airports[0]
	if len(airports) != 2 || !a.TellObserved || len(a.Gates) != 2 || a.Gates[0].Pilot == nil || a.Gates[0].Workers != 6 || a.Reporter == nil {
		t.Errorf("%+v", airports)
	}
	if !strings.Contains(strings.Join(a.Secrets, " "), "s3cret-token") {
		t.Errorf("secrets %q", a.Secrets)
	}
	r := a.Reporter(t.Context(), governor.Meta{}, &governor.StatusError{Code: 401})
	if r.Outcome != settle.AirportFault {
		t.Errorf("%v", r)
	}
}

// minimal is a configuration with one line of one airport and of one gate put in.
func minimal(airport, gate string) string {
	return "amqp: amqp://h\nredis: redis://h\nairports:\n  crm:acme:\n    " + airport +
		"\n    gates:\n      c:\n        " + gate + "\n        http: {url: 'http://h'}\n"
}

func TestRefusals(t *testing.T) {
	const at, gate = "w.yaml:5:", "w.yaml:8:"
	for _, c := range []struct{ name, text, want string }{
		{"empty", "", "w.yaml: is empty: want amqp, redis and airports"},
		{"comment", "# nothing\n", "w.yaml: is empty: want amqp, redis and airports"},
		{"list", "- a\n", "w.yaml:1:1: want a mapping with amqp, redis and airports"},
		{"scalar", "hello\n", "w.yaml:1:1: want a mapping with amqp, redis and airports"},
		{"two documents", minimal("", "") + "---\na: 1\n", "w.yaml:11:1: a second document: want one"},
		{"no YAML", "a: [1\n", "w.yaml:1:4: is not YAML: sequence end token ']' not found"},
		{"tab", "\ta: 1\n", "w.yaml:1:2: is not YAML: tab character cannot use as a map key directly"},
		{"deep", strings.Repeat("[", 101), "w.yaml: is not YAML: more than 100 open brackets"},
		{"nothing required", "tower: true\n", "w.yaml: amqp: is required\nw.yaml: redis: is required\nw.yaml: airports: is required"},
		{"no airport", "amqp: amqp://h\nredis: redis://h\nairports: {}\n", "w.yaml:3:1: airports: is empty: want at least one airport"},
		{"no value", "amqp: amqp://h\nredis:\nairports: {}\n", "w.yaml:2:1: redis: has no value: give it one or remove the key"},

		{"unknown key", "amqp: amqp://h\nredsi: x\n", "w.yaml:2:1: redsi: unknown key: want one of amqp, redis, namespace, listen, tower, grace, heartbeat, notify, airports"},
		{"unknown airport key", minimal("slot: 20/1s", ""), at + "5: airports.crm:acme.slot: unknown key: want one of slots, mode, gates, holds, streaks, outcomes, max_retry_after"},
		{"unknown gate key", minimal("", "retries: 3"), gate + "9: airports.crm:acme.gates.c.retries: unknown key: want one of http, exec, workers, timeout, on_stop, rejected, max_payload, batch, adopt"},
		{"key in escape", "\"a\\e[2J\": 1\n", "w.yaml:1:1: a\\x1b[2J: unknown key: want one of amqp, redis, namespace, listen, tower, grace, heartbeat, notify, airports"},
		{"twice", "amqp: amqp://h\namqp: amqp://g\n", "w.yaml:2:1: amqp: is there twice: first on line 1, column 1"},
		{"gate twice", minimal("", "workers: 1") + "      c:\n        http: {url: 'http://h'}\n", "w.yaml:10:7: airports.crm:acme.gates.c: is there twice: first on line 7, column 7"},
		{"merge", minimal("", "<<: {workers: 2}"), gate + "9: airports.crm:acme.gates.c: want a plain key here"},
		{"alias to nothing", minimal("", "workers: *x"), gate + "18: airports.crm:acme.gates.c.workers: *x refers to nothing above it"},
		{"tag", minimal("", "workers: !!int 3"), gate + "18: airports.crm:acme.gates.c.workers: want a whole number"},

		{"variable", minimal("slots: ${NOPE}", ""), at + "12: airports.crm:acme.slots: ${NOPE}: the environment variable NOPE is not set"},
		{"secret value of a URL", "amqp: ${BAD_URL}\n", "w.yaml:1:7: amqp: is no such URL: want amqp:// or amqps://..., several separated by commas"},
		{"scheme", "redis: http://h\n", "w.yaml:1:8: redis: is no such URL: want redis:// or rediss:// or unix://..., several separated by commas"},
		{"broker's URL", "amqp: 'amqp://u:hunter2@a/,amqp://u:hunter2@b/?heartbeat=soon'\n", "w.yaml:1:7: amqp: \"amqp://u:xxxxx@b/?heartbeat=soon\" is no amqp:// or amqps:// URL: heartbeat is not an uint16: strconv.ParseUint: parsing \"soon\": invalid syntax"},
		{"store's URL", "redis: 'redis://:hunter2@h/first'\n", "w.yaml:1:8: redis: redis://:xxxxx@h/first: redis: invalid database number: \"first\""},
		{"namespace", "namespace: A_B\n", "w.yaml:1:12: namespace: \"A_B\": want 1 to 32 characters of a-z 0-9 -"},
		{"listen", "listen: 8077\n", "w.yaml:1:9: listen: \"8077\": want an address such as 127.0.0.1:8077"},
		{"tower", "tower: maybe\n", "w.yaml:1:8: tower: \"maybe\": want true or false"},
		{"grace", "grace: 25\n", "w.yaml:1:8: grace: \"25\": want a duration such as 10s"},
		{"negative grace", "grace: -5s\n", "w.yaml:1:8: grace: \"-5s\": want 1ms to 24h"},
		{"heartbeat", "heartbeat: 10ms\n", "w.yaml:1:12: heartbeat: \"10ms\": want 100ms to 1m"},
		{"webhook", "notify: {webhook: nope}\n", "w.yaml:1:19: notify.webhook: is no URL that can be called: want http://host/path or https://host/path"},

		{"airport name", "amqp: amqp://h\nredis: redis://h\nairports: {a b: {gates: {c: {http: {url: 'http://h'}}}}}\n", "w.yaml:3:12: airports.a b: airport \"a b\": use 1 to 64 characters of A-Z a-z 0-9 . _ : - starting with a letter or digit"},
		{"no gates", "airports: {a: {mode: enforce}}\n", "w.yaml:1:12: airports.a: has no gates: want at least one under gates"},
		{"empty gates", "airports: {a: {gates: {}}}\n", "w.yaml:1:23: airports.a.gates: is empty: want at least one gate"},
		{"gate name", "airports: {a: {gates: {b/c: {http: {url: 'http://h'}}}}}\n", "w.yaml:1:24: airports.a.gates.b/c: gate \"b/c\": use 1 to 64 characters of A-Z a-z 0-9 . _ : - starting with a letter or digit"},
		{"slots without a window", minimal("slots: 20", ""), at + "12: airports.crm:acme.slots: \"20\": want slots and their window, such as 20/1s"},
		{"slots of nothing", minimal("slots: x/1s", ""), at + "12: airports.crm:acme.slots: \"x/1s\": want slots and their window, such as 20/1s"},
		{"negative rate", minimal("slots: -5/1s", ""), at + "12: airports.crm:acme.slots: \"-5/1s\": want 1 to 1000000 slots; leave slots out for no limit"},
		{"zero window", minimal("slots: 20/0s", ""), at + "12: airports.crm:acme.slots: \"20/0s\": want a window of 1ms to 24h"},
		{"mode", minimal("mode: watch", ""), at + "11: airports.crm:acme.mode: \"watch\": want enforce or observe"},
		{"timeout", minimal("", "timeout: 0s"), gate + "18: airports.crm:acme.gates.c.timeout: \"0s\": want 1ms to 24h"},
		{"workers", minimal("", "workers: 0"), gate + "18: airports.crm:acme.gates.c.workers: \"0\": want 1 to 1000"},
		{"workers of text", minimal("", "workers: ${TRACTION_REDIS_URL}"), gate + "18: airports.crm:acme.gates.c.workers: \"${TRACTION_REDIS_URL}\": want a whole number"},
		{"on_stop", minimal("", "on_stop: drop"), gate + "18: airports.crm:acme.gates.c.on_stop: \"drop\": want park or stay"},
		{"rejected", minimal("", "rejected: stay"), gate + "19: airports.crm:acme.gates.c.rejected: \"stay\": want keep or drop"},
		{"payload", minimal("", "max_payload: 1GB"), gate + "22: airports.crm:acme.gates.c.max_payload: \"1GB\": want a size such as 512KiB or 1MiB, 128MiB at most"},
		{"holds", minimal("holds: {transient: []}", ""), at + "24: airports.crm:acme.holds.transient: is empty: want delays such as [30s, 2m]"},
		{"hold", minimal("holds: {transient: [1s, soon]}", ""), at + "29: airports.crm:acme.holds.transient[1]: \"soon\": want a duration such as 10s"},
		{"streak", minimal("streaks: {gate_fault: 0}", ""), at + "27: airports.crm:acme.streaks.gate_fault: \"0\": want 1 to 1000000"},
		{"status", minimal("outcomes: {status: {99: LANDED}}", ""), at + "25: airports.crm:acme.outcomes.status.99: want an HTTP status, 200 to 599"},
		{"exit", minimal("outcomes: {exit: {0: LANDED}}", ""), at + "23: airports.crm:acme.outcomes.exit.0: want an exit status, 1 to 255"},
		{"outcome", minimal("outcomes: {status: {404: GONE}}", ""), at + "30: airports.crm:acme.outcomes.status.404: \"GONE\": want one of LANDED, FLIGHT_FAULT, GATE_FAULT, AIRPORT_FAULT, RATE_LIMIT, CONFLICT, TRANSIENT, INTERNAL"},
		{"rule", minimal("outcomes: {body: [{pointer: error, equals: x, outcome: LANDED}]}", ""), at + "33: airports.crm:acme.outcomes.body[0].pointer: \"error\": want a JSON pointer such as /error/code"},
		{"half a rule", minimal("outcomes: {body: [{pointer: /e, outcome: LANDED}]}", ""), at + "23: airports.crm:acme.outcomes.body[0]: has no equals: want {pointer: /error, equals: x, outcome: GATE_FAULT}"},

		{"no pilot", "airports: {a: {gates: {c: {workers: 1}}}}\n", "w.yaml:1:24: airports.a.gates.c: has no pilot: give it http with a url, or exec with a command"},
		{"no url", "airports: {a: {gates: {c: {http: {method: POST}}}}}\n", "w.yaml:1:34: airports.a.gates.c.http: has no url"},
		{"method", "airports: {a: {gates: {c: {http: {method: send, url: 'http://h'}}}}}\n", "w.yaml:1:43: airports.a.gates.c.http.method: \"send\": want POST, PUT, PATCH, DELETE or GET"},
		{"url", "airports: {a: {gates: {c: {http: {url: '${BAD_URL}'}}}}}\n", "w.yaml:1:40: airports.a.gates.c.http.url: is no URL that can be called: want http://host/path or https://host/path"},
		{"our header", "airports: {a: {gates: {c: {http: {url: 'http://h', headers: {idempotency-key: x}}}}}}\n", "w.yaml:1:62: airports.a.gates.c.http.headers.idempotency-key: Idempotency-Key is set by the worker itself"},
		{"header twice", "airports: {a: {gates: {c: {http: {url: 'http://h', headers: {X-A: x, x-a: y}}}}}}\n", "w.yaml:1:70: airports.a.gates.c.http.headers.x-a: is there twice: first on line 1, column 62"},
		{"header in two lines", "airports: {a: {gates: {c: {http: {url: 'http://h', headers: {X-A: \"x\\ny\"}}}}}}\n", "w.yaml:1:67: airports.a.gates.c.http.headers.X-A: holds a control character or a line end, which no header can carry"},

		{"batch without a size", minimal("", "batch: {linger: 1s}"), gate + "16: airports.crm:acme.gates.c.batch: has no size: want how many flights fly in one call, such as 25"},
		{"batch too large", minimal("", "batch: {size: 251}"), gate + "23: airports.crm:acme.gates.c.batch.size: \"251\": want 1 to 250"},
		{"dedupe twice", minimal("", "batch: {size: 2, dedupe: [/id, /at, /id]}"), gate + "45: airports.crm:acme.gates.c.batch.dedupe[2]: is there twice: first on line 8, column 35"},
		{"adopt nothing", minimal("", "adopt: {business_id: /id}"), gate + "16: airports.crm:acme.gates.c.adopt: has no queue: want the name of the queue to take over"},
		{"adopt no name", minimal("", "adopt: {queue: ''}"), gate + "24: airports.crm:acme.gates.c.adopt.queue: is empty: want the name of a queue"},
		{"adopt key", minimal("", "adopt: {queue: q, prefetch: 3}"), gate + "27: airports.crm:acme.gates.c.adopt.prefetch: unknown key: want one of queue, business_id, route"},
		{"adopt pointer", minimal("", "adopt: {queue: q, business_id: id}"), gate + "40: airports.crm:acme.gates.c.adopt.business_id: \"id\": want a JSON pointer such as /payment/id"},
		{"route by nothing", minimal("", "adopt: {queue: q, route: {gates: {a: c}}}"), gate + "34: airports.crm:acme.gates.c.adopt.route: has no by: want {by: /type, gates: {settled: events}, default: other}"},
		{"route to nothing", minimal("", "adopt: {queue: q, route: {by: /t, gates: {}}}"), gate + "50: airports.crm:acme.gates.c.adopt.route.gates: is empty: want a value and its gate, such as {settled: events}"},
		{"route to no name", minimal("", "adopt: {queue: q, route: {by: /t, gates: {x: a/b}}}"), gate + "54: airports.crm:acme.gates.c.adopt.route.gates.x: gate \"a/b\": use 1 to 64 characters of A-Z a-z 0-9 . _ : - starting with a letter or digit"},
		{"route to no gate", minimal("", "adopt: {queue: q, route: {by: /t, gates: {x: d, y: c}, default: e}}"),
			gate + "54: airports.crm:acme.gates.c.adopt.route.gates.x: gate \"d\" is not one of this airport\n" +
				gate + "73: airports.crm:acme.gates.c.adopt.route.default: gate \"e\" is not one of this airport"},
		{"route to a gate that is refused", minimal("", "adopt: {queue: q, route: {by: /t, gates: {x: d}}}") + "      d:\n", "w.yaml:10:7: airports.crm:acme.gates.d: has no value: give it one or remove the key"},
		{"adopt our own", minimal("", "adopt: {queue: 'tr.crm:acme/c.runway'}"), gate + "24: airports.crm:acme.gates.c.adopt.queue: \"tr.crm:acme/c.runway\" belongs to namespace tr itself: want a queue that others made"},
		{"adopt our own in another namespace", "namespace: n4\n" + minimal("", "adopt: {queue: n4.p:q/a.runway}"), "w.yaml:9:24: airports.crm:acme.gates.c.adopt.queue: \"n4.p:q/a.runway\" belongs to namespace n4 itself: want a queue that others made"},
		{"adopted twice", minimal("", "adopt: {queue: q}") + "      d: {http: {url: 'http://h'}, adopt: {queue: q}}\n" + "  other: {gates: {e: {http: {url: 'http://h'}, adopt: {queue: q}}}}\n",
			"w.yaml:10:51: airports.crm:acme.gates.d.adopt.queue: queue \"q\" is adopted already, on line 8, column 24: one gate takes it over, and its route feeds others of its airport\n" +
				"w.yaml:11:63: airports.other.gates.e.adopt.queue: queue \"q\" is adopted already, on line 8, column 24: one gate takes it over, and its route feeds others of its airport"},

		{"several, in order", minimal("slots: 1", "workers: x"), at + "12: airports.crm:acme.slots: \"1\": want slots and their window, such as 20/1s\n" + gate + "18: airports.crm:acme.gates.c.workers: \"x\": want a whole number"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Parse("w.yaml", []byte(c.text), expand.Source{Env: env})
			if err == nil || err.Error() != c.want {
				t.Fatalf("%s\ngot  %v\nwant %s", c.text, err, c.want)
			}
			var p *Problem
			if !errors.Is(err, ErrConfig) || !errors.Is(err, governor.ErrSpec) || !errors.As(err, &p) {
				t.Errorf("%T is of no class", err)
			}
		})
	}
}

func TestManyProblemsAreCounted(t *testing.T) {
	_, err := Parse("w.yaml", []byte(strings.Repeat("a: 1\n", 1)+"b: 1\nc: 1\nd: 1\ne: 1\nf: 1\ng: 1\nh: 1\ni: 1\nj: 1\nk: 1\nl: 1\n"), expand.Source{Env: env})
	if err == nil || !strings.HasSuffix(err.Error(), "\nand 2 more") {
		t.Errorf("%v", err)
	}
}

func TestAliasesAndVariablesStandForValues(t *testing.T) {
	c, err := Parse("w.yaml", []byte("amqp: amqp://a,amqp://b\nredis: redis://h\nairports:\n  a: &a\n    gates: {c: {workers: '${FOUR}', http: {url: 'http://h'}}}\n  b: *a\n"), expand.Source{Env: env})
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Airports) != 2 || c.Airports[1].ID != "b" || c.Airports[1].Gates[0].Workers != 4 || !c.Tower {
		t.Errorf("%+v", c)
	}
}

func TestLoadOfNoFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "gone.yaml")
	if _, err := Load(path, env); err == nil || err.Error() != path+": cannot be read: no such file or directory" {
		t.Error(err)
	}
	if _, err := Load(t.TempDir(), env); err == nil || !errors.Is(err, ErrConfig) {
		t.Error(err)
	}
}

func TestWarnings(t *testing.T) {
	c, err := Parse("w.yaml", []byte(`
amqp: amqp://h
redis: redis://h
grace: 5s
airports:
  a:
    mode: observe
    outcomes: {exit: {3: GATE_FAULT}}
    gates:
      c: {http: {url: "http://u:pw@vendor.example/x"}}
      d: {http: {url: "http://127.0.0.1/x", headers: {Authorization: x}}}
      e: {http: {url: "http://vendor.example/x", headers: {Authorization: x}}}
      f: {http: {url: "https://vendor.example/x", headers: {Authorization: x}}}
`), expand.Source{Env: os.LookupEnv})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"grace: 5s is shorter than the longest timeout, 30s: a drain may end while calls are in the air, and their flights fly again",
		"notify.webhook: not set: a stop is told to the log alone",
		"airports.a.outcomes.exit: has no effect: no pilot of this airport is a process",
		"airports.a.mode: observe: incidents are opened, nothing is stopped",
		"airports.a.gates.c.http.url: http://u:xxxxx@vendor.example/x: a credential travels unencrypted to another host",
		"airports.a.gates.e.http.url: http://vendor.example/x: a credential travels unencrypted to another host",
	}
	if got := strings.Join(c.Warnings(), "\n"); got != strings.Join(want, "\n") {
		t.Errorf("got\n%s", got)
	}
	if c.Drain() != 5*time.Second {
		t.Errorf("drain %v", c.Drain())
	}
	c.Grace = 0
	if c.Drain() != 35*time.Second {
		t.Errorf("drain %v", c.Drain())
	}
}
