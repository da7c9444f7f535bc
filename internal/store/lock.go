package store

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/traction-go/traction/internal/wire"
)

// LockHolder says who moves a gate's flights, or looks at them.
type LockHolder struct {
	Token  string `json:"token"`
	Actor  string `json:"actor"`
	Action string `json:"action"`
	At     int64  `json:"at"` // store ms
}

// Lock is an operator's hold on a gate: one operator moves its flights at a time.
// It ends by itself when its holder dies.
type Lock struct {
	s     *Store
	key   string
	value string
	ttl   time.Duration
}

var unlockScript = redis.NewScript(source("unlock"))

// LockGate takes the lock for ttl, or says who holds it.
func (s *Store) LockGate(ctx context.Context, gate wire.Scope, actor, action string, ttl time.Duration) (*Lock, *LockHolder, error) {
	return s.lock(ctx, s.ns.Keys(gate.Airport).Lock(gate.Gate), actor, action, ttl)
}

// LockLook takes the look at a gate's shelf for ttl, or says who has it.
func (s *Store) LockLook(ctx context.Context, gate wire.Scope, shelf, actor, action string, ttl time.Duration) (*Lock, *LockHolder, error) {
	return s.lock(ctx, s.ns.Keys(gate.Airport).Look(gate.Gate, shelf), actor, action, ttl)
}

func (s *Store) lock(ctx context.Context, key, actor, action string, ttl time.Duration) (*Lock, *LockHolder, error) {
	now, err := s.Now(ctx)
	if err != nil {
		return nil, nil, err
	}
	var token [8]byte
	_, _ = rand.Read(token[:]) // never fails
	b, err := json.Marshal(LockHolder{Token: hex.EncodeToString(token[:]), Actor: actor, Action: action, At: now.UnixMilli()})
	if err != nil {
		return nil, nil, err
	}
	l := &Lock{s: s, key: key, value: string(b), ttl: ttl}
	for range 2 {
		ok, err := s.rdb.SetNX(ctx, l.key, l.value, ttl).Result()
		if err != nil {
			return nil, nil, failed(err)
		}
		if ok {
			return l, nil, nil
		}
		// Nobody: it ended meanwhile.
		if h, err := s.holder(ctx, l.key); h != nil || err != nil {
			return nil, h, err
		}
	}
	return nil, &LockHolder{Actor: "somebody else"}, nil
}

// GateHolder says who holds a gate's lock; nil where nobody does.
func (s *Store) GateHolder(ctx context.Context, gate wire.Scope) (*LockHolder, error) {
	return s.holder(ctx, s.ns.Keys(gate.Airport).Lock(gate.Gate))
}

// LookHolder says who looks at a gate's shelf; nil where nobody does.
func (s *Store) LookHolder(ctx context.Context, gate wire.Scope, shelf string) (*LockHolder, error) {
	return s.holder(ctx, s.ns.Keys(gate.Airport).Look(gate.Gate, shelf))
}

func (s *Store) holder(ctx context.Context, key string) (*LockHolder, error) {
	raw, err := s.rdb.Get(ctx, key).Bytes()
	if errors.Is(err, redis.Nil) {
		return nil, nil
	}
	if err != nil {
		return nil, failed(err)
	}
	var h LockHolder
	if err := json.Unmarshal(raw, &h); err != nil {
		return nil, fmt.Errorf("lock %s: %w", key, err)
	}
	return &h, nil
}

// Renew holds the lock for another ttl; false where it was lost.
func (l *Lock) Renew(ctx context.Context) (bool, error) {
	n, err := unlockScript.Run(ctx, l.s.rdb, []string{l.key}, l.value, l.ttl.Milliseconds()).Int()
	return n == 1, failed(err)
}

// Release gives the lock up. One that was lost is fine.
func (l *Lock) Release(ctx context.Context) error {
	return failed(unlockScript.Run(ctx, l.s.rdb, []string{l.key}, l.value, 0).Err())
}
