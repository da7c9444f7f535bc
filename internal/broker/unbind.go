package broker

import "context"

// Unbinder takes bindings away.
type Unbinder interface {
	// Unbind removes bindings: what is published by them afterwards is unroutable,
	// what is on the queue stays. One that does not exist, or whose queue or exchange
	// does not, is fine.
	Unbind(ctx context.Context, bindings ...Binding) error
}
