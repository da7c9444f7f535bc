package governor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/traction-go/traction/internal/backup"
	"github.com/traction-go/traction/internal/broker"
	"github.com/traction-go/traction/internal/wire"
)

const (
	restoreBatch = 1000
	restoreBytes = 16 << 20 // of payload in a batch
)

// RestoreOptions are the choices of a restore.
type RestoreOptions struct {
	// To is the queue. Default: the one the backup was taken from.
	To       string
	Actor    string
	Progress func(RestoreResult) // called after each batch
}

// RestoreResult counts what a restore did: Restored, Skipped and Left add up to
// Records.
type RestoreResult struct {
	Queue    string
	File     string
	Records  int // in the file
	Skipped  int // restored by an earlier run
	Restored int
	Left     int
	// Unconfirmed is how many of Left were sent and not answered, at most 1,000: they
	// may be on the queue all the same, and are then there twice after another run.
	Unconfirmed int
}

// Restore publishes what a backup's file holds to its queue, with confirms. The
// file is checked whole before anything is published; a damaged one is ErrRefused,
// and the error names the record.
//
// It can be run again: what an earlier run restored is noted in FILE.restored, after
// the broker confirmed it, and skipped. When ctx ends no more is sent, and what is on
// its way is waited for, ten seconds at most, and noted. Where no confirm comes
// (Unconfirmed), or the process dies before the note, that batch, of at most 1,000
// messages, may be restored twice: at least once. The messages keep their bodies, ids and headers; what would bite (expiration, user-id,
// CC, the broker's own traces) is kept under tr-original-* or dropped.
//
// ErrNotFound: there is no such queue. ErrFile: the file cannot be read, or FILE.restored
// cannot be written; nothing was restored. ErrPartial: some were restored.
func (g *Governor) Restore(ctx context.Context, file string, o RestoreOptions) (RestoreResult, error) {
	res := RestoreResult{File: file}
	f, err := os.Open(file)
	if err != nil {
		return res, &classError{ErrFile, fmt.Errorf("the backup: %w", err)}
	}
	defer f.Close()
	h, n, err := backup.Verify(f)
	if err != nil {
		if errors.Is(err, backup.ErrCorrupt) {
			return res, fmt.Errorf("%w: %s is damaged, and nothing of it was restored: %w", ErrRefused, file, err)
		}
		return res, &classError{ErrFile, fmt.Errorf("the backup: %w", err)}
	}
	res.Queue, res.Records, res.Left = or(o.To, h.Queue), n, n
	if _, exists, err := g.bk.Depth(ctx, res.Queue); err != nil {
		return res, fmt.Errorf("look for queue %q: %w", wire.Visible(res.Queue), classed(err))
	} else if !exists {
		return res, fmt.Errorf("queue %q: %w at the broker; declare it first, or name another", wire.Visible(res.Queue), ErrNotFound)
	}
	done, err := backup.OpenProgress(file+backup.Suffix, h.ID, res.Queue)
	switch {
	case errors.Is(err, backup.ErrBusy):
		return res, fmt.Errorf("%w: %w; wait for it to end, then run it again: what it has restored is skipped", ErrRefused, err)
	case errors.Is(err, backup.ErrElsewhere), errors.Is(err, backup.ErrCorrupt):
		return res, fmt.Errorf("%w: %w; to restore everything once more, remove %s", ErrRefused, err, file+backup.Suffix)
	case err != nil:
		return res, &classError{ErrFile, fmt.Errorf("the note of what is restored: %w", err)}
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return res, errors.Join(err, done.Close())
	}
	// Two entries: one that begins, so that a restore that is killed stands there too.
	g.auditQueue(ctx, res.Queue, "queue restore", "begun", o.Actor, n-done.Count())
	err = errors.Join(g.restore(ctx, f, done, o, &res), done.Close())
	if res.Unconfirmed > 0 {
		err = fmt.Errorf("%w; %d of what is left had no confirm, may be on the queue all the same, and would be there twice after another run", err, res.Unconfirmed)
	}
	if err != nil && res.Restored > 0 {
		err = fmt.Errorf("%w: %d restored, %d left; run it again: what is restored is skipped: %w", ErrPartial, res.Restored, res.Left, err)
	}
	g.auditQueue(ctx, res.Queue, "queue restore", ending(err), o.Actor, res.Restored)
	return res, err
}

// restore publishes a batch, waits for its confirms, notes it, and goes on. A
// message that cannot travel fails alone; any other failure ends it. A batch that was
// begun is seen through when ctx ends: what was given up would be restored again.
func (g *Governor) restore(ctx context.Context, f io.Reader, done *backup.Progress, o RestoreOptions, res *RestoreResult) error {
	r, err := backup.NewReader(f)
	if err != nil {
		return err
	}
	var failed []error
	var batch []broker.Publishing
	var numbers []int
	size := 0
	flush := func() error {
		if len(batch) == 0 {
			return nil
		}
		var ok []int
		var fatal error
		through, stop := outlive(ctx, answerTime)
		defer stop()
		for i, err := range g.bk.Publish(through, batch) {
			switch {
			case err == nil:
				ok = append(ok, numbers[i])
				continue
			case errors.Is(err, broker.ErrInvalid):
				failed = append(failed, fmt.Errorf("record %d: %w", numbers[i], err))
				continue
			case fatal == nil:
				fatal = fmt.Errorf("record %d: %w", numbers[i], classed(err))
			}
			if errors.Is(err, broker.ErrNotConfirmed) || errors.Is(err, broker.ErrUnreachable) {
				res.Unconfirmed++
			}
		}
		res.Restored += len(ok)
		res.Left -= len(ok)
		batch, numbers, size = batch[:0], numbers[:0], 0
		if err := done.Note(ok); err != nil {
			return errors.Join(fatal, fmt.Errorf("note what is restored: %w; the last %d may be restored twice", err, len(ok)))
		}
		if o.Progress != nil {
			o.Progress(*res)
		}
		return fatal
	}
	for {
		m, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("the file changed while it was restored: %w", err)
		}
		if done.Has(r.Count()) {
			res.Skipped++
			res.Left--
			continue
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		batch = append(batch, broker.Publishing{Key: res.Queue, Message: m.Forward()})
		numbers = append(numbers, r.Count())
		if size += len(m.Body); len(batch) == restoreBatch || size >= restoreBytes {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	if err := flush(); err != nil {
		return err
	}
	if n := len(failed); n > 0 {
		return fmt.Errorf("%d records cannot be published, the first: %w", n, failed[0])
	}
	return nil
}

// gateOfQueue reads which gate a queue of the namespace belongs to.
func (g *Governor) gateOfQueue(queue string) (wire.Scope, bool) {
	name, ours := strings.CutPrefix(queue, string(g.ns)+".")
	if !ours {
		return wire.Scope{}, false
	}
	for _, suffix := range []string{".runway", ".parked", ".rejected." + wire.ShortDuration(wire.DefaultRejectedKeep)} {
		if s, ok := strings.CutSuffix(name, suffix); ok {
			gate, err := wire.ParseGate(s)
			return gate, err == nil
		}
	}
	return wire.Scope{}, false
}

// auditTime bounds the entry that says how something ended.
const auditTime = 5 * time.Second
