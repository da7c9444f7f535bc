package rabbit

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/traction-go/traction/internal/broker"
	"github.com/traction-go/traction/internal/wire"
)

// pipe is one confirming channel, from its opening to its end.
type pipe struct {
	ch      *amqp.Channel
	barrier chan chan struct{} // asks the watcher to take in all returns so far
	dead    chan struct{}      // closed by the watcher, after cause is set
	follow  chan *job          // chunks of a batch that began here

	cause *amqp.Error // nil: closed with its connection, or by us

	mu  sync.Mutex
	out map[*job]struct{}
}

// pipeline owns one publishing channel after the other.
func (t *transport) pipeline() {
	defer t.tasks.Done()
	retry := backoff{first: 50 * time.Millisecond, most: 5 * time.Second}
	for {
		c, err := t.pub.get(t.stop)
		if err != nil {
			return // only when closed
		}
		p, err := openPipe(c)
		if err == nil {
			began := time.Now()
			t.serve(p)
			if time.Since(began) > 5*time.Second {
				retry.reset()
			}
		}
		select {
		case <-t.stop.Done():
			return
		case <-time.After(retry.next()):
		}
	}
}

func (t *transport) serve(p *pipe) {
	for {
		select {
		case j := <-p.follow:
			p.send(j)
		case j := <-t.jobs:
			p.send(j)
		case <-p.dead:
			return
		case <-t.stop.Done():
			return
		}
	}
}

// openPipe blocks as long as the broker does not answer, at most until the
// connection ends; publishers wait elsewhere, bounded.
func openPipe(c *live) (*pipe, error) {
	ch, err := c.conn.Channel()
	if err != nil {
		return nil, err
	}
	p := &pipe{
		ch:      ch,
		barrier: make(chan chan struct{}),
		dead:    make(chan struct{}),
		follow:  make(chan *job),
		out:     map[*job]struct{}{},
	}
	closes := ch.NotifyClose(make(chan *amqp.Error, 1))
	returns := ch.NotifyReturn(make(chan amqp.Return, 1024))
	go p.watch(closes, returns)
	return p, ch.Confirm(false)
}

// send publishes a chunk. It is the owner's, and the only one, to publish here.
func (p *pipe) send(j *job) {
	j.pipe = p
	j.returned = make([]bool, len(j.msgs))
	p.mu.Lock()
	p.out[j] = struct{}{}
	p.mu.Unlock()
	defer close(j.sent)
	for i, m := range j.msgs {
		dc, err := p.ch.PublishWithDeferredConfirm(m.Exchange, m.Key, !m.Optional, false, j.pubs[i])
		if err != nil {
			return
		}
		j.confirms = append(j.confirms, dc)
	}
}

// watch takes returns as they come: the library drops one that waits for 5
// seconds, and its confirm would then be believed.
func (p *pipe) watch(closes <-chan *amqp.Error, returns <-chan amqp.Return) {
	defer close(p.dead)
	for {
		select {
		case r, ok := <-returns:
			if !ok {
				p.cause = <-closes // nil when closed in order
				return
			}
			p.note(r)
		case b := <-p.barrier:
			for more := true; more; {
				select {
				case r, ok := <-returns:
					if more = ok; ok {
						p.note(r)
					}
				default:
					more = false
				}
			}
			close(b)
		}
	}
}

// note marks what a return means. It carries no tag: whatever is out and equal in
// all that a return shows counts as returned. Should two twins have met with
// different luck, one copy too many comes of it, never one too few.
func (p *pipe) note(r amqp.Return) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for j := range p.out {
		for i := range j.msgs {
			m := &j.msgs[i]
			if !m.Optional && m.Key == r.RoutingKey && m.Exchange == r.Exchange && m.Message.ID == r.MessageId && bytes.Equal(m.Message.Body, r.Body) {
				j.returned[i] = true
			}
		}
	}
}

// markReturned turns confirmed into unroutable where it was returned. A return
// precedes its confirm, so the watcher has it, or has it in its channel.
func (p *pipe) markReturned(j *job, errs []error) {
	b := make(chan struct{})
	select {
	case p.barrier <- b:
		<-b
	case <-p.dead: // it took in everything before it ended
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, back := range j.returned {
		if back && errs[i] == nil {
			errs[i] = fmt.Errorf("no queue takes key %q of exchange %q: %w", wire.Visible(j.msgs[i].Key), j.msgs[i].Exchange, broker.ErrUnroutable)
		}
	}
}

func (p *pipe) forget(j *job) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.out, j)
}

// denied says why a publishing was not confirmed: refused, or its channel died.
func (p *pipe) denied(m broker.Publishing) error {
	if !p.ch.IsClosed() {
		return fmt.Errorf("publish to exchange %q: %w: the broker refused it", m.Exchange, broker.ErrNotConfirmed)
	}
	<-p.dead
	if p.cause == nil {
		return fmt.Errorf("publish to exchange %q: %w: the channel was lost before the confirm; a copy may exist", m.Exchange, broker.ErrUnreachable)
	}
	text := wire.Visible(p.cause.Reason)
	if p.cause.Code == amqp.NotFound && strings.Contains(p.cause.Reason, "no exchange '"+m.Exchange+"'") {
		return fmt.Errorf("%w: the broker says: %s", broker.ErrUnroutable, text)
	}
	if p.cause.Code == amqp.AccessRefused && strings.Contains(p.cause.Reason, "exchange '"+m.Exchange+"'") {
		return fmt.Errorf("publish: %w: the broker says: %s", broker.ErrRefused, text)
	}
	return fmt.Errorf("publish to exchange %q: %w: the channel was lost before the confirm (%s); a copy may exist", m.Exchange, broker.ErrUnreachable, text)
}
