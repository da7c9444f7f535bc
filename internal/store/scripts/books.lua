-- The books of charters: four bits a seat, the counts beside them. Seats move here
-- alone (pkg/charter says how); closeBooks writes the counts and tells completions.

local EMPTY, DISPATCHED, LANDED, REJECTED, SKIPPED, PARKED, DISCARDED = 0, 1, 2, 3, 4, 5, 6
local COUNTS = { 'dispatched', 'landed', 'rejected', 'skipped', 'parked', 'discarded' }

-- loadRun gives a charter's state and counts, or nil where the store has none, or
-- where the caller did not name its keys.
local function loadRun(r)
  if not r then return nil end
  if not r.loaded then
    r.loaded = true
    local v = redis.call('HMGET', r.key, 'state', 'expected', 'told', unpack(COUNTS))
    if v[1] then
      r.s = { state = v[1], expected = num(v[2]), told = v[3] or '', counts = {} }
      for i = 1, #COUNTS do r.s.counts[i] = num(v[3 + i]) end
    end
  end
  return r.s
end

local function seatAt(r, seat)
  local at = math.floor(seat / 2)
  local b = string.byte(redis.call('GETRANGE', r.seats, at, at)) or 0
  if seat % 2 == 1 then return math.floor(b / 16) end
  return b % 16
end

local function moveSeat(r, seat, to)
  local s = r and loadRun(r)
  if not s or seat < 0 or seat >= s.expected then return false end
  local at = math.floor(seat / 2)
  local b = string.byte(redis.call('GETRANGE', r.seats, at, at)) or 0
  local from = seat % 2 == 1 and math.floor(b / 16) or b % 16
  local moves = from ~= LANDED and from ~= to
  if to == DISPATCHED then moves = from == EMPTY
  elseif to == DISCARDED then moves = from == PARKED or from == REJECTED end
  if not moves then return false end
  if seat % 2 == 1 then b = b % 16 + to * 16 else b = b - b % 16 + to end
  redis.call('SETRANGE', r.seats, at, string.char(b))
  if from > 0 then s.counts[from] = s.counts[from] - 1 end
  s.counts[to] = s.counts[to] + 1
  r.changed = true
  return true
end

local function booksText(s)
  local c = s.counts
  return string.format('landed %.0f, rejected %.0f, skipped %.0f, parked %.0f, discarded %.0f of %.0f', c[LANDED], c[REJECTED],
    c[SKIPPED], c[PARKED], c[DISCARDED], s.expected)
end

-- tellBooks tells that a charter is complete, with its counts.
local function tellBooks(r)
  local s = r.s
  local n = math.max(now, num(redis.call('HGET', K.airport, 'notices')) + 1)
  redis.call('HSET', K.airport, 'notices', str(n))
  s.told = booksText(s)
  redis.call('HSET', r.key, 'told', s.told, 'told_at', str(now))
  local scope = airportId .. '/' .. r.name
  notify({ key = scope .. '/' .. str(n) .. '/CHARTER_COMPLETE', type = 'CHARTER_COMPLETE', scope = scope,
    reason = s.state == 'ABORTED' and 'ABORTED' or 'COMPLETE', evidence = s.told })
end

local function closeBooks()
  for _, r in ipairs(runs) do
    if r.changed then
      local s = r.s
      local set, ended = {}, 0
      for i, name in ipairs(COUNTS) do
        set[#set + 1] = name
        set[#set + 1] = str(s.counts[i])
        if i >= LANDED then ended = ended + s.counts[i] end
      end
      redis.call('HSET', r.key, unpack(set))
      if s.told ~= '' then
        redis.call('ZADD', K.charters, now, r.name) -- told again once it has stood still
      elseif ended == s.expected then
        tellBooks(r)
      end
    end
  end
end

