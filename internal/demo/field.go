package demo

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/alicebob/miniredis/v2"

	"github.com/traction-go/traction/internal/broker"
	"github.com/traction-go/traction/internal/broker/memory"
	"github.com/traction-go/traction/internal/broker/rabbit"
	"github.com/traction-go/traction/internal/store"
	"github.com/traction-go/traction/internal/throwaway"
	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/governor"
)

// Services are a real broker and store. The zero value means embedded ones.
type Services struct {
	AMQP      string // one URL, or several separated by commas
	Redis     string
	Namespace string // must be empty of anything; "" makes one
}

// Embedded says that broker and store are in this process.
func (s Services) Embedded() bool { return s.AMQP == "" && s.Redis == "" }

// NewNamespace makes a name that no other run has.
func NewNamespace() string { return throwaway.Name("demo") }

// sabotage is how a test proves that a run can fail.
type sabotage struct {
	vendor   func(contact string) (status int)
	broker   func(broker.Transport) broker.Transport
	fixed    bool   // the plain consumer has nothing wrong
	slots    int    // more than the run is told of
	forgets  string // the payment whose rebuild the database confirms and forgets
	batch    int    // another size
	patience time.Duration
}

// field is where a scenario is played: a broker, a store and a namespace that
// belongs to the run.
type field struct {
	Services
	ns       wire.Namespace
	memory   *memory.Broker
	mini     *miniredis.Miniredis
	ledger   throwaway.Ledger
	sabotage sabotage

	bk broker.Transport // the run's own, for looking and tidying up
	st *store.Store
}

// openField refuses a namespace in which anything stands.
func openField(ctx context.Context, s Services, sab sabotage) (*field, error) {
	f := &field{Services: s, ns: wire.Namespace(s.Namespace), sabotage: sab}
	if f.ns == "" {
		f.ns = wire.Namespace(NewNamespace())
	}
	f.ledger.Namespace = f.ns
	if s.Embedded() {
		f.memory = memory.NewBroker()
		m, err := miniredis.Run()
		if err != nil {
			return nil, fmt.Errorf("start the embedded store: %w", err)
		}
		f.mini = m
	}
	var err error
	if f.bk, f.st, err = f.dial(ctx); err != nil {
		f.stop()
		return nil, err
	}
	if err := f.vacant(ctx); err != nil {
		err = errors.Join(err, f.close(ctx))
		f.stop()
		return nil, err
	}
	return f, nil
}

// dial connects as one more process would.
func (f *field) dial(ctx context.Context) (broker.Transport, *store.Store, error) {
	return f.dialBy(ctx, nil)
}

// dialBy is dial with another way to the store; nil: the network.
func (f *field) dialBy(ctx context.Context, network func(ctx context.Context, network, addr string) (net.Conn, error)) (broker.Transport, *store.Store, error) {
	redis := strings.Split(f.Redis, ",")
	if f.mini != nil {
		redis = []string{"redis://" + f.mini.Addr()}
	}
	st, err := store.Open(store.Config{URLs: redis, Namespace: f.ns, Dialer: network})
	if err != nil {
		return nil, nil, err
	}
	var bk broker.Transport
	if f.memory != nil {
		bk = f.memory.Dial()
	} else if bk, err = rabbit.Dial(ctx, rabbit.Config{URLs: strings.Split(f.AMQP, ","), Name: "traction demo"}); err != nil {
		return nil, nil, errors.Join(unreachable(err), st.Close())
	}
	bk = f.ledger.Watch(bk)
	if f.sabotage.broker != nil {
		bk = f.sabotage.broker(bk)
	}
	return bk, st, nil
}

// governor opens one more process of the fleet.
func (f *field) governor(ctx context.Context, c governor.Config) (*governor.Governor, error) {
	bk, st, err := f.dial(ctx)
	if err != nil {
		return nil, err
	}
	c.Namespace = string(f.ns)
	g, err := governor.Open(ctx, c.WithServices(governor.Services{Broker: bk, Store: st}))
	if err != nil {
		return nil, errors.Join(err, bk.Close(ctx), st.Close())
	}
	return g, nil
}

// vacant refuses a namespace that somebody uses.
func (f *field) vacant(ctx context.Context) error {
	why, err := throwaway.Taken(ctx, f.ns, f.bk, f.st, f.plainQueue(), f.deadQueue())
	if err == nil && why != "" {
		err = f.taken(why)
	}
	return err
}

func (f *field) taken(why string) error {
	return fmt.Errorf("%w: namespace %s is not empty (%s), and the demo removes its namespace when it ends: leave out --namespace, or name one that nothing uses",
		governor.ErrRefused, f.ns, why)
}

// remove deletes the namespace and closes the services. Everything else that uses
// them must have ended.
func (f *field) remove(ctx context.Context) error {
	defer f.stop()
	var errs []error
	if !f.Embedded() {
		err := f.ledger.Remove(ctx, f.bk)
		_, keysErr := f.st.RemoveKeys(ctx)
		if err = errors.Join(err, keysErr); err != nil {
			errs = append(errs, fmt.Errorf("namespace %s was not wholly removed, delete its queues, exchanges and keys by hand: %w", f.ns, err))
		}
	}
	return errors.Join(append(errs, f.close(ctx))...)
}

func (f *field) close(ctx context.Context) error { return errors.Join(f.bk.Close(ctx), f.st.Close()) }

func (f *field) stop() {
	if f.mini != nil {
		f.mini.Close()
	}
}

func unreachable(err error) error { return throwaway.Unreachable(err) }
