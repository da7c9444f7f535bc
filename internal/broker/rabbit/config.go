package rabbit

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"net/url"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/traction-go/traction/internal/broker"
	"github.com/traction-go/traction/internal/wire"
)

// Config says where the broker is and how patient to be.
type Config struct {
	// URLs are the endpoints of one cluster, amqp:// or amqps://, tried in turn.
	// Required.
	URLs []string
	// TLS is used for amqps endpoints. Default: the system's roots.
	TLS *tls.Config
	// Name is shown by the broker's tools. Default: traction.
	Name string
	// Logger takes losses and reconnects. Default: none.
	Logger *slog.Logger
	// CallTimeout bounds each synchronous call, and the wait for a connection.
	// Default: 10s.
	CallTimeout time.Duration
	// ConfirmTimeout bounds the wait for a confirm. Default: 30s.
	ConfirmTimeout time.Duration
	// Heartbeat is asked of the broker; a connection is given up after three
	// without a sign. Default: 10s.
	Heartbeat time.Duration
	// Pipelines is the number of publishing channels. Default: 4.
	Pipelines int
	// Channels is how many channels are opened for subscriptions before any is shared.
	// Default: 100.
	Channels int
	// PerChannel is how many subscriptions share a channel at most. Default: 50.
	PerChannel int
}

func (c Config) withDefaults() (Config, error) {
	if len(c.URLs) == 0 {
		return c, fmt.Errorf("rabbit: URLs is empty, name at least one amqp:// endpoint: %w", broker.ErrInvalid)
	}
	if len(c.Name) > 128 || broker.CheckName("Name", c.Name) != nil {
		return c, fmt.Errorf("rabbit: Name must be valid UTF-8 of at most 128 bytes: %w", broker.ErrInvalid)
	}
	if err := CheckURLs(c.URLs); err != nil {
		return c, fmt.Errorf("rabbit: URLs: %w: %w", err, broker.ErrInvalid)
	}
	for name, d := range map[string]time.Duration{"CallTimeout": c.CallTimeout, "ConfirmTimeout": c.ConfirmTimeout, "Heartbeat": c.Heartbeat} {
		if d < 0 {
			return c, fmt.Errorf("rabbit: %s is %s, it can't be negative: %w", name, d, broker.ErrInvalid)
		}
	}
	or(&c.Name, "traction")
	or(&c.Logger, slog.New(slog.DiscardHandler))
	or(&c.CallTimeout, 10*time.Second)
	or(&c.ConfirmTimeout, 30*time.Second)
	or(&c.Heartbeat, 10*time.Second)
	or(&c.Pipelines, 4)
	or(&c.Channels, 100)
	or(&c.PerChannel, 50)
	return c, nil
}

// CheckURLs refuses what no connection can be tried with. It asks nobody, and its
// errors hold no password.
func CheckURLs(urls []string) error {
	for _, u := range urls {
		_, err := amqp.ParseURI(u)
		if err == nil {
			continue
		}
		if _, bad := url.Parse(u); bad != nil {
			// Such an error repeats the URL, password and all.
			return fmt.Errorf("%q is no amqp:// or amqps:// URL", wire.MaskURL(u))
		}
		return fmt.Errorf("%q is no amqp:// or amqps:// URL: %s", wire.MaskURL(u), clean(u, err))
	}
	return nil
}

func or[T comparable](field *T, def T) {
	var zero T
	if *field == zero {
		*field = def
	}
}
