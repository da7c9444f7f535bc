-- birth: writes the status of a scope that has none.
--
-- KEYS and the head of ARGV: lib.lua, with no gate (an airport) or the gate to be
-- born. Then: phase, epoch, present, slots_n, slots_per_ms, slots_stamp.
--   begin: a missing status becomes BIRTH; a BIRTH of another that is older than
--     10 s is taken over. The caller then looks for the scope's marker.
--   finish: if the BIRTH is still the one with epoch, it becomes STATE_LOST when
--     the marker was present (1), else OPEN.
-- Reply: head, what: ok (stands), look <epoch> (look for the marker, then
-- finish), wait (another is at it), airport (the airport first), gone (the BIRTH
-- is no longer the caller's).

local phase, epoch, present = arg(), argn(), arg() == '1'
local slotsN, slotsPer, slotsStamp = argn(), argn(), argn()
local x = gates[1] and gateScope(gates[1]) or A
local isGate = gates[1] ~= nil
guard()

local function reply(what)
  tell()
  return { head(), what }
end

local as = A.s
if isGate and not known(as) then return reply('airport') end

local function covered()
  put(x.key, x.s, { state = 'STOPPED', lost = '1', held = '', covered = '1', lost_at = now, epoch = nextEpoch(x.s, maxSeen),
    reason = 'STATE_LOST', evidence = 'lost with its airport', since = now, incident = '', birth_by = '', birth_at = 0 })
  redis.call('HSET', K.airport, 'g:' .. x.id, '1')
  announce(x)
end

if phase == 'begin' then
  if isGate and not x.s and isLost(as) then
    x.s = blank()
    covered()
    return reply('ok')
  end
  if not x.s then
    x.s = blank()
    put(x.key, x.s, { state = 'BIRTH', epoch = nextEpoch(nil, math.max(x.seen, maxSeen)), birth_by = caller, birth_at = now })
    return reply('look ' .. str(x.s.epoch))
  end
  local s = x.s
  if s.state == 'REMOVING' then return reply('wait') end
  if s.state ~= 'BIRTH' then return reply('ok') end
  if s.birth_by ~= caller then
    if s.birth_at <= now and now - s.birth_at < 10000 then return reply('wait') end
    put(x.key, s, { birth_by = caller, birth_at = now, epoch = nextEpoch(s, maxSeen) })
  end
  return reply('look ' .. str(s.epoch))
end

local s = x.s
if not s or s.state ~= 'BIRTH' or s.epoch ~= epoch then return reply('gone') end
if present then
  if isGate and isLost(as) then
    covered()
  else
    lose(x, maxSeen)
    put(x.key, x.s, { birth_by = '', birth_at = 0 })
    if isGate then redis.call('HSET', K.airport, 'g:' .. x.id, '1') end
  end
else
  local e = nextEpoch(s, maxSeen)
  put(x.key, s, { state = 'OPEN', epoch = e, fence = e, since = now, birth_by = '', birth_at = 0 })
  if isGate then
    redis.call('HSET', K.airport, 'g:' .. x.id, '1')
  else
    put(x.key, s, { slots_n = slotsN, slots_per = slotsPer, slots_stamp = slotsStamp })
    if slotsN > 0 then newRing(slotsN, 0) end
  end
  announce(x)
end
return reply('ok')
