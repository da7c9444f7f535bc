package rehearse

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/traction-go/traction/internal/broker"
	"github.com/traction-go/traction/internal/broker/rabbit"
	"github.com/traction-go/traction/internal/store"
	"github.com/traction-go/traction/internal/throwaway"
	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/governor"
)

// closing bounds what is done after the last step.
const closing = 30 * time.Second

// field is where a rehearsal is played: a broker, a store and a namespace that belongs
// to the run.
type field struct {
	Options
	ns       wire.Namespace
	ledger   throwaway.Ledger
	embedded bool

	bk broker.Transport // the run's own, for looking, sending and tidying up
	st *store.Store
}

// openField refuses a namespace in which anything stands, and the one that the
// configuration is for.
func openField(ctx context.Context, o Options, queues func(wire.Namespace) []string) (*field, error) {
	ns, err := wire.ParseNamespace(or(o.Namespace, throwaway.Name("rehearse")))
	if err != nil {
		return nil, err
	}
	f := &field{Options: o, ns: ns, embedded: o.dial != nil}
	f.ledger.Namespace = ns
	if string(ns) == or(o.Wanted, string(wire.DefaultNamespace)) {
		return nil, fmt.Errorf("%w: namespace %s is the one that the configuration is for, and a rehearsal removes its namespace when it ends", governor.ErrRefused, ns)
	}
	if f.bk, f.st, err = f.dial(ctx, ns); err != nil {
		return nil, err
	}
	f.bk = f.ledger.Watch(f.bk)
	why, err := throwaway.Taken(ctx, ns, f.bk, f.st, queues(ns)...)
	if err == nil && why != "" {
		err = fmt.Errorf("%w: namespace %s is not empty (%s), and a rehearsal removes its namespace when it ends", governor.ErrRefused, ns, why)
	}
	if err != nil {
		return nil, errors.Join(err, f.close(ctx))
	}
	return f, nil
}

// dial connects as one more process would.
func (f *field) dial(ctx context.Context, ns wire.Namespace) (broker.Transport, *store.Store, error) {
	ctx, cancel := context.WithTimeout(ctx, or(f.Timeout, 10*time.Second))
	defer cancel()
	if f.Options.dial != nil {
		return f.Options.dial(ctx, ns)
	}
	st, err := store.Open(store.Config{URLs: strings.Split(f.Redis, ","), Namespace: ns})
	if err != nil {
		return nil, nil, err
	}
	bk, err := rabbit.Dial(ctx, rabbit.Config{URLs: strings.Split(f.AMQP, ","), Name: "traction rehearsal", Logger: f.Logger})
	if err != nil {
		return nil, nil, errors.Join(throwaway.Unreachable(err), st.Close())
	}
	return bk, st, nil
}

// governor opens one more process in the run's namespace.
func (f *field) governor(ctx context.Context, c governor.Config) (*governor.Governor, error) {
	return f.open(ctx, f.ns, c, f.ledger.Watch)
}

// outside opens one in another namespace. What it declares is not the run's, and never
// removed.
func (f *field) outside(ctx context.Context, ns wire.Namespace, c governor.Config) (*governor.Governor, error) {
	return f.open(ctx, ns, c, func(bk broker.Transport) broker.Transport { return bk })
}

func (f *field) open(ctx context.Context, ns wire.Namespace, c governor.Config, watch func(broker.Transport) broker.Transport) (*governor.Governor, error) {
	bk, st, err := f.dial(ctx, ns)
	if err != nil {
		return nil, err
	}
	c.Namespace, c.Logger, c.Actor = string(ns), f.Logger, f.Actor
	g, err := governor.Open(ctx, c.WithServices(governor.Services{Broker: watch(bk), Store: st}))
	if err != nil {
		return nil, errors.Join(err, bk.Close(ctx), st.Close())
	}
	return g, nil
}

// remove deletes the namespace, looks again, closes the services, and gives what is
// left. Everything else that uses them must have ended.
func (f *field) remove(ctx context.Context) (left []string, err error) {
	// The store first: it is quick, and a broker that is away takes all the time.
	_, keysErr := f.st.RemoveKeys(ctx)
	keys, countErr := f.st.CountKeys(ctx)
	err = f.ledger.Remove(ctx, f.bk)
	left, lookErr := f.ledger.Standing(ctx, f.bk)
	if keys > 0 {
		left = append(left, fmt.Sprintf("%d keys %s:*", keys, f.ns))
	}
	if lookErr != nil {
		left = append(left, "queues and exchanges that could not be looked for")
	}
	if countErr != nil {
		left = append(left, "keys that could not be looked for")
	}
	if len(left) == 0 {
		err, keysErr = nil, nil // the second look is the one that counts
	}
	return left, errors.Join(throwaway.Unreachable(errors.Join(err, keysErr, lookErr, countErr)), f.close(ctx))
}

func (f *field) close(ctx context.Context) error { return errors.Join(f.bk.Close(ctx), f.st.Close()) }
