//go:build unix

package rabbit_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/traction-go/traction/internal/broker"
	"github.com/traction-go/traction/internal/broker/brokertest"
	"github.com/traction-go/traction/internal/broker/rabbit"
	"github.com/traction-go/traction/internal/testsvc"
)

func TestMain(m *testing.M) { testsvc.Main(m) }

// logged puts a transport's log lines into the test's output.
func logged(t testing.TB) *slog.Logger {
	return slog.New(slog.NewTextHandler(t.Output(), nil))
}

func dial(t testing.TB, cfg rabbit.Config) broker.Transport {
	t.Helper()
	tr, err := rabbit.Dial(context.Background(), cfg) // also called while cleaning up
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

func TestConformance(t *testing.T) {
	t.Parallel()
	proc := testsvc.RabbitMQ(t)
	brokertest.Run(t, func(t *testing.T) brokertest.Harness {
		return brokertest.Harness{
			Dial: func(t *testing.T) broker.Transport {
				return dial(t, rabbit.Config{URLs: []string{proc.URL()}, Logger: logged(t)})
			},
			Restart:  func(*testing.T) { proc.Restart() },
			Prefix:   testsvc.Namespace(t),
			Patience: time.Minute,
		}
	})
}
