//go:build unix

package testsvc

import (
	"fmt"
	"net"
	"net/url"
	"os"
	"sync"
	"testing"

	"go.uber.org/goleak"
)

// shared holds the servers of this test binary. Under the lock a server is
// started once; a failed start is not tried again by the next test.
var shared struct {
	sync.Mutex
	broker    *broker
	brokerErr error
	store     *store
	storeErr  error
}

// Main runs a package's tests, ends the shared servers, fails when goroutines are
// left over, and exits. Call it as TestMain's only line.
func Main(m *testing.M, leaks ...goleak.Option) {
	code := m.Run()
	stopShared()
	if code == 0 {
		if err := goleak.Find(leaks...); err != nil {
			fmt.Fprintf(os.Stderr, "goroutines are left after the tests:\n%v\n", err)
			code = 1
		}
	}
	os.Exit(code)
}

// SharedRabbitMQ returns the URL of the broker all tests of the package share.
// Use a Namespace, and leave other namespaces and the broker itself alone.
func SharedRabbitMQ(t testing.TB) string {
	t.Helper()
	Need(t)
	if u := os.Getenv(EnvAMQPURL); u != "" {
		reach(t, EnvAMQPURL, u, "5672")
		return u
	}
	shared.Lock()
	defer shared.Unlock()
	if shared.broker == nil && shared.brokerErr == nil {
		shared.broker, shared.brokerErr = newBroker(nil)
	}
	if shared.brokerErr != nil {
		t.Fatal(shared.brokerErr)
	}
	return shared.broker.url()
}

// SharedRedis returns the URL of the store all tests of the package share. Use a
// Namespace; it keeps nothing over a restart.
func SharedRedis(t testing.TB) string {
	t.Helper()
	Need(t)
	if u := os.Getenv(EnvRedisURL); u != "" {
		reach(t, EnvRedisURL, u, "6379")
		return u
	}
	shared.Lock()
	defer shared.Unlock()
	if shared.store == nil && shared.storeErr == nil {
		shared.store, shared.storeErr = newStore(nil)
	}
	if shared.storeErr != nil {
		t.Fatal(shared.storeErr)
	}
	return shared.store.url()
}

// reach fails the test when nobody listens at a URL the environment names.
func reach(t testing.TB, env, raw, port string) {
	t.Helper()
	u, err := url.Parse(raw)
	if err != nil {
		t.Fatalf("reading %s: it is not a URL", env)
	}
	if u.Port() != "" {
		port = u.Port()
	}
	c, err := net.DialTimeout("tcp", net.JoinHostPort(u.Hostname(), port), patience/9)
	if err != nil {
		t.Fatalf("reaching the service that %s names: %v; start it or unset the variable", env, err)
	}
	c.Close()
}

func stopShared() {
	shared.Lock()
	defer shared.Unlock()
	if shared.broker != nil {
		shared.broker.remove()
		shared.broker = nil
	}
	if shared.store != nil {
		shared.store.remove()
		shared.store = nil
	}
}

// StartShared starts a broker and a store for several test binaries, which find
// them through EnvAMQPURL and EnvRedisURL. stop ends both.
func StartShared() (amqpURL, redisURL string, stop func(), err error) {
	b, err := newBroker(nil)
	if err != nil {
		return "", "", nil, err
	}
	s, err := newStore(nil)
	if err != nil {
		b.remove()
		return "", "", nil, err
	}
	return b.url(), s.url(), func() { s.remove(); b.remove() }, nil
}
