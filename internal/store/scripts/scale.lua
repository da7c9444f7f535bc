-- scale: a human says how many workers a gate has in each process, and how many
-- flights fly in one call, whatever was declared.
--
-- KEYS and the head of ARGV: lib.lua, with one gate. Then: workers, batch (each a
-- number, 'reset': as declared, or '': as it is), actor.
-- Reply: head, result: ok, same (it was so already), wait (a birth), absent; what stands.
--
-- It is no change of the fence: what is in the air stays as it is. The epoch grows, so
-- that processes see which of two is the later.

local workers, batch, actor = arg(), arg(), arg()
local x = gateScope(gates[1])
local function word(n) return n == '' and 'as declared' or n end
local function reply(result)
  if result == 'ok' or result == 'same' then
    redis.call('XADD', K.audit, 'MAXLEN', '~', '10000', '*', 'at', str(now), 'actor', actor, 'action', 'scale',
      'scope', scopeName(x), 'reason', 'workers ' .. word(string.match(x.s.scale, '^%d*')) .. ', batch ' .. word(string.match(x.s.scale, '%d*$')), 'result', result, 'count', '1')
  end
  tell()
  return { head(), result, x.s and x.s.scale or '' }
end
if not x.s then return reply('absent') end
if not known(x.s) then return reply('wait') end
local w, b = string.match(x.s.scale, '^(%d*):(%d*)$')
local function pick(asked, was)
  if asked == '' then return was or '' end
  if asked == 'reset' then return '' end
  return asked
end
local scale = pick(workers, w) .. ':' .. pick(batch, b)
if scale == ':' then scale = '' end
if scale == x.s.scale then return reply('same') end
put(x.key, x.s, { scale = scale, epoch = nextEpoch(x.s, maxSeen) })
redis.call('HSET', x.key, 'scaled_by', actor, 'scaled_at', str(now))
announce(x)
return reply('ok')
