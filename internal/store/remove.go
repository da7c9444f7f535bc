package store

import (
	"context"
	"strings"
	"time"
)

// What stands in the way of a removal, beside Done and NotYet.
const (
	Serves  Result = "serves"  // processes that serve it beat
	HasGate Result = "gates"   // the airport has gates
	OnHold  Result = "holding" // flights are on hold
	Aloft   Result = "flying"  // flights are in the air
	Changed Result = "changed" // somebody took it back meanwhile
)

// RemoveReply is what a step of a removal did.
type RemoveReply struct {
	Result Result
	What   []string  // processes or gates, or a count
	Until  time.Time // when the last flight on hold is due
}

// BeginRemove makes the airport (gate "") or a gate REMOVING, where nothing stands
// in the way. todo is what the audit says there is to do.
func (a *Airport) BeginRemove(ctx context.Context, gate, actor, reason string, todo int) (RemoveReply, error) {
	return a.remove(ctx, gate, nil, "begin", actor, reason, todo)
}

// FinishRemove forgets what is REMOVING. charters are the gate's, as gate/run; done is
// what the audit says was done.
func (a *Airport) FinishRemove(ctx context.Context, gate string, charters []string, actor, reason string, done int) (RemoveReply, error) {
	return a.remove(ctx, gate, charters, "finish", actor, reason, done)
}

func (a *Airport) remove(ctx context.Context, gate string, charters []string, phase, actor, reason string, count int) (RemoveReply, error) {
	_, res, err := a.runWith(ctx, removeScript, scopeGates(gate), charters, phase, actor, reason, count)
	if err != nil {
		return RemoveReply{}, err
	}
	r := RemoveReply{Result: Result(text(res[1])), What: strings.Fields(text(res[2]))}
	if ms := integer(res[3]); ms > 0 {
		r.Until = time.UnixMilli(ms).UTC()
	}
	return r, nil
}

// ChartersOf lists the runs of a gate, as gate/run.
func (s *Store) ChartersOf(ctx context.Context, airport, gate string) ([]string, error) {
	all, err := s.rdb.ZRange(ctx, s.ns.Keys(airport).Charters(), 0, -1).Result()
	if err != nil {
		return nil, failed(err)
	}
	var out []string
	for _, name := range all {
		if strings.HasPrefix(name, gate+"/") {
			out = append(out, name)
		}
	}
	return out, nil
}

// DropAirport takes an airport off the list, and keeps that it was there.
func (s *Store) DropAirport(ctx context.Context, id string) error {
	if err := s.rdb.SAdd(ctx, s.ns.Removed(), id).Err(); err != nil {
		return failed(err)
	}
	return failed(s.rdb.SRem(ctx, s.ns.Airports(), id).Err())
}
