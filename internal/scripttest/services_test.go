package scripttest

import (
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/traction-go/traction/internal/testsvc"
)

// services gives every script a namespace of its own on servers that belong to
// the suite, and a vendor to call.
func services(t *testing.T) func(*testscript.Env) error {
	t.Helper()
	testsvc.Need(t)
	amqp, redis := testsvc.RabbitMQ(t).URL(), testsvc.Redis(t).URL()
	var n atomic.Int32
	return func(e *testscript.Env) error {
		e.Setenv("TRACTION_AMQP_URL", amqp)
		e.Setenv("TRACTION_REDIS_URL", redis)
		e.Setenv("TRACTION_NAMESPACE", fmt.Sprintf("script-%d", n.Add(1)))
		startVendor(e)
		return nil
	}
}
