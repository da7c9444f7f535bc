package memory_test

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/traction-go/traction/internal/broker"
	"github.com/traction-go/traction/internal/broker/brokertest"
	"github.com/traction-go/traction/internal/broker/memory"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestConformance(t *testing.T) {
	brokertest.Run(t, func(*testing.T) brokertest.Harness {
		b := memory.NewBroker()
		return brokertest.Harness{
			Dial:    func(*testing.T) broker.Transport { return b.Dial() },
			Restart: func(*testing.T) { b.DropConnections() },
			Prefix:  "test",
		}
	})
}
