package testsvc

import (
	"crypto/rand"
	"encoding/hex"
	"os"
	"strings"
	"testing"
	"time"
)

// The environment variables that steer the package; doc.go says what each does.
const (
	EnvServices       = "TRACTION_TEST_SERVICES"
	EnvAMQPURL        = "TRACTION_TEST_AMQP_URL"
	EnvRedisURL       = "TRACTION_TEST_REDIS_URL"
	EnvRabbitMQCmd    = "TRACTION_TEST_RABBITMQ_CMD"
	EnvRabbitMQCtlCmd = "TRACTION_TEST_RABBITMQCTL_CMD"
	EnvRedisCmd       = "TRACTION_TEST_REDIS_CMD"
)

// Need skips the test unless service tests are asked for. Everything in this
// package that starts or finds a server calls it.
func Need(t testing.TB) {
	t.Helper()
	if os.Getenv(EnvServices) != "1" {
		t.Skipf("needs real services: run scripts/test.sh, or set %s=1 where RabbitMQ and Redis are installed", EnvServices)
	}
}

// Namespace returns a namespace no other test has: lower-case letters, digits
// and dashes, at most 32 bytes, with the test's name in it for whoever reads a
// queue list.
func Namespace(t testing.TB) string {
	t.Helper()
	var name strings.Builder
	for _, r := range strings.ToLower(strings.TrimPrefix(t.Name(), "Test")) {
		if name.Len() == 16 {
			break
		}
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			name.WriteRune(r)
		}
	}
	var id [6]byte
	if _, err := rand.Read(id[:]); err != nil {
		t.Fatalf("making a namespace: reading random bytes failed: %v", err)
	}
	return "t-" + name.String() + "-" + hex.EncodeToString(id[:])
}

// Until polls cond until it is true and fails the test with what was awaited when
// that takes longer than limit. It is for real processes, which tell nobody when
// they are ready; tests of our own code wait for a signal.
func Until(t testing.TB, limit time.Duration, what string, cond func() bool) {
	t.Helper()
	if !until(limit, cond) {
		t.Fatalf("waited %v for %s in vain", limit, what)
	}
}

func until(limit time.Duration, cond func() bool) bool {
	if cond() {
		return true
	}
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	end := time.NewTimer(limit)
	defer end.Stop()
	for {
		select {
		case <-tick.C:
			if cond() {
				return true
			}
		case <-end.C:
			return cond()
		}
	}
}
