package governor

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/traction-go/traction/internal/store"
	"github.com/traction-go/traction/internal/wire"
)

// ScaleOptions say what Scale sets. A field that is nil leaves what stands.
type ScaleOptions struct {
	// Workers is how many calls each process makes at once, 0 to 1000. 0: the gate
	// flies nothing, and its backlog stays.
	Workers *int
	// Batch is how many flights fly in one call, 1 to MaxBatch; 1 turns batching off.
	Batch *int
	// Reset gives both back to what the processes declare, before the other fields.
	Reset bool
	Actor string // default: Config.Actor
}

// Scaling is what Scale did.
type Scaling struct {
	Scope     string
	Changed   bool     // false: it was so already
	Unseen    []string // processes that had not seen it when the context ended
	Overtaken bool     // somebody else has set something else since: that stands
	Gate      GateInfo // what stands now
}

// Scale sets how many workers a gate has in each process of the running fleet, and how
// many flights fly in one call, until it is reset: over the environment, over what the
// processes declare. What is in the air is not disturbed. It returns when every
// process that serves the gate has seen it and has so many, or with the context's end.
//
// Errors: ErrRefused for a number out of bounds, or a batch of a gate that no process
// flies in batches; ErrPartial where it is set and not every process had it in time, or
// somebody else has set something else meanwhile: the Scaling tells; ErrNotFound;
// ErrUnreachable.
func (g *Governor) Scale(ctx context.Context, scope string, o ScaleOptions) (Scaling, error) {
	sc, err := wire.ParseGate(scope)
	if err != nil {
		return Scaling{}, err
	}
	workers, batch, err := o.asked()
	if err != nil {
		return Scaling{}, err
	}
	desk, err := g.desk(ctx, sc)
	if err != nil {
		return Scaling{}, err
	}
	if o.Batch != nil {
		info, err := g.Gate(ctx, sc.String())
		if err != nil {
			return Scaling{}, err
		}
		if !info.batches() {
			return Scaling{}, fmt.Errorf("%w: %s flies each flight by itself: no process declares a batch for it", ErrRefused, sc)
		}
	}
	result, stands, epoch, err := desk.Scale(ctx, sc.Gate, workers, batch, g.actor(o.Actor))
	if err != nil {
		return Scaling{}, classed(err)
	}
	switch result {
	case store.Absent:
		return Scaling{}, fmt.Errorf("%s: %w: nobody has declared it in namespace %s", sc, ErrNotFound, g.ns)
	case store.NotYet:
		return Scaling{}, fmt.Errorf("%w: %s is being declared; try again", ErrRefused, sc)
	}
	out := Scaling{Scope: sc.String(), Changed: result == store.Done}
	if err := g.staffedBy(ctx, sc, epoch, stands, o.Batch != nil, &out); err != nil {
		return out, err
	}
	switch {
	case out.Overtaken:
		return out, fmt.Errorf("%w: %s was set, and then %s set something else", ErrPartial, sc, wire.Visible(or(out.Gate.ScaledBy, "somebody")))
	case len(out.Unseen) > 0:
		return out, fmt.Errorf("%w: %s is set, and not every process has it yet", ErrPartial, sc)
	}
	return out, nil
}

func (o ScaleOptions) asked() (workers, batch store.ScaleTo, err error) {
	workers, batch = store.AsItIs, store.AsItIs
	if o.Reset {
		workers, batch = store.AsDeclared, store.AsDeclared
	}
	if o.Workers != nil {
		if workers = store.ScaleTo(*o.Workers); workers < 0 || workers > maxWorkers {
			return 0, 0, fmt.Errorf("%w: %d workers: want 0 to %d", ErrRefused, workers, maxWorkers)
		}
	}
	if o.Batch != nil {
		if batch = store.ScaleTo(*o.Batch); batch < 1 || batch > MaxBatch {
			return 0, 0, fmt.Errorf("%w: a batch of %d: want 1 to %d", ErrRefused, batch, MaxBatch)
		}
	}
	if workers == store.AsItIs && batch == store.AsItIs {
		return 0, 0, fmt.Errorf("%w: nothing is to be set", ErrRefused)
	}
	return workers, batch, nil
}

// batches reports whether the gate flies in batches, or would in some process: the last
// that declared it need not be one that lives.
func (gi GateInfo) batches() bool {
	return gi.BatchDeclared > 0 || gi.scale.Batch(0) > 0 || slices.ContainsFunc(gi.Processes, func(p Staff) bool { return p.Batch > 1 })
}

// staffedBy waits until every process has seen the epoch and has what is wanted, or
// something else is. Where a batch was asked for, a process that flies each flight by
// itself never has it.
func (g *Governor) staffedBy(ctx context.Context, sc wire.Scope, epoch int64, set wire.Scale, batch bool, out *Scaling) error {
	for {
		sns, err := g.st.Snapshots(ctx, sc.Airport)
		if err != nil {
			out.Unseen = []string{"the store did not answer: " + err.Error()}
			return nil
		}
		info, err := g.Gate(ctx, sc.String())
		if err != nil {
			return err
		}
		out.Gate, out.Unseen, out.Overtaken = info, nil, info.scale != set
		if out.Overtaken {
			return nil
		}
		seen := map[string]bool{}
		for _, b := range latestBeats(sns[0].Beats) {
			seen[b.Worker()] = b.Seen[sc.Gate] >= epoch
		}
		for _, p := range info.Processes {
			if !seen[p.Process] || p.Workers != info.WorkersWanted || batch && p.Batch != info.Batch {
				out.Unseen = append(out.Unseen, p.Process)
			}
		}
		if len(out.Unseen) == 0 {
			return nil
		}
		if d, ok := ctx.Deadline(); ok && time.Until(d) < time.Second || !sleep(ctx, 100*time.Millisecond) {
			return nil
		}
	}
}
