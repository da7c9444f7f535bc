package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/traction-go/traction/internal/wire"
)

// Refused is a notification that a hook did not take.
type Refused struct {
	Key   string
	Delay time.Duration // before it is tried again
}

// Outbox removes what was taken, gives back what was refused, and leases up to
// most entries for lease. One sender at a time has an entry.
func (a *Airport) Outbox(ctx context.Context, lease time.Duration, most int, done []string, refused []Refused) ([]wire.Notice, error) {
	argv := []any{lease.Milliseconds(), most, len(done)}
	for _, k := range done {
		argv = append(argv, k)
	}
	argv = append(argv, len(refused))
	for _, r := range refused {
		argv = append(argv, r.Key, r.Delay.Milliseconds())
	}
	_, res, err := a.run(ctx, outboxScript, nil, argv...)
	if err != nil {
		return nil, err
	}
	var out []wire.Notice
	for _, x := range list(res[1]) {
		var n wire.Notice
		if err := json.Unmarshal([]byte(text(x)), &n); err != nil {
			return nil, fmt.Errorf("airport %s: an entry of the outbox cannot be read: %w: %s", a.id, err, wire.CleanEvidence(text(x)))
		}
		out = append(out, n)
	}
	return out, nil
}

// Sweep removes what is older than keep and nobody will remove, and tells ground
// delays that have lasted for tellDelay.
func (a *Airport) Sweep(ctx context.Context, keep, tellDelay time.Duration) (removed int, err error) {
	restless, err := a.st.rdb.ZRangeByScore(ctx, a.keys.Charters(), &redis.ZRangeBy{Min: "1", Max: "+inf", Count: 100}).Result()
	if err != nil {
		return 0, failed(err)
	}
	_, res, err := a.runWith(ctx, sweepScript, a.Gates(), restless, keep.Milliseconds(), tellDelay.Milliseconds())
	if err != nil {
		return 0, err
	}
	return int(integer(res[1])), nil
}

// AddNotice puts a notification in an airport's outbox.
func (s *Store) AddNotice(ctx context.Context, airport string, n wire.Notice) error {
	now, err := s.Now(ctx)
	if err != nil {
		return err
	}
	n.At = now.UnixMilli()
	b, err := json.Marshal(n)
	if err != nil {
		return err
	}
	return failed(s.rdb.HSetNX(ctx, s.ns.Keys(airport).Outbox(), n.Key, b).Err())
}

// HasNotice reports whether a notification still waits to be taken.
func (s *Store) HasNotice(ctx context.Context, airport, key string) (bool, error) {
	ok, err := s.rdb.HExists(ctx, s.ns.Keys(airport).Outbox(), key).Result()
	return ok, failed(err)
}

// RemoveNotice takes a notification back.
func (s *Store) RemoveNotice(ctx context.Context, airport, key string) error {
	return failed(s.rdb.HDel(ctx, s.ns.Keys(airport).Outbox(), key).Err())
}
