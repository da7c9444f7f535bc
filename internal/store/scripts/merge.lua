-- What living processes remember after a loss, and how a scope stands again.

local function strict(s)
  if s.state == 'STOPPED' then return 3 end
  if s.paused == '1' then return 2 end
  if s.state == 'CANARY' then return 1 end
  return 0
end

-- readOffers gives the newest view of each scope (on a tie the stricter), the
-- highest epoch anybody has seen of it, and the offers by who made them.
local function readOffers()
  local best, highest, who = {}, {}, {}
  local raw = redis.call('HGETALL', K.offers)
  for i = 1, #raw, 2 do
    local ok, o = pcall(cjson.decode, raw[i + 1])
    if ok then
      who[raw[i]] = o
      for scope, v in pairs(o.views or {}) do
        local b = best[scope]
        if not b or v.epoch > b.epoch or (v.epoch == b.epoch and strict(v) > strict(b)) then best[scope] = v end
        if v.epoch > (highest[scope] or 0) then highest[scope] = v.epoch end
      end
      for scope, e in pairs(o.seen or {}) do
        if e > (highest[scope] or 0) then highest[scope] = e end
      end
    end
  end
  return best, highest, who
end

-- scaledSince reports whether a human has scaled a gate since it was lost: no memory of
-- a process is newer than that.
local function scaledSince(x)
  local at = num(redis.call('HGET', x.key, 'scaled_at'))
  return at > 0 and x.s.lost == '1' and at >= x.s.lost_at
end

-- adopt makes a scope stand as the view v says.
local function adopt(x, v, epoch, fence)
  x.s = x.s or blank()
  local scale = v.scale or ''
  if scaledSince(x) then scale = x.s.scale end
  put(x.key, x.s, { state = v.state, epoch = epoch, fence = math.max(v.fence or 0, fence), paused = v.paused or '',
    paused_by = v.paused_by or '', paused_at = v.paused_at or 0, paused_reason = v.paused_reason or '',
    incident = v.incident or '', reason = v.reason or '', evidence = v.evidence or '', since = v.since or now,
    by = v.by or '', lost = v.lost or '', held = v.held or '', covered = '', canary_n = v.canary_n or 0,
    canary_landed = v.canary_landed or 0, birth_by = '', birth_at = 0, scale = scale })
  if x.gateName == nil and x.scope then redis.call('HSET', K.airport, 'g:' .. x.id, '1') end
end

-- reviveIncident opens the incident of a restored stop or canary again, and
-- notifies of a stop under its old key.
local function reviveIncident(x)
  local s = x.s
  local kind = s.lost == '1' and 'STATE_LOST' or 'GATE_STOP'
  if s.incident == '' then
    if s.state ~= 'STOPPED' then return end
    put(x.key, s, { incident = openIncident(x, kind, { reason = s.reason, evidence = s.evidence }) })
    return
  end
  local i = getIncident(s.incident) or { id = s.incident, scope = scopeName(x), kind = kind, reason = s.reason,
    opened_at = s.since > 0 and s.since or now, evidence = s.evidence, faults = 1 }
  i.closed_at, i.closed_by = nil, nil
  putIncident(i)
  redis.call('ZADD', K.order, i.opened_at, i.id)
  if s.state ~= 'STOPPED' then return end
  notify({ key = s.incident .. '/' .. kind, type = kind, scope = scopeName(x), reason = s.reason, evidence = s.evidence,
    incident = s.incident })
end

-- mergeGates: after an airport's loss its gates stand as the newest that is
-- stored or offered; byHuman opens those nobody remembers, else they are lost by
-- themselves.
local function mergeGates(best, highest, byHuman, actor)
  for _, g in ipairs(gates) do
    local x = gateScope(g)
    local st, v = x.s, best[x.scope]
    if v and not (st and st.state == 'REMOVING') and (not known(st) or st.covered == '1' or v.epoch > st.epoch or (v.epoch == st.epoch and strict(v) > strict(st))) then
      local pausedBefore = st and st.paused == '1' and (st.covered == '1' or st.lost == '1')
      local before = st and { by = st.paused_by, at = st.paused_at, reason = st.paused_reason }
      local epoch, fence = v.epoch, st and st.fence or 0
      if st and st.epoch >= epoch then epoch = nextEpoch(st, epoch) end
      if st and st.incident ~= '' and st.incident ~= v.incident then closeIncident(st.incident, 'restored') end
      adopt(x, v, epoch, fence)
      if pausedBefore then
        put(x.key, x.s, { paused = '1', paused_by = before.by, paused_at = before.at, paused_reason = before.reason })
      end
      if x.s.state == 'STOPPED' or x.s.state == 'CANARY' then reviveIncident(x) end
      announce(x)
    elseif st and st.covered == '1' and byHuman then
      local e = nextEpoch(st, maxSeen)
      put(x.key, st, { state = 'OPEN', lost = '', held = '', covered = '', epoch = e, fence = e, incident = '', reason = '',
        evidence = '', since = now, by = actor })
      announce(x)
    elseif st and st.covered == '1' then
      uncover(x)
    end
    if x.s and (highest[x.scope] or 0) > x.s.epoch then
      put(x.key, x.s, { epoch = nextEpoch(x.s, highest[x.scope]) })
    end
  end
end

