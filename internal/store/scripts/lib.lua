-- The common head of every script: the layout of keys and arguments, the clock,
-- statuses, losses, stops, incidents and the outbox.
--
-- KEYS, the same for all scripts, all of one airport (one hash tag):
--   1 airport   2 tick      3 slots     4 flying    5 beats    6 deaths
--   7 incidents 8 incident-order        9 outbox   10 offers  11 replies
--  12 audit    13 solo     14 streak of the airport          15 charters
--  16 watched flights
--  then for each gate: status, streak gate, streak record, streak transient, holding
--  then for each charter: its hash, its seats
--
-- ARGV, the head of all scripts:
--   1 events channel  2 airport id  3 worker id (or operator)  4 hex of the operation
--   5 highest tick seen  6, 7 highest epoch and fence seen of the airport
--   8 number of gates, then for each: id, highest epoch seen, highest fence seen
--   then the number of charters, then for each: gate/run
--   then what the script itself documents.
--
-- Every number that two processes must agree on is an integer of store
-- milliseconds, written with %.0f: tostring keeps 14 digits only. A script that
-- fails half-way keeps its writes, so each reads and decides first.

local K = { airport = KEYS[1], tick = KEYS[2], slots = KEYS[3], flying = KEYS[4], beats = KEYS[5],
  deaths = KEYS[6], incidents = KEYS[7], order = KEYS[8], outbox = KEYS[9], offers = KEYS[10],
  replies = KEYS[11], audit = KEYS[12], solo = KEYS[13], streak = KEYS[14], charters = KEYS[15],
  watch = KEYS[16] }

local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)

local MAX_LISTED = 20     -- records and workers kept on an incident
local MAX_CLOSED = 1000   -- closed incidents kept
local CHUNK = 1000        -- arguments of one command, well under any Lua's stack

-- hmget, hdel and hset take any number of fields.
local function hmget(key, fields)
  if #fields <= CHUNK then return redis.call('HMGET', key, unpack(fields)) end
  local out = {}
  for i = 1, #fields, CHUNK do
    for _, v in ipairs(redis.call('HMGET', key, unpack(fields, i, math.min(i + CHUNK - 1, #fields)))) do out[#out + 1] = v end
  end
  return out
end
local function hdel(key, fields)
  for i = 1, #fields, CHUNK do redis.call('HDEL', key, unpack(fields, i, math.min(i + CHUNK - 1, #fields))) end
  return #fields
end
local function hset(key, pairs)
  for i = 1, #pairs, CHUNK do redis.call('HSET', key, unpack(pairs, i, math.min(i + CHUNK - 1, #pairs))) end
end

local function num(x) return tonumber(x or '') or 0 end
local function str(n) return string.format('%.0f', n) end

local channel, airportId, caller, ophex = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local seenTick, seenA, seenFenceA = num(ARGV[5]), num(ARGV[6]), num(ARGV[7])
local maxSeen = seenA
local gates, gateOf = {}, {}
local pos = 9
for i = 1, num(ARGV[8]) do
  local k = 16 + (i - 1) * 5
  local g = { id = ARGV[pos], seen = num(ARGV[pos + 1]), seenFence = num(ARGV[pos + 2]),
    key = KEYS[k + 1], sGate = KEYS[k + 2], sRecord = KEYS[k + 3], sTransient = KEYS[k + 4], holding = KEYS[k + 5] }
  if g.seen > maxSeen then maxSeen = g.seen end
  gates[i] = g
  gateOf[g.id] = g
  pos = pos + 3
end
local runs, runOf = {}, {}
do
  local k = 16 + #gates * 5
  local n = num(ARGV[pos])
  pos = pos + 1
  for i = 1, n do
    local r = { name = ARGV[pos], key = KEYS[k + 1], seats = KEYS[k + 2] }
    runs[i] = r
    runOf[r.name] = r
    k, pos = k + 2, pos + 1
  end
end
-- arg reads the script's own arguments one after the other.
local function arg()
  local v = ARGV[pos]
  pos = pos + 1
  return v
end
local function argn() return num(arg()) end

-- Statuses. A status is nil where the hash has no state; the caller knows then
-- that the store forgot the scope, or never knew it.
local FIELDS = { 'state', 'epoch', 'fence', 'paused', 'lost', 'held', 'covered', 'lost_at', 'incident', 'reason',
  'evidence', 'since', 'by', 'throttled_until', 'throttled_since', 'delay_start', 'delay_n', 'delay_probe',
  'delay_id', 'delay_told', 'canary_n', 'canary_landed', 'obs_incident', 'birth_by', 'birth_at',
  'paused_by', 'paused_at', 'paused_reason', 'slots_n', 'slots_per', 'slots_stamp', 'delay_since', 'scale' }
local NUMBERS = { epoch = true, fence = true, lost_at = true, throttled_until = true, throttled_since = true,
  delay_start = true, delay_n = true, delay_probe = true, canary_n = true, canary_landed = true, birth_at = true,
  since = true, paused_at = true, slots_n = true, slots_per = true, slots_stamp = true, delay_since = true }

local INDEX = {}
for i, f in ipairs(FIELDS) do INDEX[f] = i end

-- load reads a status. It keeps the texts too, as list: they are what replies carry.
local function load(key)
  local v = redis.call('HMGET', key, unpack(FIELDS))
  if not v[1] then return nil end
  local s = { list = v }
  for i, f in ipairs(FIELDS) do
    local x = v[i]
    if NUMBERS[f] then
      s[f] = num(x)
      if not x then v[i] = '0' end
    else
      s[f] = x or ''
      if not x then v[i] = '' end
    end
  end
  return s
end

-- put writes fields of a status and keeps the copy in hand the same.
local function put(key, s, fields)
  local args = {}
  for f, v in pairs(fields) do
    s[f] = v
    if type(v) == 'number' then v = str(v) end
    if INDEX[f] then s.list[INDEX[f]] = v end
    args[#args + 1] = f
    args[#args + 1] = v
  end
  redis.call('HSET', key, unpack(args))
end

local function blank()
  local s = { list = {} }
  for i, f in ipairs(FIELDS) do
    if NUMBERS[f] then s[f], s.list[i] = 0, '0' else s[f], s.list[i] = '', '' end
  end
  return s
end

-- A scope is { id, key, s (its status or nil), seen, seenFence, gate (or nil) }.
local A = { id = airportId, key = K.airport, seen = seenA, seenFence = seenFenceA, s = load(K.airport) }
local function gateScope(g)
  if not g.loaded then
    g.loaded = true
    g.s = load(g.key)
    g.scope = airportId .. '/' .. g.id
  end
  return g
end
local function scopeName(x) return x.gateName or x.scope or x.id end

local function nextEpoch(s, seen)
  local e = now + 1
  if s and s.epoch + 1 > e then e = s.epoch + 1 end
  if seen + 1 > e then e = seen + 1 end
  return e
end

-- Events are collected and told at the end. What is told is a reason to read.
local events = {}
local function announce(x)
  events[#events + 1] = '{"v":1,"scope":"' .. scopeName(x) .. '","state":"' .. x.s.state .. '","epoch":' .. str(x.s.epoch) .. '}'
end
local function tell()
  for _, e in ipairs(events) do redis.call('PUBLISH', channel, e) end
  events = {}
end

-- Incidents and the outbox. Both are JSON in a hash: they change after they were
-- opened, which the entries of a stream cannot.
local function getIncident(id)
  local raw = redis.call('HGET', K.incidents, id)
  if not raw then return nil end
  local ok, v = pcall(cjson.decode, raw)
  if ok then return v end
  return nil
end
local function putIncident(i) redis.call('HSET', K.incidents, i.id, cjson.encode(i)) end

local function addListed(list, ...)
  list = list or {}
  for _, v in ipairs({ ... }) do
    local has = v == ''
    for _, x in ipairs(list) do if x == v then has = true end end
    if not has and #list < MAX_LISTED then list[#list + 1] = v end
  end
  return list
end
-- cjson writes an empty table as an object; a list that is empty is left out.
local function orNil(list)
  if list and #list > 0 then return list end
  return nil
end

local function notify(n)
  n.at = now
  redis.call('HSETNX', K.outbox, n.key, cjson.encode(n))
end

-- openIncident opens an incident on scope x and puts its notification in the
-- outbox in the same step. f: the fault {reason, evidence, record, worker}, and of
-- a streak all its {records, workers, count}.
local function openIncident(x, kind, f, observed, quiet)
  local id = scopeName(x) .. '@' .. str(x.s.epoch) .. '-' .. ophex
  if redis.call('HEXISTS', K.incidents, id) == 1 then id = id .. 'x' end
  local i = { id = id, scope = scopeName(x), kind = kind, reason = f.reason, opened_at = now, evidence = f.evidence,
    records = orNil(addListed(f.records, f.record or '')), workers = orNil(addListed(f.workers, f.worker or '')), faults = f.count or 1,
    observed = observed or nil }
  putIncident(i)
  redis.call('ZADD', K.order, now, id)
  if not quiet then
    notify({ key = id .. '/' .. kind, type = kind, scope = i.scope, reason = f.reason, evidence = f.evidence,
      incident = id, records = i.records, workers = i.workers, observed = observed or nil })
  end
  return id
end

local function trimIncidents()
  local n = redis.call('ZCARD', K.order)
  if n <= MAX_CLOSED then return end
  -- the oldest closed ones go; open ones are never trimmed
  local old = redis.call('ZRANGE', K.order, 0, n - MAX_CLOSED - 1)
  for _, id in ipairs(old) do
    local i = getIncident(id)
    if not i or i.closed_at then
      redis.call('HDEL', K.incidents, id)
      redis.call('ZREM', K.order, id)
    end
  end
end

local function closeIncident(id, by)
  if not id or id == '' then return end
  local i = getIncident(id)
  if i and not i.closed_at then
    i.closed_at, i.closed_by = now, by
    putIncident(i)
    trimIncidents()
  end
end

-- addEvidence reports whether there was an open incident to add it to.
local function addEvidence(id, f)
  if not id or id == '' then return false end
  local i = getIncident(id)
  if not i or i.closed_at then return false end
  i.faults = (i.faults or 0) + (f.count or 1)
  i.records = orNil(addListed(i.records, f.record or '', unpack(f.records or {})))
  i.workers = orNil(addListed(i.workers, f.worker or '', unpack(f.workers or {})))
  putIncident(i)
  return true
end

-- Losses. lose writes STOPPED, STATE_LOST: one incident a loss. What stood there
-- before counts as an offer. went: the store went back, rather than forgot.
local function offerOf(x)
  local s = x.s
  return { state = s.state, epoch = s.epoch, fence = s.fence, paused = s.paused, paused_by = s.paused_by,
    paused_at = s.paused_at, paused_reason = s.paused_reason, incident = s.incident, reason = s.reason,
    evidence = s.evidence, since = s.since, by = s.by, lost = s.lost, held = s.held,
    canary_n = s.canary_n, canary_landed = s.canary_landed }
end

-- The store's own offer stands under a name that no worker can have.
local STORE = ':store'

local function lose(x, seen)
  x.s = x.s or blank()
  local s = x.s
  local e = nextEpoch(s, seen)
  if s.state == 'STOPPED' and s.lost == '1' and s.incident ~= '' then
    put(x.key, s, { epoch = e, lost_at = now })
    local keep = redis.call('HGET', K.offers, STORE)
    redis.call('DEL', K.offers)
    if keep then redis.call('HSET', K.offers, STORE, keep) end
    return
  end
  local was = offerOf(x)
  redis.call('DEL', K.offers)
  if was.epoch > 0 and was.state ~= 'BIRTH' then
    redis.call('HSET', K.offers, STORE, cjson.encode({ views = { [scopeName(x)] = was } }))
  end
  if was.incident ~= '' then closeIncident(was.incident, 'STATE_LOST') end
  put(x.key, s, { state = 'STOPPED', lost = '1', held = '', covered = '', lost_at = now, epoch = e, canary_n = 0,
    canary_landed = 0, reason = 'STATE_LOST', evidence = 'the store no longer knows what it knew', since = now, by = '' })
  put(x.key, s, { incident = openIncident(x, 'STATE_LOST', { reason = 'STATE_LOST', evidence = s.evidence, worker = caller }) })
  announce(x)
end

local tick = num(redis.call('GET', K.tick))

-- guard notices a store that forgot or went back, and counts the call. Every
-- script of a process runs it first.
local function guard()
  local s = A.s
  local back = tick < seenTick
  if s and s.state ~= 'BIRTH' and s.state ~= 'REMOVING' then
    if back or s.epoch < A.seen then
      lose(A, maxSeen)
    elseif not (s.state == 'STOPPED' and s.lost == '1') then
      for _, g in ipairs(gates) do
        local x = gateScope(g)
        if x.s and x.s.state ~= 'BIRTH' and x.s.state ~= 'REMOVING' and x.s.epoch < x.seen then lose(x, maxSeen) end
      end
    end
  end
  if back then
    -- what was taken from the ring since is forgotten: it is full as of now
    redis.call('DEL', K.slots)
    if s then redis.call('HSET', K.airport, 'books_lost', str(now)) end -- of every charter opened before
    tick = seenTick
  end
  tick = tick + 1
  redis.call('SET', K.tick, str(tick))
end

local function isLost(s) return s ~= nil and s.state == 'STOPPED' and s.lost == '1' end
-- sinceLoss gives how long ago a scope was lost. A loss that is still to come was
-- written before the clock was set back: it counts from now.
local function sinceLoss(x)
  if x.s.lost_at > now then put(x.key, x.s, { lost_at = now }) end
  return now - x.s.lost_at
end
-- uncover makes a gate that was lost with its airport lost by itself.
local function uncover(x)
  put(x.key, x.s, { covered = '', epoch = nextEpoch(x.s, maxSeen) })
  put(x.key, x.s, { incident = openIncident(x, 'STATE_LOST', { reason = 'STATE_LOST', evidence = x.s.evidence, worker = caller }) })
  announce(x)
end
local function known(s) return s ~= nil and s.state ~= 'BIRTH' and s.state ~= 'REMOVING' end

-- Beats: incarnation -> "last interval leaving since kind seen". since starts the
-- stretch without a gap of more than two intervals.
local function parseBeat(raw)
  if not raw then return nil end
  local last, interval, leaving, since, kind, seen = string.match(raw, '^(%d+) (%d+) (%d) (%d+) (%a+) (.*)$')
  if not last then return nil end
  return { last = num(last), interval = num(interval), leaving = leaving == '1', since = num(since), kind = kind, seen = seen }
end
-- A beat far in the future is from before the clock was set back; a process that
-- lives has beaten since.
local function recent(b) return now - b.last <= 5 * b.interval and b.last - now <= 5 * b.interval end
local function alive(b) return b ~= nil and recent(b) end
local function workerOf(inc) return string.match(inc, '^(.*)%.%d+$') or inc end

-- dead: five of its own intervals without a beat, while the observer's own beats
-- were unbroken for ten (and for twice the other's silence): a store that was
-- away kills nobody.
local function dead(inc, observer)
  local b = parseBeat(redis.call('HGET', K.beats, inc))
  local x = parseBeat(redis.call('HGET', K.beats, observer))
  if not x or now - x.last > 2 * x.interval then return false end
  local five = 5 * (b and b.interval or x.interval)
  if b and recent(b) then return false end
  local need = 10 * x.interval
  if need < 2 * five then need = 2 * five end
  return x.last - x.since >= need, b and b.leaving
end

-- Notes and landing marks in the hash of flying:
--   N <incarnation> <start> <epoch airport> <epoch gate> <token airport> <token gate> <gate>
--   L <worker> <time> <1: made by the note's owner>
local function parseNote(raw)
  if not raw then return nil end
  if string.sub(raw, 1, 2) == 'N ' then
    local inc, start, ea, eg, ta, tg = string.match(raw, '^N (%S+) (%d+) (%d+) (%d+) (%d+) (%d+)')
    if inc then
      return { inc = inc, worker = workerOf(inc), start = num(start), epA = num(ea), epG = num(eg), tokA = num(ta), tokG = num(tg) }
    end
  else
    local worker, at, own = string.match(raw, '^L (%S+) (%d+) (%d)$')
    if worker then return { mark = true, worker = worker, at = num(at), own = own == '1' } end
  end
  return nil
end

-- A streak is a set of records scored by settle time; beside it, in the status'
-- hash, stands who reported last, as "worker time" pairs. streak adds the fault f
-- and returns how many distinct records there are.
local function streak(x, kind, key, f, window)
  if window > 0 then redis.call('ZREMRANGEBYSCORE', key, '-inf', '(' .. str(now - window)) end
  redis.call('ZADD', key, now, f.record)
  if window > 0 then redis.call('PEXPIRE', key, str(window + 60000)) end
  local who, n = f.worker .. ' ' .. str(now), 1
  for w, t in string.gmatch(redis.call('HGET', x.key, 'who:' .. kind) or '', '(%S+) (%d+)') do
    if w ~= f.worker and n < MAX_LISTED then
      who, n = who .. ' ' .. w .. ' ' .. t, n + 1
    end
  end
  redis.call('HSET', x.key, 'who:' .. kind, who)
  return redis.call('ZCARD', key)
end

-- endStreak empties a streak that reached its threshold into the fault f.
local function endStreak(x, kind, key, f)
  local first = num(redis.call('ZRANGE', key, 0, 0, 'WITHSCORES')[2])
  f.count = redis.call('ZCARD', key)
  f.records = redis.call('ZRANGE', key, 0, MAX_LISTED - 1)
  f.workers = {}
  for w, t in string.gmatch(redis.call('HGET', x.key, 'who:' .. kind) or '', '(%S+) (%d+)') do
    if num(t) >= first then f.workers[#f.workers + 1] = w end
  end
  redis.call('DEL', key)
end

-- endDelay ends a gate's ground delay, and tells so where its start was told.
local function endDelay(x, by)
  local s = x.s
  if s.delay_start == 0 then return end
  if s.delay_told == '1' then
    notify({ key = s.delay_id .. '/GROUND_DELAY/end', type = 'GROUND_DELAY', scope = scopeName(x), reason = 'ENDED',
      incident = s.delay_id, actor = by })
  end
  closeIncident(s.delay_id, by)
  put(x.key, s, { delay_start = 0, delay_since = 0, delay_n = 0, delay_probe = 0, delay_id = '', delay_told = '' })
  announce(x)
end

-- stop by a fault that reached its threshold. Compare-and-set: any number of
-- racing reports make one incident and one outbox entry.
local function stop(x, kind, f)
  local s = x.s
  if s.state == 'STOPPED' then
    if s.covered == '1' then
      -- lost with its airport; this is a stop of its own
      put(x.key, s, { covered = '', lost = '', held = '', epoch = nextEpoch(s, maxSeen), reason = f.reason, evidence = f.evidence, since = now, by = caller })
      put(x.key, s, { incident = openIncident(x, kind, f) })
      announce(x)
    elseif s.lost == '1' and s.held ~= '1' then
      put(x.key, s, { held = '1', epoch = nextEpoch(s, maxSeen) }) -- for a human, not for a tower
      addEvidence(s.incident, f)
      announce(x)
    else
      addEvidence(s.incident, f)
    end
    return
  end
  local was = s.state
  put(x.key, s, { state = 'STOPPED', lost = '', held = '', covered = '', epoch = nextEpoch(s, maxSeen), canary_n = 0, canary_landed = 0,
    reason = f.reason, evidence = f.evidence, since = now, by = caller })
  -- a canary's stop is under the same incident, with no second notification
  if not (was == 'CANARY' and addEvidence(s.incident, f)) then
    put(x.key, s, { incident = openIncident(x, kind, f) })
  end
  announce(x)
end

-- observeStop opens at most one would-have incident a scope until a reopen.
local function observeStop(x, kind, f, tellIt)
  if x.s.obs_incident ~= '' then
    addEvidence(x.s.obs_incident, f)
    return
  end
  put(x.key, x.s, { obs_incident = openIncident(x, kind, f, true, not tellIt) })
end

-- freeTokens of a canary: N less landings less notes of the living cleared since
-- it began. Nothing is given back, so nothing can be given back twice.
local function freeTokens(x, isGate)
  local s = x.s
  local n = s.canary_n - s.canary_landed
  local all = redis.call('HVALS', K.flying)
  local livingOf = {}
  for _, raw in ipairs(all) do
    local note = parseNote(raw)
    if note and not note.mark and (isGate and note.tokG or note.tokA) == s.fence then
      if livingOf[note.inc] == nil then livingOf[note.inc] = alive(parseBeat(redis.call('HGET', K.beats, note.inc))) end
      if livingOf[note.inc] then n = n - 1 end
    end
  end
  return n
end

-- What every reply starts with: the store's time, the tick, and the statuses as
-- flat field lists, for the caller's memory.
local function flat(s)
  if s then return s.list end
  return {}
end
local function head()
  local g = {}
  for i, x in ipairs(gates) do g[i] = flat(gateScope(x).s) end
  return { str(now), str(tick), flat(A.s), g }
end

