-- reopen: a human sets a scope OPEN, or flies a canary.
--
-- KEYS and the head of ARGV: lib.lua. The scope is the first argument: '' for the
-- airport, or a gate's id among the gates in KEYS (for an airport, all its gates).
-- Then: canary (0: open fully), actor, reason, marker present (0, 1).
-- Reply: head, result, incident, since_ms, state before.
--   result: ok, open (it was open already), ended (a throttle or a delay was), wait (a birth, or offers within 5 s of
--   a loss), absent (no status and no marker), airport (reopen the airport first)

local which, canary, actor, reason, marker = arg(), argn(), arg(), arg(), arg() == '1'
local x = which == '' and A or gateScope(gateOf[which])
local function audit(result)
  redis.call('XADD', K.audit, 'MAXLEN', '~', '10000', '*', 'at', str(now), 'actor', actor, 'action',
    canary > 0 and ('reopen --canary ' .. str(canary)) or 'reopen', 'scope', scopeName(x), 'reason', reason, 'result', result, 'count', '1')
end
local function reply(result, incident, since, was)
  if result ~= 'wait' then audit(result) end
  tell()
  return { head(), result, incident or '', str(since or 0), was or '' }
end

if not x.s or x.s.state == 'BIRTH' then
  if x.s then return reply('wait') end
  if not marker then return { head(), 'absent', '', '0', '' } end
  if x ~= A and (not known(A.s) or isLost(A.s)) then return reply('airport') end
  lose(x, maxSeen)
  return reply('wait') -- for the offers of the living
end

local s = x.s
local shown = s.state
if s.state ~= 'STOPPED' and s.paused == '1' then shown = 'PAUSED' end
local wasLost = isLost(s)
if x ~= A and wasLost and s.covered == '1' and isLost(A.s) then return reply('airport') end
if wasLost and s.lost_at > 0 and sinceLoss(x) < 5000 then return reply('wait') end
if s.state == 'REMOVING' then s.state = 'STOPPED' end

-- own streaks are emptied, so that nothing from before counts again
local function emptyStreaks()
  if x == A then
    redis.call('DEL', K.streak)
  else
    redis.call('DEL', x.sGate, x.sRecord, x.sTransient)
  end
end

if s.state == 'OPEN' and s.paused ~= '1' and canary == 0 then
  -- a throttle or a delay is ended; the fence stays
  local result, began = 'open', s.since
  if s.delay_start > 0 then result, shown, began = 'ended', 'DELAYED', s.delay_since end
  if s.throttled_until > now then result, shown, began = 'ended', 'THROTTLED', s.throttled_since end
  if s.delay_start > 0 then endDelay(x, actor) end
  if s.obs_incident ~= '' then closeIncident(s.obs_incident, actor) end
  local throttled = s.throttled_until > now
  put(x.key, s, { throttled_until = 0, obs_incident = '' })
  if throttled then announce(x) end
  return reply(result, '', began, shown)
end

local incident = s.incident
local since = s.since
if s.state ~= 'STOPPED' and s.paused == '1' then since = s.paused_at end
if s.delay_start > 0 then endDelay(x, actor) end
if s.obs_incident ~= '' then closeIncident(s.obs_incident, actor) end
-- above all that anybody has seen, or who saw more would call it lost again
local best, highest = {}, {}
if wasLost then best, highest = readOffers() end
local e = nextEpoch(s, math.max(maxSeen, highest[scopeName(x)] or 0))
put(x.key, s, { paused = '', paused_by = '', paused_at = 0, paused_reason = '', held = '', lost = '', covered = '',
  throttled_until = 0, obs_incident = '', epoch = e, fence = e, since = now, by = actor })
emptyStreaks()
if canary > 0 then
  put(x.key, s, { state = 'CANARY', canary_n = canary, canary_landed = 0 })
else
  closeIncident(incident, actor)
  put(x.key, s, { state = 'OPEN', canary_n = 0, canary_landed = 0, incident = '', reason = '', evidence = '' })
  if incident ~= '' then
    notify({ key = incident .. '/REOPENED', type = 'REOPENED', scope = scopeName(x), reason = reason, incident = incident, actor = actor })
  end
end
announce(x)
if x == A and wasLost then mergeGates(best, highest, true, actor) end
return reply('ok', incident, since, shown)
