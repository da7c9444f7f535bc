-- beat: a process says that it lives, and reads what it needs to know.
--
-- KEYS and the head of ARGV: lib.lua, with the gates the process serves. Then:
--   interval_ms  kind (W worker, T tower, B both)  leaving (0, 1)  seen
--   solo (1: the process flies suspects here; 0 frees its lease)
--   number of incarnations, each beaten for
-- Reply: head, entries in the outbox, others that beat within a minute (0, 1),
-- beats as "incarnation value" pairs, open offers wanted (1 while something is
-- lost).

local interval, kind, leaving, seen = argn(), arg(), arg(), arg()
local soloing = arg() == '1'
local incs = {}
for i = 1, argn() do incs[i] = arg() end
guard()

local raw = redis.call('HGETALL', K.beats)
local beats, others = {}, '0'
local mine = {}
for _, inc in ipairs(incs) do mine[inc] = true end
for i = 1, #raw, 2 do
  local b = parseBeat(raw[i + 1])
  if workerOf(raw[i]) ~= caller and b then
    if now - b.last <= 60000 and not b.leaving then others = '1' end
    beats[#beats + 1] = raw[i]
    beats[#beats + 1] = raw[i + 1]
  end
  if mine[raw[i]] then mine[raw[i]] = b or true end
end
for _, inc in ipairs(incs) do
  local b = mine[inc]
  local since = now
  if type(b) == 'table' and now - b.last <= 2 * b.interval and now >= b.last then since = b.since end
  local stays = leaving
  if type(b) == 'table' and b.leaving then stays = '1' end
  redis.call('HSET', K.beats, inc, str(now) .. ' ' .. str(interval) .. ' ' .. stays .. ' ' .. str(since) .. ' ' .. kind .. ' ' .. seen)
end

if not soloing then
  local holder = redis.call('GET', K.solo)
  if holder and workerOf(holder) == caller then redis.call('DEL', K.solo) end
end

-- holds that have come back are no longer counted
local second = math.floor(now / 1000)
for _, g in ipairs(gates) do
  if redis.call('HLEN', g.holding) > 0 then
    local past = {}
    for _, due in ipairs(redis.call('HKEYS', g.holding)) do
      if num(due) < second then past[#past + 1] = due end
    end
    hdel(g.holding, past)
  end
end

-- a gate that stayed covered when its airport stood again is lost by itself
if known(A.s) and not isLost(A.s) then
  for _, g in ipairs(gates) do
    local x = gateScope(g)
    if isLost(x.s) and x.s.covered == '1' then uncover(x) end
  end
end

local lostSomething = '0'
if isLost(A.s) then lostSomething = '1' end
for _, g in ipairs(gates) do if isLost(gateScope(g).s) then lostSomething = '1' end end
tell()
return { head(), str(redis.call('HLEN', K.outbox)), others, beats, lostSomething }
