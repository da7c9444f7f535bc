-- remove: forgets a scope that nobody serves and where nothing is left.
--
-- KEYS and the head of ARGV: lib.lua, with no gate (an airport) or the gate to be
-- removed and its charters. Then: phase, actor, reason, count (for the audit).
--   begin: nobody who serves the scope beats, nothing is on hold or in the air, an
--     airport has no gates: it becomes REMOVING, under a new epoch. Nothing is
--     cleared, born or declared there until reopen takes it back. Each run of a
--     removal begins, also one that goes on where another ended: the audit has both.
--   finish: a scope that is REMOVING, or has no status, is forgotten: its open
--     incident is closed; incidents and the audit are kept.
-- Reply: head, result, what stands in the way, until_ms.
--   result: ok, serves (processes that beat, with spaces between), gates (their
--   names likewise), holding (flights on hold; until: when the last is due), flying
--   (flights with a note of a living process), wait (a birth), changed (finish:
--   somebody took it back)

local phase, actor, reason, count = arg(), arg(), arg(), arg()
local x = gates[1] and gateScope(gates[1]) or A
local isGate = gates[1] ~= nil
guard()
local function audit(result)
  redis.call('XADD', K.audit, 'MAXLEN', '~', '10000', '*', 'at', str(now), 'actor', actor, 'action', 'remove',
    'scope', scopeName(x), 'reason', reason, 'result', result, 'count', count)
end
local function reply(result, what, untilMs)
  tell()
  return { head(), result, what or '', str(untilMs or 0) }
end

if phase == 'begin' then
  x.s = x.s or blank() -- one that the store forgot is kept from being born, too
  if x.s.state == 'BIRTH' and now - x.s.birth_at < 10000 then return reply('wait') end
  if not isGate then
    local has = {}
    local raw = redis.call('HGETALL', K.airport)
    for i = 1, #raw, 2 do
      if string.sub(raw[i], 1, 2) == 'g:' then has[#has + 1] = string.sub(raw[i], 3) end
    end
    if #has > 0 then return reply('gates', table.concat(has, ' ')) end
  end
  local serve = {}
  local raw = redis.call('HGETALL', K.beats)
  for i = 1, #raw, 2 do
    local b = parseBeat(raw[i + 1])
    if alive(b) and b.kind ~= 'T' and (not isGate or string.find(',' .. b.seen, ',' .. x.id .. '=', 1, true)) then
      serve[#serve + 1] = workerOf(raw[i])
    end
  end
  if #serve > 0 then return reply('serves', table.concat(serve, ' ')) end
  if isGate then
    local n, last = 0, 0
    local held = redis.call('HGETALL', x.holding)
    for i = 1, #held, 2 do
      local due = num(held[i])
      if due >= math.floor(now / 1000) and num(held[i + 1]) > 0 then
        n = n + num(held[i + 1])
        if due > last then last = due end
      end
    end
    if n > 0 then return reply('holding', str(n), last * 1000) end
    -- a living process that serves another gate may still have one of this gate's
    local living, flying = {}, 0
    for _, note in ipairs(redis.call('HVALS', K.flying)) do
      local inc, gate = string.match(note, '^N (%S+) %d+ %d+ %d+ %d+ %d+ (%S+)')
      if gate == x.id then
        if living[inc] == nil then living[inc] = alive(parseBeat(redis.call('HGET', K.beats, inc))) end
        if living[inc] then flying = flying + 1 end
      end
    end
    if flying > 0 then return reply('flying', str(flying)) end
  end
  if x.s.state ~= 'REMOVING' then
    put(x.key, x.s, { state = 'REMOVING', epoch = nextEpoch(x.s, maxSeen), since = now, by = actor, birth_by = '', birth_at = 0 })
    announce(x)
  end
  audit('begun')
  return reply('ok')
end

if x.s and x.s.state ~= 'REMOVING' then return reply('changed') end
if x.s then
  closeIncident(x.s.incident, actor)
  closeIncident(x.s.obs_incident, actor)
  closeIncident(x.s.delay_id, actor)
end
if isGate then
  local gone = {}
  local raw = redis.call('HGETALL', K.flying)
  for i = 1, #raw, 2 do
    if string.match(raw[i + 1], '^N %S+ %d+ %d+ %d+ %d+ %d+ (%S+)') == x.id then gone[#gone + 1] = raw[i] end
  end
  hdel(K.flying, gone)
  for _, r in ipairs(runs) do
    redis.call('DEL', r.key, r.seats)
    redis.call('ZREM', K.charters, r.name)
  end
  redis.call('HDEL', K.airport, 'g:' .. x.id)
  redis.call('DEL', x.key, x.sGate, x.sRecord, x.sTransient, x.holding)
else
  redis.call('DEL', K.airport, K.slots, K.flying, K.beats, K.deaths, K.outbox, K.offers, K.replies, K.solo, K.streak,
    K.charters, K.watch)
end
audit('ok')
if x.s then
  x.s.state = 'UNKNOWN' -- what is told; the status itself is gone
  announce(x)
  x.s = nil
end
return reply('ok')
