-- sweep: what a tower tidies up for an airport.
--
-- KEYS and the head of ARGV: lib.lua, with all gates, and the charters whose books
-- moved after they were told (the set of charters, by score). Then: keep_ms (what is older
-- than this goes: marks, deaths, beats and answers of the gone), tell_delay_ms.
-- Reply: head, number of things removed.
--
-- Marks that their owner could not remove, beats of processes that are gone and
-- the answers to their lanes would stay for ever. A ground delay that has lasted
-- is told once.

local keep, tellDelay = argn(), argn()
guard()
local removed = 0

local gone = {}
local flying = redis.call('HGETALL', K.flying)
local noted = {} -- incarnations whose notes stand: their beats say whether they were leaving
for i = 1, #flying, 2 do
  local n = parseNote(flying[i + 1])
  if n and not n.mark then noted[n.inc] = true end
end
local raw = redis.call('HGETALL', K.beats)
local living = {}
for i = 1, #raw, 2 do
  local b = parseBeat(raw[i + 1])
  if not b or now - b.last > keep then
    if not noted[raw[i]] then gone[#gone + 1] = raw[i] end
  else
    living[workerOf(raw[i])] = true
  end
end
removed = removed + hdel(K.beats, gone)

local cursor = redis.call('HKEYS', K.replies)
gone = {}
for _, lane in ipairs(cursor) do
  local worker = string.match(lane, '^(.*)/[^/]*$') or lane
  if not living[worker] then gone[#gone + 1] = lane end
end
removed = removed + hdel(K.replies, gone)

gone = {}
for i = 1, #flying, 2 do
  local n = parseNote(flying[i + 1])
  if not n or (n.mark and now - n.at > keep) then gone[#gone + 1] = flying[i] end
end
removed = removed + hdel(K.flying, gone)

gone = {}
raw = redis.call('HGETALL', K.deaths)
for i = 1, #raw, 2 do
  local newest = 0
  for at in string.gmatch(raw[i + 1], '@(%d+)') do if num(at) > newest then newest = num(at) end end
  -- a conviction stands until an operator's word, which ends its incident
  if now - newest > keep and not string.find(raw[i + 1], '!', 1, true) then gone[#gone + 1] = raw[i] end
end
removed = removed + hdel(K.deaths, gone)

for _, g in ipairs(gates) do
  local x = gateScope(g)
  local s = x.s
  if known(s) and s.delay_start > 0 and s.delay_told ~= '1' and now - s.delay_since >= tellDelay then
    put(x.key, s, { delay_told = '1' })
    local i = getIncident(s.delay_id) or {}
    notify({ key = s.delay_id .. '/GROUND_DELAY', type = 'GROUND_DELAY', scope = scopeName(x), reason = 'TRANSIENT',
      evidence = i.evidence, incident = s.delay_id, records = i.records, workers = i.workers })
  end
end
-- three workers dead within ten minutes are told once, with the flights that were in
-- the air at most of these deaths: it may be no more than one
local recentDead, newest, once, diedNow = {}, 0, {}, {}
for inc, at in string.gmatch(redis.call('HGET', K.airport, 'dead') or '', '([^@,]+)@(%d+)') do
  if now - num(at) <= 600000 then diedNow[inc] = true end
  if now - num(at) <= 600000 and not once[workerOf(inc)] then
    once[workerOf(inc)] = true
    recentDead[#recentDead + 1] = workerOf(inc)
    newest = math.max(newest, num(at))
  end
end
if known(A.s) and #recentDead >= 3 and newest - num(redis.call('HGET', K.airport, 'dead_told')) > 600000 then
  redis.call('HSET', K.airport, 'dead_told', str(newest))
  local most, suspects = 1, {}
  local all = redis.call('HGETALL', K.deaths)
  for i = 1, #all, 2 do
    local n = 0
    for inc in string.gmatch(all[i + 1], '([^@,!]+)@') do if diedNow[inc] then n = n + 1 end end
    if n > most then most, suspects = n, {} end
    if n == most then suspects[#suspects + 1] = all[i] end
  end
  local n = math.max(now, num(redis.call('HGET', K.airport, 'notices')) + 1)
  redis.call('HSET', K.airport, 'notices', str(n))
  notify({ key = airportId .. '/' .. str(n) .. '/WORKER_DEATHS', type = 'WORKER_DEATHS', scope = airportId, reason = 'DEATHS',
    evidence = string.format('%.0f workers died within 10 minutes', #recentDead), records = orNil(addListed(nil, unpack(suspects, 1, math.min(#suspects, MAX_LISTED)))),
    workers = orNil(addListed(nil, unpack(recentDead))) })
end

-- books that moved after they were told are told again once they have stood still
-- for a minute, at most once an hour
for _, r in ipairs(runs) do
  local s = loadRun(r)
  local moved = num(redis.call('ZSCORE', K.charters, r.name))
  if not s then
    redis.call('ZADD', K.charters, 0, r.name)
  elseif moved > 0 and now - moved >= 60000 and now - num(redis.call('HGET', r.key, 'told_at')) >= 3600000 then
    redis.call('ZADD', K.charters, 0, r.name)
    local ended = 0
    for i = LANDED, DISCARDED do ended = ended + s.counts[i] end
    if ended == s.expected and booksText(s) ~= s.told then tellBooks(r) end
  end
end
tell()
return { head(), str(removed) }
