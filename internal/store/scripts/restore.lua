-- restore: a tower brings back what was open before a loss.
--
-- KEYS and the head of ARGV: lib.lua, with all gates of the airport. Then: number
-- of workers and towers the caller knew, each an id.
-- Reply: head, number of scopes restored, who is waited for ('' for nobody).
--
-- 10 s after the loss at the earliest, when everybody the caller knew, and all
-- that beat since, have offered at this loss, the caller itself remembers the
-- scope, and the newest view of it is OPEN and not paused. Anything else is a
-- human's.

local knew = {}
for i = 1, argn() do knew[i] = arg() end
guard()

local function due(x) return isLost(x.s) and x.s.held ~= '1' and x.s.paused ~= '1' and sinceLoss(x) >= 10000 end
local targets = {}
if due(A) then
  targets[1] = A
elseif known(A.s) and not isLost(A.s) then
  for _, g in ipairs(gates) do
    local x = gateScope(g)
    if due(x) and x.s.covered ~= '1' then targets[#targets + 1] = x end
  end
end
local function reply(n, waiting)
  tell()
  return { head(), str(n), waiting }
end
if #targets == 0 then return reply(0, '') end

local best, highest, offered = readOffers()
if not offered[caller] then return reply(0, caller) end
local mine = offered[caller].views or {}
for _, id in ipairs(knew) do
  if not offered[id] then return reply(0, id) end
end
local raw = redis.call('HGETALL', K.beats)
for i = 1, #raw, 2 do
  local b = parseBeat(raw[i + 1])
  if alive(b) and not offered[workerOf(raw[i])] then return reply(0, workerOf(raw[i])) end
end

local n = 0
for _, x in ipairs(targets) do
  local name = scopeName(x)
  local v = best[name]
  if v and mine[name] and strict(v) == 0 and v.state == 'OPEN' then
    local s = x.s
    local incident = s.incident
    local epoch = nextEpoch(s, math.max(x.seen, highest[name] or 0))
    closeIncident(incident, 'restored')
    v.incident, v.lost, v.held = '', '', ''
    v.reason, v.evidence, v.by, v.since = '', '', 'restored', now
    adopt(x, v, epoch, s.fence)
    announce(x)
    n = n + 1
    if x == A then mergeGates(best, highest, false, '') end
  end
end
return reply(n, '')
