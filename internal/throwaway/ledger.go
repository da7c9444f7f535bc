package throwaway

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/traction-go/traction/internal/broker"
	"github.com/traction-go/traction/internal/wire"
)

// Ledger remembers what a run made on a broker. Its methods may be called from any
// goroutine.
type Ledger struct {
	// Namespace is the run's. Only names that start with it are remembered. Required.
	Namespace wire.Namespace

	mu        sync.Mutex
	queues    map[string]bool
	exchanges map[string]bool
	refused   error
}

// owns says whether a name is the run's: the namespace's own, or one beside it that
// starts with it, such as <namespace>-adopted.
func (l *Ledger) owns(name string) bool {
	rest, ok := strings.CutPrefix(name, string(l.Namespace))
	return ok && l.Namespace != "" && rest != "" && (rest[0] == '.' || rest[0] == '-')
}

// Note is called before the declaration: what may stand is removed too.
func (l *Ledger) Note(t broker.Topology) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.queues == nil {
		l.queues, l.exchanges = map[string]bool{}, map[string]bool{}
	}
	for _, q := range t.Queues {
		if l.owns(q.Name) {
			l.queues[q.Name] = true
		}
	}
	for _, x := range t.Exchanges {
		if l.owns(x.Name) {
			l.exchanges[x.Name] = true
		}
	}
}

// Names lists what was noted, in the order of the alphabet.
func (l *Ledger) Names() (queues, exchanges []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Sorted(maps.Keys(l.queues)), slices.Sorted(maps.Keys(l.exchanges))
}

// Refused is the last declaration that the broker did not want: it exists with other
// arguments, or is not allowed. Time does not mend it. nil: there is none.
func (l *Ledger) Refused() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.refused
}

// Remove deletes all that is noted. What is missing is fine.
func (l *Ledger) Remove(ctx context.Context, bk broker.Declarer) error {
	queues, exchanges := l.Names()
	var errs []error
	for _, q := range queues {
		errs = append(errs, bk.DeleteQueue(ctx, q))
	}
	for _, x := range exchanges {
		errs = append(errs, bk.DeleteExchange(ctx, x))
	}
	return errors.Join(errs...)
}

// Standing lists what is noted and stands, by looks that declare nothing.
func (l *Ledger) Standing(ctx context.Context, bk broker.Declarer) (names []string, err error) {
	queues, exchanges := l.Names()
	for _, q := range queues {
		_, stands, err := bk.Depth(ctx, q)
		if err != nil {
			return names, err
		}
		if stands {
			names = append(names, "queue "+q)
		}
	}
	for _, x := range exchanges {
		stands, err := bk.HasExchange(ctx, x)
		if err != nil {
			return names, err
		}
		if stands {
			names = append(names, "exchange "+x)
		}
	}
	return names, nil
}

// Watch gives bk with its declarations noted.
func (l *Ledger) Watch(bk broker.Transport) broker.Transport { return &watched{bk, l} }

type watched struct {
	broker.Transport
	ledger *Ledger
}

// Declare notes the topology, then declares it.
func (w *watched) Declare(ctx context.Context, t broker.Topology) error {
	w.ledger.Note(t)
	err := w.Transport.Declare(ctx, t)
	if errors.Is(err, broker.ErrMismatch) || errors.Is(err, broker.ErrRefused) {
		w.ledger.mu.Lock()
		w.ledger.refused = err
		w.ledger.mu.Unlock()
	}
	return err
}
