package governor

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/traction-go/traction/internal/backup"
	"github.com/traction-go/traction/internal/broker"
	"github.com/traction-go/traction/internal/wire"
)

// The defaults of a backup.
const (
	// DefaultAckTimeout is how long RabbitMQ lets a delivery stay unacknowledged
	// where nobody configured it.
	DefaultAckTimeout = 30 * time.Minute
	// DefaultMaxBackup is the largest file a backup writes.
	DefaultMaxBackup = 1 << 30

	// backupRate is how many messages a second a backup reads and gives back on a
	// slow day: a twentieth of what one core does.
	backupRate = 2000
	// backupLeast is the shortest line a message can take in the file.
	backupLeast = 60
)

// BackupOptions are the choices of a backup.
type BackupOptions struct {
	// MaxBytes bounds the file. Default DefaultMaxBackup.
	MaxBytes int64
	// AckTimeout is the broker's (consumer_timeout). A backup must give everything
	// back within half of it. Default DefaultAckTimeout.
	AckTimeout time.Duration
	Actor      string
	// Progress is called now and then with what was written so far.
	Progress func(BackupResult)
}

// BackupResult counts what a backup wrote.
type BackupResult struct {
	Queue   string
	File    string
	Planned int // ready on the queue when it began
	Written int // read and written; where it ended early there is no file
	Bytes   int64
	Took    time.Duration
}

// Backup writes all that is ready on a queue to a file, and gives it all back as it
// was. Nothing is acknowledged at any time: the messages are the broker's, and a
// process that dies leaves them there. Any queue will do, not only Traction's. What
// consumers have in hand is not ready and not in the file. The file is for its owner
// alone, and appears whole or not at all; it is never written over.
//
// ErrNotFound: there is no such queue. ErrRefused: it would take too long or too
// many bytes, or the file exists; everything is back on the queue and there is no
// file. ErrFile: the file cannot be made; nothing was read. ErrPartial: the file is
// there and good, but others took some of what was planned meanwhile.
func (g *Governor) Backup(ctx context.Context, queue, file string, o BackupOptions) (BackupResult, error) {
	o.MaxBytes, o.AckTimeout = or(o.MaxBytes, int64(DefaultMaxBackup)), or(o.AckTimeout, DefaultAckTimeout)
	res := BackupResult{Queue: queue, File: file}
	if o.MaxBytes < 0 || o.AckTimeout < 0 {
		return res, fmt.Errorf("%w: the largest size and the ack timeout of a backup must not be negative", ErrName)
	}
	done, others, err := g.soleLook(ctx, queue)
	if err != nil {
		return res, err
	}
	defer done()
	if err := g.mayBackup(ctx, queue, o, &res); err != nil {
		return res, err
	}
	f, err := backup.Create(file, backup.Header{ID: backup.NewID(), Queue: queue, TakenAt: time.Now()})
	if err != nil {
		if errors.Is(err, backup.ErrExists) {
			return res, fmt.Errorf("%w: a backup is never written over: %w; name another file", ErrRefused, err)
		}
		return res, &classError{ErrFile, fmt.Errorf("make the file of the backup: %w", err)}
	}
	// Two entries: one that begins, so that a backup that is killed stands there too.
	g.auditQueue(ctx, queue, "queue backup", "begun", o.Actor, res.Planned)
	if err = g.backup(ctx, f, o, &res); err == nil {
		err = others
	}
	g.auditQueue(ctx, queue, "queue backup", ending(err), o.Actor, res.Written)
	return res, err
}

// soleLook takes the look at the shelf that the queue is. others is errInHand where
// somebody moves its flights meanwhile. Any other queue is nobody's to lock; and the
// store may well be what is down when somebody saves one.
//
// ErrRefused: somebody looks at it.
func (g *Governor) soleLook(ctx context.Context, queue string) (done func(), others, err error) {
	none := func() {}
	gate, ok := g.gateOfQueue(queue)
	if !ok {
		return none, nil, nil
	}
	for _, shelf := range []Shelf{ParkedShelf, RejectedShelf} {
		if shelf.queue(g.ns, gate) != queue {
			continue
		}
		done, err := g.lookAlone(ctx, shelf, gate, "queue backup")
		switch {
		case errors.Is(err, errInHand):
			return nil, nil, fmt.Errorf("%w: %v", ErrRefused, err) // nothing is partly done
		case err != nil && ctx.Err() == nil:
			g.log.Debug("the look at a shelf could not be taken", "queue", queue, "error", err)
			return none, nil, nil
		case err != nil:
			return nil, nil, err
		}
		if s, err := g.wholeQueue(ctx, queue, time.Now().Add(handPatience)); err == nil && s.Consumers > 0 {
			others = g.inHand(ctx, shelf, gate, ownLook, "what they hold is not in the file")
		}
		return done, others, nil
	}
	return none, nil, nil
}

// ending says in the audit how something ended that could end early.
func ending(err error) string {
	switch {
	case err == nil:
		return "ok"
	case errors.Is(err, ErrPartial):
		return "partly done: " + wire.CleanEvidence(err.Error())
	}
	return "ended early: " + wire.CleanEvidence(err.Error())
}

// backup fills the file and gives it its name, or removes it.
func (g *Governor) backup(ctx context.Context, f *backup.File, o BackupOptions, res *BackupResult) error {
	if err := g.readOut(ctx, f, o, res); err != nil {
		return errors.Join(err, f.Abandon())
	}
	if err := f.Commit(); err != nil {
		if errors.Is(err, backup.ErrExists) {
			err = fmt.Errorf("%w: somebody else made the file meanwhile: %w", ErrRefused, err)
		}
		return err
	}
	res.Bytes = f.Bytes()
	if res.Written < res.Planned {
		return fmt.Errorf("%w: %d of the %d messages that were ready are in %s; consumers took the others meanwhile, or a message expired; for a whole backup, pause what consumes queue %q and run it again into another file",
			ErrPartial, res.Written, res.Planned, res.File, wire.Visible(res.Queue))
	}
	return nil
}

// mayBackup refuses, before anything is read, what cannot be done in time or space.
func (g *Governor) mayBackup(ctx context.Context, queue string, o BackupOptions, res *BackupResult) error {
	ready, exists, err := g.bk.Depth(ctx, queue)
	if err != nil {
		return fmt.Errorf("count queue %q: %w", wire.Visible(queue), classed(err))
	}
	if !exists {
		return fmt.Errorf("queue %q: %w at the broker", wire.Visible(queue), ErrNotFound)
	}
	res.Planned = ready
	if need, half := time.Duration(ready)*time.Second/backupRate, o.AckTimeout/2; need > half {
		return fmt.Errorf("%w: %d messages take about %s, and the broker takes back what is looked at for longer than its ack timeout of %s, half of which is the bound; raise consumer_timeout and say so with the ack timeout, or move a part of the queue elsewhere first",
			ErrRefused, ready, need.Round(time.Second), o.AckTimeout)
	}
	if least := int64(ready) * backupLeast; least > o.MaxBytes {
		return fmt.Errorf("%w: %d messages take %d bytes at the very least, and the file may have %d; allow it more", ErrRefused, ready, least, o.MaxBytes)
	}
	return nil
}

// readOut reads the queue into the file. Whatever ends it, the broker has everything
// back when it returns, or takes it back when the connection ends.
func (g *Governor) readOut(ctx context.Context, f *backup.File, o BackupOptions, res *BackupResult) error {
	began := time.Now()
	half := o.AckTimeout / 2
	late := fmt.Errorf("%w: it was not done within %s, half the broker's ack timeout; everything is back on the queue", ErrRefused, half)
	bounded, cancel := context.WithTimeoutCause(ctx, half, late)
	defer cancel()
	var stopped error
	told := began
	err := g.bk.Browse(bounded, res.Queue, res.Planned, func(m wire.Message) bool {
		if stopped = f.Add(m); stopped != nil {
			stopped = fmt.Errorf("write the backup: %w; everything is back on the queue", stopped)
			return false
		}
		if f.Bytes() > o.MaxBytes {
			stopped = fmt.Errorf("%w: after %d of %d messages the file has more than the %d bytes it may have; everything is back on the queue; allow it more",
				ErrRefused, f.Count(), res.Planned, o.MaxBytes)
			return false
		}
		if o.Progress != nil && time.Since(told) >= 200*time.Millisecond {
			told = time.Now()
			res.Written, res.Bytes = f.Count(), f.Bytes()
			o.Progress(*res)
		}
		return true
	})
	res.Written, res.Bytes, res.Took = f.Count(), f.Bytes(), time.Since(began)
	g.awaitBack(ctx, res.Queue, res.Planned)
	if stopped != nil {
		return stopped
	}
	if err == nil {
		return nil
	}
	cause := context.Cause(bounded)
	switch {
	case cause == nil || errors.Is(err, broker.ErrNoQueue):
		return fmt.Errorf("read queue %q: after %d of %d messages: %w", wire.Visible(res.Queue), res.Written, res.Planned, classed(err))
	case errors.Is(cause, late):
		return cause
	}
	return fmt.Errorf("after %d of %d messages: %w; all of it is still on the queue, and there is no file", res.Written, res.Planned, cause)
}

// auditQueue notes what an operator did to a gate's queue. A queue that is no
// gate's has no audit to stand in.
func (g *Governor) auditQueue(ctx context.Context, queue, action, result, actor string, count int) {
	gate, ok := g.gateOfQueue(queue)
	if !ok {
		return
	}
	end, done := context.WithTimeout(context.WithoutCancel(ctx), auditTime)
	defer done()
	_, exists, err := g.st.GatesOf(end, gate.Airport)
	if err == nil && exists {
		err = g.st.AddAudit(end, gate.Airport, wire.AuditEntry{Actor: g.actor(actor), Action: action + " " + queue, Scope: gate.String(), Result: result, Count: count})
	}
	if err != nil {
		// The store may well be what is down when somebody saves a queue.
		g.log.Warn("the audit could not be written", "queue", queue, "action", action, "result", result, "error", err)
	}
}
