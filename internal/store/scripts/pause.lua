-- pause: a human stops a scope, without a fault.
--
-- KEYS and the head of ARGV: lib.lua. Then: which ('' for the airport, or a gate's
-- id among the gates in KEYS), actor, reason, again (1: it is written again because
-- the store lost it; not audited twice).
-- Reply: head, result: ok, paused (it was paused already), wait (a birth), absent.

local which, actor, reason, again = arg(), arg(), arg(), arg() == '1'
local x = which == '' and A or gateScope(gateOf[which])
local function reply(result)
  if result ~= 'wait' and result ~= 'absent' and not again then
    redis.call('XADD', K.audit, 'MAXLEN', '~', '10000', '*', 'at', str(now), 'actor', actor, 'action', 'pause',
      'scope', scopeName(x), 'reason', reason, 'result', result, 'count', '1')
  end
  tell()
  return { head(), result }
end
if not x.s then return reply('absent') end
if not known(x.s) then return reply('wait') end
local s = x.s
local was = s.paused == '1'
if was and again and s.epoch >= maxSeen then return reply('paused') end
put(x.key, s, { paused = '1', paused_by = actor, paused_at = was and s.paused_at or now, paused_reason = reason,
  epoch = nextEpoch(s, maxSeen) })
announce(x)
return reply(was and 'paused' or 'ok')
