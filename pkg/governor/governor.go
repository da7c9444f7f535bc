package governor

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/user"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/traction-go/traction/internal/broker"
	"github.com/traction-go/traction/internal/broker/rabbit"
	"github.com/traction-go/traction/internal/store"
	"github.com/traction-go/traction/internal/wire"
)

// Services are a broker and a store that stand already. They are how
// governortest and the demo bring the embedded ones; leave them nil elsewhere.
type Services struct {
	Broker broker.Transport
	Store  *store.Store
}

// Governor is a process's part in the fleet. Its methods may be called from any
// goroutine. Make it with Open, end it with Close.
type Governor struct {
	cfg Config
	ns  wire.Namespace
	id  string // of this process, unique
	bk  broker.Transport
	st  *store.Store
	log *slog.Logger

	reports *feed
	stats   *stats
	permits permits
	solo    solo

	mu       sync.Mutex
	running  bool
	runs     uint64 // of Run; each has incarnations and numbers of its own
	closed   bool
	stations []*station
	logged   map[string]time.Time
}

// Open connects to the broker and prepares the store. It fails with
// ErrUnreachable when the broker does not answer; from then on both may come and
// go. A store that is away is noticed by whoever needs it.
func Open(ctx context.Context, c Config) (*Governor, error) {
	embedded := c.services.Broker != nil && c.services.Store != nil
	if !embedded {
		if err := c.Validate(); err != nil {
			return nil, err
		}
	}
	c = c.withDefaults()
	g := &Governor{cfg: c, ns: wire.Namespace(c.Namespace), id: processID(c.Name), log: c.Logger}
	g.log = c.Logger
	g.stats = newStats()
	if embedded {
		g.bk, g.st = c.services.Broker, c.services.Store
	} else {
		st, err := store.Open(store.Config{URLs: splitURLs(c.Redis), TLS: c.TLS, Namespace: g.ns, Timeout: c.StoreTimeout})
		if err != nil {
			return nil, badSpec("Config.Redis", "%v", err)
		}
		bk, err := rabbit.Dial(ctx, rabbit.Config{URLs: splitURLs(c.AMQP), TLS: c.TLS, Name: "traction " + g.id, Logger: c.Logger})
		if err != nil {
			return nil, errors.Join(classed(err), st.Close())
		}
		g.bk, g.st = bk, st
	}
	g.reports = newFeed(g)
	g.solo.g = g
	return g, nil
}

// ID is the process's id, as evidence and the audit name it.
func (g *Governor) ID() string { return g.id }

// Close ends the connections. Run must have returned. Closing twice is fine.
func (g *Governor) Close(ctx context.Context) error {
	g.mu.Lock()
	if g.closed {
		g.mu.Unlock()
		return nil
	}
	g.closed = true
	g.mu.Unlock()
	return errors.Join(g.bk.Close(ctx), g.st.Close())
}

func splitURLs(s string) []string {
	var urls []string
	for u := range strings.SplitSeq(s, ",") {
		if u = strings.TrimSpace(u); u != "" {
			urls = append(urls, u)
		}
	}
	return urls
}

var notID = regexp.MustCompile(`[^A-Za-z0-9_-]+`)

// processID names this process: for people first, and unique. It has no dot,
// which separates the incarnation, and no slash, which separates the lane.
func processID(name string) string {
	if name == "" {
		name, _ = os.Hostname() // unnamed hosts are called "worker"
	}
	name = strings.Trim(notID.ReplaceAllString(name, "-"), "-")
	if name == "" {
		name = "worker"
	}
	if len(name) > 40 {
		name = name[:40]
	}
	var b [4]byte
	_, _ = rand.Read(b[:]) // never fails
	return fmt.Sprintf("%s-%d-%s", name, os.Getpid(), hex.EncodeToString(b[:]))
}

// actor is who acts where a verb names nobody.
func (g *Governor) actor(who string) string {
	if who != "" {
		return wire.Visible(who)
	}
	if g.cfg.Actor != "" {
		return wire.Visible(g.cfg.Actor)
	}
	name := "unknown"
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return wire.Visible(name + "@" + host)
}

// classed gives an error of the broker or the store its public class, and leaves its
// text alone.
func classed(err error) error {
	class := error(nil)
	switch {
	case err == nil, errors.Is(err, ErrUnreachable), errors.Is(err, ErrNotFound), errors.Is(err, ErrRefused):
		return err
	case errors.Is(err, broker.ErrUnreachable), errors.Is(err, broker.ErrNotConfirmed), errors.Is(err, store.ErrUnreachable),
		errors.Is(err, context.DeadlineExceeded):
		class = ErrUnreachable
	case errors.Is(err, broker.ErrNoQueue), errors.Is(err, broker.ErrUnroutable):
		class = ErrNotFound
	default:
		return err
	}
	return &classError{class, err}
}

// classError is an error with a class that its text does not repeat.
type classError struct{ class, err error }

func (e *classError) Error() string { return e.err.Error() }

func (e *classError) Unwrap() []error { return []error{e.class, e.err} }
