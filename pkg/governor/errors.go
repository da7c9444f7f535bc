package governor

import (
	"context"
	"errors"

	"github.com/traction-go/traction/internal/wire"
)

// The classes of errors the verbs return.
var (
	// ErrNotFound: the scope, flight or incident does not exist.
	ErrNotFound = errors.New("not found")
	// ErrRefused: a precondition does not hold; nothing was changed.
	ErrRefused = errors.New("refused")
	// ErrUnreachable: the broker or the store did not answer in time.
	ErrUnreachable = errors.New("unreachable")
	// ErrPartial: some of it was done; the rest is stated in the error.
	ErrPartial = errors.New("partly done")
	// ErrFile: a file here, on this machine, cannot be read or made; nothing was tried.
	ErrFile = errors.New("unusable file")
	// ErrName is the class of every refused name.
	ErrName = wire.ErrName
	// ErrMalformed is the class of what cannot be read as a flight.
	ErrMalformed = wire.ErrMalformed
)

// interrupted gives why ctx ended, where that is how err came about: a call that is under
// way then fails with the end of its context, and reads as if nobody had answered.
func interrupted(ctx context.Context, err error) error {
	ended, cause := ctx.Err(), context.Cause(ctx)
	if ended != nil && errors.Is(err, ended) && !errors.Is(err, cause) {
		return cause
	}
	return err
}
