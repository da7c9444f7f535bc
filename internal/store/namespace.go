package store

import (
	"context"
	"sync"

	"github.com/redis/go-redis/v9"
)

// CountKeys counts the keys of the namespace, all airports together. It walks the
// whole store: for a namespace that is about to be used or removed, not for a
// regular look.
func (s *Store) CountKeys(ctx context.Context) (int, error) {
	n := 0
	err := s.eachKey(ctx, func([]string, redis.Cmdable) error { return nil }, &n)
	return n, err
}

// RemoveKeys removes every key of the namespace, whatever it holds, and says how
// many there were. It is the end of a throw-away namespace: nothing may use it any
// more, or its processes take it for a store that lost its memory.
func (s *Store) RemoveKeys(ctx context.Context) (int, error) {
	n := 0
	err := s.eachKey(ctx, func(keys []string, c redis.Cmdable) error {
		// One command for each: on a cluster the keys of a page need not share a slot.
		_, err := c.Pipelined(ctx, func(p redis.Pipeliner) error {
			for _, k := range keys {
				p.Unlink(ctx, k)
			}
			return nil
		})
		return err
	}, &n)
	return n, err
}

// eachKey gives the namespace's keys to do, a page at a time, with the node that
// has them. A key that is written meanwhile may be missed, or counted twice.
func (s *Store) eachKey(ctx context.Context, do func([]string, redis.Cmdable) error, n *int) error {
	walk := func(ctx context.Context, c redis.Cmdable) error {
		// A namespace has no character that means something to MATCH.
		for cursor := uint64(0); ; {
			keys, next, err := c.Scan(ctx, cursor, string(s.ns)+":*", 1000).Result()
			if err != nil {
				return err
			}
			if len(keys) > 0 {
				*n += len(keys)
				if err := do(keys, c); err != nil {
					return err
				}
			}
			if cursor = next; cursor == 0 {
				return nil
			}
		}
	}
	if cluster, ok := s.rdb.(*redis.ClusterClient); ok {
		var mu sync.Mutex
		return failed(cluster.ForEachMaster(ctx, func(ctx context.Context, c *redis.Client) error {
			mu.Lock()
			defer mu.Unlock()
			return walk(ctx, c)
		}))
	}
	return failed(walk(ctx, s.rdb))
}
