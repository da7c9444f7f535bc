package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"runtime/debug"
	"sync/atomic"

	"github.com/traction-go/traction/internal/cli/render"
)

// errorLog is where the plain consumer logs: it counts lines, and shows them to
// whoever wants to see.
type errorLog struct {
	lines atomic.Int64
	show  *Narrator // nil: only counted
}

func (l *errorLog) Write(p []byte) (int, error) {
	l.lines.Add(int64(bytes.Count(p, []byte("\n"))))
	if l.show != nil {
		return l.show.Write(p)
	}
	return len(p), nil
}

// naive is the well-built consumer of every tutorial: it catches errors and logs
// them with a stack, it retries with a limit, and past the limit the broker
// dead-letters. Every message finds out about the expired token on its own.
func naive(ctx context.Context, st *stage) (res *Result, err error) {
	n := st.Flights
	st.Narrator.Say("naive: a plain consumer, retry limit %d, then a dead-letter queue", retryLimit)
	v, err := startVendor(st.sabotage)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, v.close()) }()
	client := newCRM(v)
	defer client.close()
	if st.sabotage.fixed {
		client.fix()
	}

	sink := st.sink()
	log := slog.New(slog.NewTextHandler(sink, nil))
	handle := func(ctx context.Context, body []byte) error {
		var c contact
		err := json.Unmarshal(body, &c)
		if err == nil {
			err = client.Upsert(ctx, c)
		}
		if err != nil {
			log.Error("contact sync failed", "contact", c.ID, "error", err, "stack", string(debug.Stack()))
		}
		return err
	}
	l, end, err := st.consume(ctx, handle)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, end()) }()

	st.Narrator.Say("  the token has expired; %s contact syncs arrive", count(n))
	bodies := make([][]byte, n)
	for i := range bodies {
		bodies[i] = contactNumber(i).payload()
	}
	if err := l.Send(ctx, bodies); err != nil {
		return nil, err
	}
	if _, err := watch(ctx, st, func(ctx context.Context) (seen [2]int, done bool, err error) {
		_, dead, err := l.Depths(ctx)
		st.Narrator.Progress("  calls refused %s · error lines %s · dead-lettered %s of %s",
			count(v.dead()), render.Thousands(sink.lines.Load()), count(dead), count(n))
		return [2]int{dead, v.dead()}, dead >= n, err
	}); err != nil {
		return nil, err
	}

	waiting, dead, err := l.Depths(ctx)
	if err != nil {
		return nil, err
	}
	landed, _ := v.landed()
	lines := int(sink.lines.Load())
	st.Narrator.Say("  %s calls reached the dead vendor, each logged with its stack", count(v.dead()))
	st.Narrator.Say("  %s of %s messages are dead-lettered; a human has to move them back", count(dead), count(n))

	r := &Result{Scenario: "naive", Label: "naive"}
	recovery := "none needed"
	if dead > 0 {
		recovery = "manual" // nothing takes them back by itself
	}
	r.fact("lost", dead)
	r.fact("error lines", lines)
	r.fact("recovery", recovery)
	want(r, "dead-lettered", dead, n)
	want(r, "error lines", lines, n*(retryLimit+1))
	want(r, "calls to the dead vendor", v.dead(), n*(retryLimit+1))
	want(r, "left on the queue", waiting, 0)
	want(r, "contacts landed", landed, 0)
	return r, nil
}

func count(n int) string { return render.Count(n).String() }
