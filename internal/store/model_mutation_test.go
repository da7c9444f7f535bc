package store_test

import (
	"flag"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/traction-go/traction/internal/store"
	"github.com/traction-go/traction/internal/testsvc"
	"github.com/traction-go/traction/internal/wire"
)

var modelMutations = flag.Bool("store.mutations", false, "break each rule in turn and see that the histories notice (minutes)")

// mutation is one rule broken: in file, from becomes to.
type mutation struct {
	rule, file, from, to string
}

var mutations = []mutation{
	{"a stopped airport clears nothing", "flight", "elseif as.state == 'STOPPED' or as.paused == '1' then", "elseif as.paused == '1' then"},
	{"a paused airport clears nothing", "flight", "elseif as.state == 'STOPPED' or as.paused == '1' then", "elseif as.state == 'STOPPED' then"},
	{"a stopped gate clears nothing", "flight", "elseif gs.state == 'STOPPED' then all", "elseif false then all"},
	{"a paused gate clears nothing", "flight", "elseif gs.paused == '1' then all", "elseif false then all"},
	{"a fault from before the airport's reopen stops nothing", "flight", "if s.epA >= math.max(as.fence, A.seenFence) then", "if true then"},
	{"a fault from before the gate's reopen counts nothing", "flight", "    if s.epG >= math.max(gs.fence, G.seenFence) then\n", "    if true then\n"},
	{"a reopen moves the fence", "reopen", "epoch = e, fence = e, since", "epoch = e, since"},
	{"a store that went back is noticed", "lib", "if back or s.epoch < A.seen then", "if false then"},
	{"a gate that went back is noticed", "lib", "x.s.epoch < x.seen then lose", "false then lose"},
	{"a scope with a marker is not born open", "birth", "if present then", "if false then"},
	{"one incident a loss", "lib", "if s.state == 'STOPPED' and s.lost == '1' and s.incident ~= '' then\n    put(x.key, s, { epoch = e, lost_at = now })", "if false then"},
	{"a loss is told", "lib", "  if not quiet then\n    notify", "  if not quiet and kind ~= 'STATE_LOST' then\n    notify"},
	{"a stop is told", "lib", "  if not quiet then\n    notify", "  if false then\n    notify"},
	{"a lost canary that fails opens an incident", "lib", "if not (was == 'CANARY' and addEvidence(s.incident, f)) then", "addEvidence(s.incident, f)\n  if was ~= 'CANARY' then"},
	{"a new epoch is above all that were seen", "lib", "if seen + 1 > e then e = seen + 1 end", ""},
	{"a fault while lost keeps the scope for a human", "lib", "put(x.key, s, { held = '1', epoch", "put(x.key, s, { epoch"},
	{"only what was open is restored", "restore", "mine[name] and strict(v) == 0 and v.state == 'OPEN'", "true"},
	{"a restore waits for all who were known", "restore", "  if not offered[id] then return reply(0, id) end\n", ""},
	{"a restore waits for all who beat", "restore", "if alive(b) and not offered", "if false and not offered"},
	{"a restore is not held up for ever", "restore", "sinceLoss(x) >= 10000", "false"},
	{"gates stand as the newest offered", "merge", "if v and not (st", "if false and not (st"},
	{"a restored stop has its incident again", "merge", "if x.s.state == 'STOPPED' or x.s.state == 'CANARY' then reviveIncident(x) end", ""},
	{"a canary counts its landings", "flight", "local n = s.canary_landed + 1", "local n = s.canary_landed"},
	{"a landing ends a delay", "flight", "if gs.delay_start > 0 and s.start >= gs.delay_start then endDelay(G, 'a landing') end", ""},
	{"a throttle ends", "flight", "throttled_until = now + ms })", "throttled_until = now + ms + 600000 })"},
	{"a notification that was taken goes", "outbox", "    redis.call('HDEL', K.outbox, key)\n", ""},
	{"a human reopens what is lost", "reopen", "held = '', lost = '', covered = '',\n", "held = '', covered = '',\n"},
}

// TestHistoriesNoticeBrokenRules breaks one rule after the other.
func TestHistoriesNoticeBrokenRules(t *testing.T) {
	for _, m := range mutations {
		if strings.Count(store.Source(m.file), m.from) == 0 {
			t.Errorf("%s.lua no longer has what the mutation %q changes: %s", m.file, m.rule, m.from)
		}
	}
	if !*modelMutations {
		t.Skip("takes minutes: run with -store.mutations")
	}
	o, err := redis.ParseURL(testsvc.SharedRedis(t))
	if err != nil {
		t.Fatal(err)
	}
	seeds := max(*modelSeeds, 150)
	for _, m := range mutations {
		t.Run(strings.ReplaceAll(m.rule, " ", "-"), func(t *testing.T) {
			store.SetClock(t)
			store.Edit(t, func(file, src string) string {
				if file == m.file {
					return strings.ReplaceAll(src, m.from, m.to)
				}
				return src
			})
			ns := wire.Namespace(testsvc.Namespace(t))
			raw := client(t, o.Addr)
			if w := histories(t, seeds, time.Hour, server{o.Addr, ns, raw}, raw, ns); w != nil {
				t.Logf("noticed: %s", w.violations[0])
				return
			}
			t.Errorf("%d histories did not notice that this is broken", seeds)
		})
	}
}
