-- declare: writes what a process declares of a scope, where its stamp is the newer.
--
-- KEYS and the head of ARGV: lib.lua, with no gate (an airport) or one. Then:
--   stamp (0: now), by, number of fields, each 2: name, value.
-- Reply: head, stamp that stands, by whom, 1 when the caller's stands.

local stamp, by = argn(), arg()
local fields = { }
for i = 1, argn() do
  local f = arg()
  fields[#fields + 1] = f
  fields[#fields + 1] = arg()
end
guard()
local x = gates[1] and gateScope(gates[1]) or A
if not known(x.s) then
  tell()
  return { head(), '0', '', '0' }
end
if stamp == 0 then stamp = now end
local had = redis.call('HMGET', x.key, 'spec_stamp', 'spec_by')
if num(had[1]) > stamp then
  tell()
  return { head(), had[1], had[2] or '', '0' }
end
fields[#fields + 1] = 'spec_stamp'
fields[#fields + 1] = str(stamp)
fields[#fields + 1] = 'spec_by'
fields[#fields + 1] = by
if gates[1] then
  redis.call('HSET', K.airport, 'g:' .. x.id, '1')
else
  fields[#fields + 1] = 'slots_stamp'
  fields[#fields + 1] = str(stamp)
end
redis.call('HSET', x.key, unpack(fields))
x.s = load(x.key)
tell()
return { head(), str(stamp), by, '1' }
