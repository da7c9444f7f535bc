package rabbit

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/traction-go/traction/internal/broker"
)

// refusal is remembered for a while: each publishing that the broker refuses
// closes a channel on everybody who shares it.
type refusal struct {
	err   error
	until time.Time
}

const refusalKept = 5 * time.Second

// routable drops what goes to an exchange that does not exist or refuses us:
// publishing there would close the channel on everybody else. What exists is
// remembered.
func (t *transport) routable(ctx context.Context, msgs []broker.Publishing, good []int, errs []error) []int {
	var bad map[string]error
	for _, k := range good {
		x := msgs[k].Exchange
		if x == "" || bad[x] != nil {
			continue
		}
		if err := t.knows(ctx, x); err != nil {
			if bad == nil {
				bad = map[string]error{}
			}
			bad[x] = err
		}
	}
	if bad == nil {
		return good
	}
	kept := good[:0]
	for _, k := range good {
		if errs[k] = bad[msgs[k].Exchange]; errs[k] == nil {
			kept = append(kept, k)
		}
	}
	return kept
}

func (t *transport) knows(ctx context.Context, x string) error {
	if v, ok := t.exchanges.Load(x); ok {
		r, bad := v.(refusal)
		if !bad {
			return nil
		}
		if time.Now().Before(r.until) {
			return r.err
		}
	}
	has, err := t.HasExchange(ctx, x)
	if err != nil {
		return err
	}
	if !has {
		return fmt.Errorf("exchange %q does not exist: %w", x, broker.ErrUnroutable)
	}
	t.exchanges.Store(x, true)
	return nil
}

// remember takes in what the end of a channel said about its exchanges.
func (t *transport) remember(msgs []broker.Publishing, errs []error) {
	for i, err := range errs {
		switch {
		case errors.Is(err, broker.ErrRefused):
			t.exchanges.Store(msgs[i].Exchange, refusal{err, time.Now().Add(refusalKept)})
		case errors.Is(err, broker.ErrUnroutable):
			t.exchanges.Delete(msgs[i].Exchange)
		}
	}
}
