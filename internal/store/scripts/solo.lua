-- solo: gives up the solo lease, with the notes of the suspects that did not fly.
--
-- KEYS and the head of ARGV: lib.lua. Then: a number that grows with each session of
-- the process, number of flights, each: flight.
-- Reply: head, 1 when the lease was the caller's.
--
-- Until it is answered the process clears nothing: a suspect's note that stays behind
-- would be another death. A try that arrives after another one was answered changes
-- nothing: by then the notes may be those of flights in the air.

local session = argn()
local flights = {}
for i = 1, argn() do flights[i] = arg() end
guard()
local saved = redis.call('HGET', K.replies, caller .. '/.solo')
if saved and num(saved) >= session then
  tell()
  return { head(), '0' }
end
redis.call('HSET', K.replies, caller .. '/.solo', str(session))
if #flights > 0 then
  local raw = hmget(K.flying, flights)
  local gone = {}
  for i, id in ipairs(flights) do
    local n = parseNote(raw[i])
    if n and not n.mark and n.worker == caller then gone[#gone + 1] = id end
  end
  hdel(K.flying, gone)
end
local holder = redis.call('GET', K.solo)
local own = holder and workerOf(holder) == caller
if own then redis.call('DEL', K.solo) end
tell()
return { head(), own and '1' or '0' }
