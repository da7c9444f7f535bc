package store

import (
	"context"
	"encoding/json"

	"github.com/redis/go-redis/v9"

	"github.com/traction-go/traction/internal/wire"
)

// Events calls heard with each announcement until ctx ends, and with a zero Event
// each time the subscription is made or made again: announcements may have been
// missed, so the statuses are to be read. It returns ctx's error.
func (s *Store) Events(ctx context.Context, heard func(wire.Event)) error {
	sub := s.rdb.Subscribe(ctx, s.ns.Events())
	defer func() { _ = sub.Close() }() // nothing is lost with it: the store is the truth
	ch := sub.ChannelWithSubscriptions(redis.WithChannelSize(1000))
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case m, ok := <-ch:
			if !ok {
				return ErrUnreachable
			}
			switch m := m.(type) {
			case *redis.Subscription:
				heard(wire.Event{})
			case *redis.Message:
				var e wire.Event
				if err := json.Unmarshal([]byte(m.Payload), &e); err != nil {
					e = wire.Event{} // somebody else's words: read the statuses
				}
				heard(e)
			}
		}
	}
}
