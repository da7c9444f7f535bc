package rabbit

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/traction-go/traction/internal/broker"
	"github.com/traction-go/traction/internal/wire"
)

// link is one supervised connection: a goroutine dials it again whenever it dies.
type link struct {
	cfg  Config
	role string // for the logs and the broker's tools

	stop context.Context
	done chan struct{} // closed when the supervisor has ended

	mu      sync.Mutex
	live    *live
	failed  error         // the last dial's
	changed chan struct{} // closed and replaced at every change of the above
	blocked string        // why the broker blocks this connection, or ""
}

// live is one connection of a link.
type live struct {
	conn *amqp.Connection
	raw  net.Conn
	dead chan struct{} // closed when it is lost
	idle chan *amqp.Channel
}

func newLink(cfg Config, role string) *link {
	return &link{cfg: cfg, role: role, done: make(chan struct{}), changed: make(chan struct{})}
}

// start makes one round over the endpoints and then supervises.
func (l *link) start(ctx, stop context.Context) error {
	l.stop = stop
	first, closes, err := l.dialAny(ctx)
	if err != nil {
		close(l.done)
		return err
	}
	go l.supervise(first, closes)
	return nil
}

func (l *link) supervise(c *live, closes <-chan *amqp.Error) {
	defer close(l.done)
	retry := backoff{first: 100 * time.Millisecond, most: 10 * time.Second}
	for {
		if c != nil {
			l.set(c, nil)
			since := time.Now()
			var cause *amqp.Error
			select {
			case cause = <-closes:
			case <-l.stop.Done():
				return // Close closes it, after what is in hand was given back
			}
			close(c.dead)
			c.raw.Close()
			err := errors.New("closed by the broker")
			if cause != nil {
				err = errors.New(wire.Visible(cause.Error()))
			}
			l.set(nil, err)
			l.cfg.Logger.Warn("connection lost", "role", l.role, "error", err)
			if time.Since(since) > 10*time.Second {
				retry.reset()
			}
		}
		select {
		case <-time.After(retry.next()):
		case <-l.stop.Done():
			return
		}
		next, nextCloses, err := l.dialAny(l.stop)
		if err != nil {
			l.set(nil, err)
			c = nil
			continue
		}
		l.cfg.Logger.Info("connection restored", "role", l.role)
		c, closes = next, nextCloses
	}
}

func (l *link) set(c *live, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.live, l.failed, l.blocked = c, err, ""
	close(l.changed)
	l.changed = make(chan struct{})
}

// get waits for a connection.
func (l *link) get(ctx context.Context) (*live, error) {
	for {
		l.mu.Lock()
		c, failed, changed := l.live, l.failed, l.changed
		l.mu.Unlock()
		if c != nil {
			return c, nil
		}
		select {
		case <-changed:
		case <-l.stop.Done():
			return nil, broker.ErrClosed
		case <-ctx.Done():
			if failed == nil {
				failed = ctx.Err()
			}
			return nil, fmt.Errorf("%w: %w", broker.ErrUnreachable, failed)
		}
	}
}

// block is the broker's reason to block this connection, and a channel that is
// closed when that changes.
func (l *link) block() (string, <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.blocked, l.changed
}

func (l *link) watchBlocked(c *live, blocks <-chan amqp.Blocking) {
	for b := range blocks { // closed with the connection
		why := ""
		if b.Active {
			why = b.Reason
			if why == "" {
				why = "no reason given"
			}
			l.cfg.Logger.Warn("the broker blocks publishers", "role", l.role, "reason", why)
		}
		l.mu.Lock()
		if l.live == nil || l.live == c {
			l.blocked = why
			close(l.changed)
			l.changed = make(chan struct{})
		}
		l.mu.Unlock()
	}
}

// close ends the connection, bounded: a broker under an alarm never answers.
func (l *link) close(ctx context.Context) {
	<-l.done
	l.mu.Lock()
	c := l.live
	l.mu.Unlock()
	if c == nil {
		return
	}
	deadline := time.Now().Add(2 * time.Second)
	if d, ok := ctx.Deadline(); ok && d.Before(deadline) {
		deadline = d
	}
	timer := time.AfterFunc(time.Until(deadline), func() { c.raw.Close() })
	defer timer.Stop()
	_ = c.conn.CloseDeadline(deadline) // closed either way
	c.raw.Close()
	l.set(nil, broker.ErrClosed)
	close(c.dead)
}
