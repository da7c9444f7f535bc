package rabbit

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strings"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/traction-go/traction/internal/broker"
	"github.com/traction-go/traction/internal/wire"
)

// dialAny tries every endpoint once, beginning anywhere, so that a fleet spreads.
func (l *link) dialAny(ctx context.Context) (*live, <-chan *amqp.Error, error) {
	var errs []error
	n := len(l.cfg.URLs)
	first := rand.IntN(n)
	for i := range n {
		url := l.cfg.URLs[(first+i)%n]
		c, closes, err := l.dial(ctx, url)
		if err == nil {
			return c, closes, nil
		}
		errs = append(errs, fmt.Errorf("dial %s: %s", wire.MaskURL(url), clean(url, err)))
		if ctx.Err() != nil {
			break
		}
	}
	return nil, nil, fmt.Errorf("%w: %w", broker.ErrUnreachable, errors.Join(errs...))
}

// clean keeps the URL's password out of an error.
func clean(url string, err error) string {
	s := strings.ReplaceAll(err.Error(), url, wire.MaskURL(url))
	if u, e := amqp.ParseURI(url); e == nil && len(u.Password) > 3 && u.Password != u.Username {
		s = strings.ReplaceAll(s, u.Password, "xxxxx")
	}
	return wire.Visible(s)
}

func (l *link) dial(ctx context.Context, url string) (*live, <-chan *amqp.Error, error) {
	ctx, cancel := context.WithTimeout(ctx, l.cfg.CallTimeout)
	defer cancel()
	c := &live{dead: make(chan struct{}), idle: make(chan *amqp.Channel, 4)}
	props := amqp.NewConnectionProperties()
	props.SetClientConnectionName(l.cfg.Name + " " + l.role)
	var abort func() bool
	conf := amqp.Config{
		Heartbeat:  l.cfg.Heartbeat,
		Properties: props,
		Dial: func(network, addr string) (net.Conn, error) {
			raw, err := (&net.Dialer{}).DialContext(ctx, network, addr)
			if err != nil {
				return nil, err
			}
			c.raw = newSocket(raw, l.cfg.CallTimeout)
			// The handshake ends with the context; the library has no other way.
			abort = context.AfterFunc(ctx, func() { c.raw.Close() })
			return c.raw, nil
		},
	}
	if l.cfg.TLS != nil {
		conf.TLSClientConfig = l.cfg.TLS.Clone() // the library writes into it
	}
	var err error
	c.conn, err = amqp.DialConfig(url, conf)
	if err == nil && !abort() {
		err = context.Cause(ctx)
	}
	if err != nil {
		if c.raw != nil {
			c.raw.Close()
		}
		if ctx.Err() != nil {
			err = fmt.Errorf("no answer in time: %w", err)
		}
		return nil, nil, err
	}
	closes := c.conn.NotifyClose(make(chan *amqp.Error, 1))
	go l.watchBlocked(c, c.conn.NotifyBlocked(make(chan amqp.Blocking, 16)))
	return c, closes, nil
}
