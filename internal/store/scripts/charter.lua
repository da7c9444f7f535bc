-- charter: opens a bulk run, checks its source, marks what was dispatched, aborts.
--
-- KEYS and the head of ARGV: lib.lua, with one gate and one charter. Then: action,
-- and for
--   open    expected, actor
--   block   index, seats, sum, prefix (the stored seats:sum that the caller found to
--           be a prefix of its own, or '')
--   mark    number of seats, each a seat (dispatched and confirmed)
--   abort   actor, reason, first byte of the seats to look at, most bytes
-- Reply: head, result, and for open: state, expected, pairs index digest; for mark:
-- how many moved; for abort: the next byte, or '' at the end.
--   result: ok, absent (no such charter or gate), aborted, expected (another count),
--   differs (another source)

local action = arg()
local r = runs[1]
local g = gateScope(gates[1])
local function reply(result, ...)
  closeBooks()
  tell()
  return { head(), result, ... }
end
local s = loadRun(r)

if action == 'open' then
  local expected, actor = argn(), arg()
  if not known(A.s) or not known(g.s) then return reply('absent', '', '', {}) end
  if not s then
    redis.call('HSET', r.key, 'state', 'OPEN', 'expected', str(expected), 'opened_at', str(now), 'opened_by', actor, 'told', '')
    for _, name in ipairs(COUNTS) do redis.call('HSET', r.key, name, '0') end
    redis.call('SETRANGE', r.seats, math.floor((expected - 1) / 2), string.char(0))
    redis.call('ZADD', K.charters, 0, r.name)
    return reply('ok', 'OPEN', str(expected), {})
  end
  if s.expected ~= expected then return reply('expected', s.state, str(s.expected), {}) end
  if s.state == 'ABORTED' then return reply('aborted', s.state, str(s.expected), {}) end
  local digests = {}
  local all = redis.call('HGETALL', r.key)
  for i = 1, #all, 2 do
    local index = string.match(all[i], '^d:(%d+)$')
    if index then
      digests[#digests + 1] = index
      digests[#digests + 1] = all[i + 1]
    end
  end
  return reply('ok', s.state, str(s.expected), digests)
end

if not s then return reply('absent') end

if action == 'block' then
  local index, seats, sum, prefix = arg(), argn(), arg(), arg()
  if s.state == 'ABORTED' then return reply('aborted') end
  local field, own = 'd:' .. index, str(seats) .. ':' .. sum
  local stored = redis.call('HGET', r.key, field) or ''
  if stored == own then return reply('ok') end
  if stored ~= '' and stored ~= prefix then
    -- a longer one may stand since: the caller's is then a prefix, which only the
    -- caller can tell; it opens again
    return reply('differs')
  end
  redis.call('HSET', r.key, field, own)
  return reply('ok')
elseif action == 'mark' then
  local moved = 0
  for _ = 1, argn() do
    if moveSeat(r, argn(), DISPATCHED) then moved = moved + 1 end
  end
  return reply('ok', str(moved))
end

-- abort: empty seats are skipped at once; flights on their way as they reach a
-- worker. Bytes are looked at in pieces, so that a large run blocks nobody for long.
local actor, reason, first, most = arg(), arg(), argn(), argn()
if s.state ~= 'ABORTED' then
  redis.call('HSET', r.key, 'state', 'ABORTED', 'aborted_at', str(now), 'aborted_by', actor)
end
if first == 0 then -- also of one that was aborted already, as of a pause of what is paused
  redis.call('XADD', K.audit, 'MAXLEN', '~', '10000', '*', 'at', str(now), 'actor', actor, 'action', 'charter abort',
    'scope', airportId .. '/' .. r.name, 'reason', reason, 'result', s.state == 'ABORTED' and 'aborted' or 'ok', 'count', '1')
end
s.state = 'ABORTED'
local bytes = math.ceil(s.expected / 2)
local last = math.min(first + most, bytes) - 1
if last >= first then
  local piece = redis.call('GETRANGE', r.seats, first, last)
  piece = piece .. string.rep(string.char(0), last - first + 1 - #piece)
  local skipped = 0
  local half = s.expected % 2 == 1 and bytes - 1 or -1 -- the byte whose upper seat is beyond the run
  local out, at = {}, first
  for i = 1, #piece do
    local b = string.byte(piece, i)
    local low, high = b % 16, math.floor(b / 16)
    if low == EMPTY then low, skipped = SKIPPED, skipped + 1 end
    if high == EMPTY and first + i - 1 ~= half then high, skipped = SKIPPED, skipped + 1 end
    out[#out + 1] = string.char(low + high * 16)
    if #out == 4096 then
      redis.call('SETRANGE', r.seats, at, table.concat(out))
      at, out = at + #out, {}
    end
  end
  if #out > 0 then redis.call('SETRANGE', r.seats, at, table.concat(out)) end
  if skipped > 0 then
    s.counts[SKIPPED] = s.counts[SKIPPED] + skipped
    r.changed = true
  end
end
return reply('ok', last + 1 < bytes and str(last + 1) or '')
