package demo

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"

	"github.com/traction-go/traction/internal/broker"
	"github.com/traction-go/traction/pkg/governor"
)

var errKilled = errors.New("this process was killed")

// mortal is a process of the fleet that can be killed while the demo lives: from one
// instant on nothing of what it does reaches the broker or the store, as after a
// kill -9.
type mortal struct {
	broker.Transport
	gov *governor.Governor
	tls bool // of the store

	mu    sync.Mutex
	dead  bool
	gone  func() // ends its Run
	conns map[net.Conn]bool
	wg    sync.WaitGroup
}

// mortal opens one more process of the fleet, that can be killed.
func (f *field) mortal(ctx context.Context, c governor.Config) (*mortal, error) {
	m := &mortal{conns: map[net.Conn]bool{}, tls: strings.HasPrefix(f.Redis, "rediss:")}
	bk, st, err := f.dialBy(ctx, m.dial)
	if err != nil {
		return nil, err
	}
	m.Transport = bk
	c.Namespace = string(f.ns)
	if m.gov, err = governor.Open(ctx, c.WithServices(governor.Services{Broker: m, Store: st})); err != nil {
		return nil, errors.Join(err, bk.Close(ctx), st.Close())
	}
	return m, nil
}

// dial connects to the store, for as long as the process lives.
func (m *mortal) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	var d interface {
		DialContext(ctx context.Context, network, addr string) (net.Conn, error)
	} = &net.Dialer{}
	if m.tls {
		d = &tls.Dialer{}
	}
	c, err := d.DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.dead {
		return nil, errors.Join(errKilled, c.Close())
	}
	m.conns[c] = true
	return c, nil
}

// kill ends the process. The broker hands out again what it had in hand.
func (m *mortal) kill() {
	m.mu.Lock()
	if m.dead {
		m.mu.Unlock()
		return
	}
	m.dead = true
	conns, gone := m.conns, m.gone
	m.conns = nil
	m.mu.Unlock()
	for c := range conns {
		_ = c.Close() // the peer sees the end of it either way
	}
	m.wg.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), closing)
		defer cancel()
		_ = m.Transport.Close(ctx) // the broker notices by itself where this fails
	})
	gone()
}

func (m *mortal) isDead() bool { m.mu.Lock(); defer m.mu.Unlock(); return m.dead }

// Publish reaches nobody once the process is dead.
func (m *mortal) Publish(ctx context.Context, msgs []broker.Publishing) []error {
	if !m.isDead() {
		return m.Transport.Publish(ctx, msgs)
	}
	errs := make([]error, len(msgs))
	for i := range errs {
		errs[i] = fmt.Errorf("publish: %w: %w", broker.ErrUnreachable, errKilled)
	}
	return errs
}
