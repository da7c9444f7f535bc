package memory

import (
	"context"
	"slices"

	"github.com/traction-go/traction/internal/broker"
)

func (t *transport) Unbind(ctx context.Context, bindings ...broker.Binding) error {
	if err := broker.CheckTopology(broker.Topology{Bindings: bindings}); err != nil {
		return err
	}
	if err := t.open(ctx); err != nil {
		return err
	}
	t.b.mu.Lock()
	defer t.b.mu.Unlock()
	for _, bind := range bindings {
		if x := t.b.exchanges[bind.Exchange]; x != nil {
			x.bindings = slices.DeleteFunc(x.bindings, func(b broker.Binding) bool { return b == bind })
		}
	}
	return nil
}
