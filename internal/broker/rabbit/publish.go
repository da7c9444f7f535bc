package rabbit

import (
	"context"
	"fmt"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/traction-go/traction/internal/broker"
	"github.com/traction-go/traction/internal/wire"
)

// The window of one Publish: a batch travels in chunks, a few of them ahead of
// their confirms. (The library walks everything unconfirmed at each confirm.)
const (
	chunk = 512
	ahead = 4
)

// job is a chunk on its way through one pipeline.
type job struct {
	msgs []broker.Publishing
	pubs []amqp.Publishing

	// Written by the pipeline before sent is closed.
	sent     chan struct{}
	pipe     *pipe
	confirms []*amqp.DeferredConfirmation // short when the channel broke
	// Under pipe.mu.
	returned []bool
}

func (t *transport) Publish(ctx context.Context, msgs []broker.Publishing) []error {
	errs := make([]error, len(msgs))
	good := make([]int, 0, len(msgs))
	for i, p := range msgs {
		if errs[i] = broker.CheckPublishing(p); errs[i] == nil {
			good = append(good, i)
		}
	}
	good = t.routable(ctx, msgs, good, errs)
	type flying struct {
		j   *job
		at  []int
		end time.Time
	}
	var air []flying
	land := func() {
		f := air[0]
		air = air[1:]
		for i, err := range t.await(ctx, f.j, f.end) {
			errs[f.at[i]] = err
		}
	}
	for len(good) > 0 {
		at := good[:min(chunk, len(good))]
		good = good[len(at):]
		j := &job{sent: make(chan struct{}), msgs: make([]broker.Publishing, len(at)), pubs: make([]amqp.Publishing, len(at))}
		for i, k := range at {
			j.msgs[i], j.pubs[i] = msgs[k], toAMQP(msgs[k].Message)
		}
		if len(air) == ahead {
			land()
		}
		// The order of a batch is the order of one channel.
		var last *job
		if len(air) > 0 {
			last = air[len(air)-1].j
		}
		if err := t.submit(ctx, j, last); err != nil {
			for _, k := range at {
				errs[k] = err
			}
			continue
		}
		air = append(air, flying{j, at, time.Now().Add(t.cfg.ConfirmTimeout)})
	}
	for len(air) > 0 {
		land()
	}
	return errs
}

// submit hands a chunk to a pipeline that is ready: the one that has the chunk
// before, as long as it lives. An error means that nothing was sent.
func (t *transport) submit(ctx context.Context, j, last *job) error {
	timer := time.NewTimer(t.cfg.CallTimeout)
	defer timer.Stop()
	for {
		if t.stop.Err() != nil {
			return fmt.Errorf("publish: %w", broker.ErrClosed)
		}
		why, changed := t.pub.block()
		jobs := t.jobs
		var follow chan *job
		var sent, dead chan struct{}
		if last != nil { // until it is sent nobody knows by whom
			jobs, sent = nil, last.sent
			select {
			case <-sent:
				sent, follow, dead = nil, last.pipe.follow, last.pipe.dead
			default:
			}
		}
		if why != "" {
			jobs, follow = nil, nil // wait for the end of the alarm
		}
		select {
		case jobs <- j:
			return nil
		case follow <- j:
			return nil
		case <-sent:
		case <-dead:
			last = nil
		case <-changed:
		case <-t.stop.Done():
		case <-ctx.Done():
			return fmt.Errorf("publish: %w: %w", t.notSent(), ctx.Err())
		case <-timer.C:
			return fmt.Errorf("publish: %w: nothing was sent in %s", t.notSent(), t.cfg.CallTimeout)
		}
	}
}

func (t *transport) notSent() error {
	t.pub.mu.Lock()
	defer t.pub.mu.Unlock()
	switch {
	case t.pub.blocked != "":
		return fmt.Errorf("%w: the broker blocks publishers (%s)", broker.ErrUnreachable, wire.Visible(t.pub.blocked))
	case t.pub.live == nil && t.pub.failed != nil:
		return fmt.Errorf("%w: %w", broker.ErrUnreachable, t.pub.failed)
	}
	return broker.ErrUnreachable
}

// await gives each publishing of a chunk its answer, by the end at the latest.
func (t *transport) await(ctx context.Context, j *job, end time.Time) []error {
	errs := make([]error, len(j.msgs))
	timer := time.NewTimer(time.Until(end))
	defer timer.Stop()
	all := func(err error) []error {
		go func() { // nobody waits for it any more, but its pipe knows it
			<-j.sent
			j.pipe.forget(j)
		}()
		for i := range errs {
			errs[i] = err
		}
		return errs
	}
	select {
	case <-j.sent:
	case <-ctx.Done():
		return all(t.unconfirmed(ctx.Err()))
	case <-timer.C:
		return all(t.unconfirmed(nil))
	}
	defer j.pipe.forget(j)
	var late error
	mandatory := false
	for i, dc := range j.confirms {
		if late == nil {
			select {
			case <-dc.Done():
			default:
				select {
				case <-dc.Done():
				case <-ctx.Done():
					late = t.unconfirmed(ctx.Err())
				case <-timer.C:
					late = t.unconfirmed(nil)
				}
			}
		}
		switch {
		case dc.Acked():
			mandatory = mandatory || !j.msgs[i].Optional
		case late != nil:
			errs[i] = late
		default:
			errs[i] = j.pipe.denied(j.msgs[i])
		}
	}
	for i := len(j.confirms); i < len(errs); i++ {
		errs[i] = j.pipe.denied(j.msgs[i])
	}
	if mandatory {
		j.pipe.markReturned(j, errs)
	}
	if j.pipe.ch.IsClosed() {
		t.remember(j.msgs, errs)
	}
	return errs
}

func (t *transport) unconfirmed(cause error) error {
	why, _ := t.pub.block()
	switch {
	case why != "":
		return fmt.Errorf("%w: the broker blocks publishers (%s); a copy may exist", broker.ErrNotConfirmed, wire.Visible(why))
	case cause != nil:
		return fmt.Errorf("%w: given up waiting: %w; a copy may exist", broker.ErrNotConfirmed, cause)
	}
	return fmt.Errorf("%w: no confirm in %s; a copy may exist", broker.ErrNotConfirmed, t.cfg.ConfirmTimeout)
}
