package governor

import (
	"context"
	"crypto/tls"
	"log/slog"
	"time"

	"github.com/traction-go/traction/internal/wire"
)

// Config is what a process needs to take part. Zero fields take the defaults.
type Config struct {
	// AMQP is the broker's URL, or several separated by commas. Required.
	AMQP string
	// Redis is the store's URL, or several separated by commas (a cluster, or
	// sentinels with ?master_name=). Required.
	Redis string
	// TLS is used for amqps and rediss. nil: the system's roots.
	TLS *tls.Config
	// Management is the URL of the broker's management API, which Doctor alone asks:
	// http://host:port. Default: the broker's host, at the usual port.
	Management string
	// Namespace keeps installations on the same services apart. Default "tr".
	Namespace string

	// Hooks are told of notifications. Empty: LogHook on Logger.
	Hooks []Hook
	// Runbook is a URL that notifications carry.
	Runbook string
	// NoTower leaves telling people to other processes.
	NoTower bool

	// TellReopened tells the hooks of reopens too. A stop is told always, once.
	TellReopened bool

	// Heartbeat is how often the process beats; it counts as dead after five
	// missed beats. Default 2 s.
	Heartbeat time.Duration
	// Grace is how long a drain waits for flights in the air. Default: the
	// longest timeout plus 5 s.
	Grace time.Duration
	// Name starts the process's id, for people. Default: the host's name.
	Name string
	// Actor is who acts, in the audit, where a verb names nobody. Default user@host.
	Actor string
	// Logger takes the log. Default slog.Default().
	Logger *slog.Logger

	// StoreTimeout bounds one call to the store. Default 3 s.
	StoreTimeout time.Duration
	// MaxFlights ends Run, drained, once so many flights have settled: the first
	// ones of a rollout. 0: no end.
	MaxFlights int
	// BatchSize replaces the size of every batch of this process (Batch.Size): 1
	// turns batching off. traction-worker takes it from TRACTION_BATCH_SIZE. 0: as
	// each gate says. What an operator has set for a gate stands above it.
	BatchSize int
	// OnSettled is called with each settled flight, on a worker's goroutine; it
	// must return at once.
	OnSettled func(Settled)

	services  Services
	delayTold time.Duration // before a ground delay is told; a test's, else tellDelay
}

func (c Config) tellDelay() time.Duration { return or(c.delayTold, tellDelay) }

// Settled is one settled flight, as Config.OnSettled is told.
type Settled struct {
	Flight     string
	BusinessID string
	Scope      string
	Outcome    string // LANDED, FLIGHT_FAULT ...; or why it was not flown
	Settled    string // landed, rejected, skipped, hold, park or defer
	Reason     string // of a parked flight
	Evidence   string
}

// WithServices gives the configuration a broker and a store that stand already;
// AMQP and Redis are then not used. Their types are internal: it serves
// governortest and the demo.
func (c Config) WithServices(s Services) Config {
	c.services = s
	return c
}

// Hook is told of notifications. Notify returns nil when the notification was
// taken; it is called again, by any tower, until then. It must return when its
// context ends.
type Hook interface {
	Notify(ctx context.Context, n Notification) error
}

// DefaultHeartbeat is the interval of beats where Config names none.
const DefaultHeartbeat = 2 * time.Second

func (c Config) withDefaults() Config {
	c.Namespace = or(c.Namespace, string(wire.DefaultNamespace))
	c.Heartbeat = or(c.Heartbeat, DefaultHeartbeat)
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	return c
}

// Validate says what is wrong with the configuration, naming the field. It wraps
// ErrSpec.
func (c Config) Validate() error {
	if c.AMQP == "" {
		return badSpec("Config.AMQP", "is required: the broker's URL, such as amqp://localhost")
	}
	if c.Redis == "" {
		return badSpec("Config.Redis", "is required: the store's URL, such as redis://localhost")
	}
	if c.Namespace != "" {
		if _, err := wire.ParseNamespace(c.Namespace); err != nil {
			return badSpec("Config.Namespace", "%v", err)
		}
	}
	if c.Heartbeat != 0 && (c.Heartbeat < 100*time.Millisecond || c.Heartbeat > time.Minute) {
		return badSpec("Config.Heartbeat", "%v: want 100ms to 1m", c.Heartbeat)
	}
	if c.BatchSize < 0 || c.BatchSize > MaxBatch {
		return badSpec("Config.BatchSize", "%d: want 0 (as each gate says) to %d", c.BatchSize, MaxBatch)
	}
	if c.Grace < 0 {
		return badSpec("Config.Grace", "%v: want a positive duration", c.Grace)
	}
	return nil
}
