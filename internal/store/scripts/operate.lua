-- operate: an operator's step over flights that wait for a human.
--
-- KEYS and the head of ARGV: lib.lua, with one gate and the charters concerned. Then:
-- action, watch, actor, number of flights, each 4: flight, run, seat, deaths.
--   begin    before the first: PARKING is told again from here on
--   replay   before the copies are published; with watch (1) their next settlement is
--            noted in the hash of watched flights. deaths is what the parked copy says
--            of workers it killed: it is remembered again
--   discard  before the acknowledgement: parked and rejected seats become discarded
--   clear    forget the deaths of flights: they are suspects no longer
-- A poison pill's incident ends with any of the three, by the actor. Reply: head, how many seats
-- moved; for clear, how many were suspects.

local action, watch, actor = arg(), arg() == '1', arg()
local flights = {}
for i = 1, argn() do flights[i] = { id = arg(), run = arg(), seat = argn(), deaths = arg() } end
guard()
local g = gateScope(gates[1])
local moved = 0
if action == 'begin' and g.s then
  for _, reason in ipairs({ 'HOLD_BUDGET', 'INTERNAL', 'MALFORMED', 'DELIVERY_LIMIT' }) do
    redis.call('HDEL', g.key, 'parking:' .. reason)
  end
elseif action == 'discard' then
  for _, f in ipairs(flights) do
    if f.run ~= '' and moveSeat(runOf[g.id .. '/' .. f.run], f.seat, DISCARDED) then moved = moved + 1 end
  end
elseif action == 'replay' then
  for _, f in ipairs(flights) do
    if watch then redis.call('HSET', K.watch, f.id, '') end
  end
  if watch and #flights > 0 then redis.call('PEXPIRE', K.watch, 3600000) end
end
if action ~= 'begin' then
  for _, f in ipairs(flights) do
    local raw = redis.call('HGET', K.deaths, f.id)
    if raw then
      closeIncident(string.match(raw, '!(.*)$'), actor)
      redis.call('HDEL', K.deaths, f.id)
      if action == 'clear' then moved = moved + 1 end
    end
    if action == 'replay' and f.deaths ~= '' then redis.call('HSET', K.deaths, f.id, f.deaths) end
  end
end
closeBooks()
tell()
return { head(), str(moved) }
