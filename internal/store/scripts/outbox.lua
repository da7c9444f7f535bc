-- outbox: takes notifications to send under a lease, and removes what was taken.
--
-- KEYS and the head of ARGV: lib.lua. Then: lease_ms, most, number of done, each a
-- key; number of returned (the hook refused), each 2: key, delay_ms.
-- Reply: head, the entries leased, as JSON.
--
-- One sender at a time has an entry; one that dies loses its lease and another
-- sends it again under the same key.

local lease, most = argn(), argn()
local done, failed = {}, {}
for i = 1, argn() do done[i] = arg() end
for i = 1, argn() do failed[i] = { key = arg(), delay = argn() } end
guard()

local function entry(key)
  local raw = redis.call('HGET', K.outbox, key)
  if not raw then return nil end
  local ok, n = pcall(cjson.decode, raw)
  if ok then return n end
  return nil
end
for _, key in ipairs(done) do
  local n = entry(key)
  if n and n.leased_by == caller then
    redis.call('HDEL', K.outbox, key)
    if n.incident then
      local i = getIncident(n.incident)
      if i and not i.notified_at then
        i.notified_at = now
        putIncident(i)
      end
    end
  end
end
for _, f in ipairs(failed) do
  local n = entry(f.key)
  if n and n.leased_by == caller then
    n.leased_by, n.leased_at, n.leased_until, n.tries = '', now, now + f.delay, (n.tries or 0) + 1
    redis.call('HSET', K.outbox, f.key, cjson.encode(n))
  end
end

local taken = {}
if most > 0 then
  local due = {}
  local raw = redis.call('HGETALL', K.outbox)
  for i = 1, #raw, 2 do
    local ok, n = pcall(cjson.decode, raw[i + 1])
    -- a lease given in the future is from before the clock was set back
    if ok and ((n.leased_until or 0) <= now or (n.leased_at or 0) > now) then due[#due + 1] = n end
  end
  table.sort(due, function(a, b) if a.at ~= b.at then return a.at < b.at end return a.key < b.key end)
  for i = 1, math.min(most, #due) do
    local n = due[i]
    n.leased_by, n.leased_at, n.leased_until = caller, now, now + lease
    local raw = cjson.encode(n)
    redis.call('HSET', K.outbox, n.key, raw)
    taken[#taken + 1] = raw
  end
end
tell()
return { head(), taken }
