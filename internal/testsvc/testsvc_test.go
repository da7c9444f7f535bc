//go:build unix

package testsvc_test

import (
	"context"
	"strings"
	"testing"

	amqp "github.com/rabbitmq/amqp091-go"
	"github.com/redis/go-redis/v9"

	"github.com/traction-go/traction/internal/testsvc"
	"github.com/traction-go/traction/internal/wire"
)

func TestMain(m *testing.M) { testsvc.Main(m) }

func TestNamespaceIsValidAndFresh(t *testing.T) {
	t.Run("With / odd Ünicode * name that goes on and on and on", func(t *testing.T) {
		a, b := testsvc.Namespace(t), testsvc.Namespace(t)
		if a == b {
			t.Errorf("two namespaces are the same: %s", a)
		}
		if _, err := wire.ParseNamespace(a); err != nil {
			t.Error(err)
		}
	})
}

func TestRabbitMQKeepsDurableQueuesOverKillAndRestart(t *testing.T) {
	t.Parallel()
	broker := testsvc.RabbitMQ(t)
	declare(t, broker.URL(), "kept", false)

	// A broker killed soon after a queue was declared may not know it any more: its
	// name is put on disk later, and for certain in good order only.
	broker.Restart()
	declare(t, broker.URL(), "kept", true)

	broker.Kill()
	if c, err := amqp.Dial(broker.URL()); err == nil {
		c.Close()
		t.Fatal("a killed broker took a connection")
	}
	broker.Start()
	declare(t, broker.URL(), "kept", true)

	if out := broker.Ctl("list_queues", "name", "--quiet"); !strings.Contains(out, "kept") {
		t.Errorf("rabbitmqctl lists %q, want the queue", out)
	}
}

func TestRabbitMQTakesConfiguration(t *testing.T) {
	t.Parallel()
	broker := testsvc.RabbitMQ(t, "channel_max = 3")
	c, err := amqp.Dial(broker.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if c.Config.ChannelMax != 3 {
		t.Errorf("channel_max is %d, want the configured 3", c.Config.ChannelMax)
	}
}

func TestRedisKeepsWhatItsOptionsSay(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		args []string
		act  func(*testsvc.RedisProc)
		want string
	}{
		{"forgets without a file", nil, (*testsvc.RedisProc).Restart, ""},
		{"remembers with one", []string{"--appendonly", "yes", "--appendfsync", "always"}, (*testsvc.RedisProc).Restart, "new"},
		{"remembers over a kill", []string{"--appendonly", "yes", "--appendfsync", "always"}, func(r *testsvc.RedisProc) { r.Kill(); r.Start() }, "new"},
		{"forgets when emptied", []string{"--appendonly", "yes"}, (*testsvc.RedisProc).RestartEmpty, ""},
		{"forgets when flushed", nil, (*testsvc.RedisProc).FlushAll, ""},
		{"goes back to a snapshot", nil, func(r *testsvc.RedisProc) {
			set(t, r.URL(), "old")
			r.Save()
			set(t, r.URL(), "new")
			r.Restart()
		}, "old"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			store := testsvc.Redis(t, tt.args...)
			set(t, store.URL(), "new")
			tt.act(store)
			if got := get(t, store.URL()); got != tt.want {
				t.Errorf("the key holds %q, want %q", got, tt.want)
			}
		})
	}
}

func TestSharedServersServeSeveralTests(t *testing.T) {
	broker, store := testsvc.SharedRabbitMQ(t), testsvc.SharedRedis(t)
	if again := testsvc.SharedRabbitMQ(t); again != broker {
		t.Errorf("the second broker is %s, want %s again", again, broker)
	}
	if again := testsvc.SharedRedis(t); again != store {
		t.Errorf("the second store is %s, want %s again", again, store)
	}
	ns := testsvc.Namespace(t)
	declare(t, broker, ns, false)
	declare(t, broker, ns, true)
}

// declare makes a durable queue, or fails when a passive look does not find it.
func declare(t *testing.T, url, name string, passive bool) {
	t.Helper()
	c, err := amqp.Dial(url)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	ch, err := c.Channel()
	if err != nil {
		t.Fatal(err)
	}
	do := ch.QueueDeclare
	if passive {
		do = ch.QueueDeclarePassive
	}
	if _, err := do(name, true, false, false, false, amqp.Table{"x-queue-type": "quorum"}); err != nil {
		t.Fatal(err)
	}
}

func set(t *testing.T, url, value string) {
	t.Helper()
	c := client(t, url)
	defer c.Close()
	if err := c.Set(context.Background(), "key", value, 0).Err(); err != nil {
		t.Fatal(err)
	}
}

func get(t *testing.T, url string) string {
	t.Helper()
	c := client(t, url)
	defer c.Close()
	v, err := c.Get(context.Background(), "key").Result()
	if err != nil && err != redis.Nil {
		t.Fatal(err)
	}
	return v
}

func client(t *testing.T, url string) *redis.Client {
	t.Helper()
	o, err := redis.ParseURL(url)
	if err != nil {
		t.Fatal(err)
	}
	return redis.NewClient(o)
}
