-- The ring of an airport's shared rate limit: a head of two 8-byte numbers (N,
-- cursor), then N 8-byte store times, oldest at the cursor. k slots are free when
-- the entry k ahead is older than the window: exact in every window.

local function pack8(n)
  local b = {}
  for i = 8, 1, -1 do
    b[i] = string.char(n % 256)
    n = math.floor(n / 256)
  end
  return table.concat(b)
end
local function unpack8(s, i)
  local n = 0
  for j = i, i + 7 do n = n * 256 + string.byte(s, j) end
  return n
end

local function newRing(n, at)
  redis.call('SET', K.slots, pack8(n) .. pack8(0) .. string.rep(pack8(at), n))
end

-- ring makes the ring fit n, and returns its cursor. A missing ring is full as of
-- now: what was taken is not known. One of another size keeps its newest entries;
-- entries added are free.
local function ring(n)
  local headRaw = redis.call('GETRANGE', K.slots, 0, 15)
  if #headRaw < 16 then
    newRing(n, now)
    return 0
  end
  local have, cursor = unpack8(headRaw, 1), unpack8(headRaw, 9)
  if have ~= n or cursor >= have then
    local all = redis.call('GETRANGE', K.slots, 16, 15 + have * 8)
    if #all ~= have * 8 or cursor >= have then
      newRing(n, now)
      return 0
    end
    local ordered = string.sub(all, cursor * 8 + 1) .. string.sub(all, 1, cursor * 8)
    if have > n then
      ordered = string.sub(ordered, (have - n) * 8 + 1)
    else
      ordered = string.rep(pack8(0), n - have) .. ordered
    end
    redis.call('SET', K.slots, pack8(n) .. pack8(0) .. ordered)
    cursor = 0
  end
  local newest = (cursor + n - 1) % n
  local last = redis.call('GETRANGE', K.slots, 16 + newest * 8, 23 + newest * 8)
  if #last < 8 or unpack8(last, 1) > now then
    newRing(n, now) -- the clock was set back: wait one window of the clock that is
    return 0
  end
  return cursor
end

-- read gives k entries from index at on, over the ring's end.
local function readRing(n, at, k)
  if at + k <= n then return redis.call('GETRANGE', K.slots, 16 + at * 8, 15 + (at + k) * 8) end
  return redis.call('GETRANGE', K.slots, 16 + at * 8, 15 + n * 8) .. redis.call('GETRANGE', K.slots, 16, 15 + (at + k - n) * 8)
end

-- takeSlots takes up to want slots, at most most. Returns how many, and when to ask
-- again for the rest.
local function takeSlots(want, most, n, per)
  local cursor = ring(n)
  local k = math.min(want, n)
  local raw = readRing(n, cursor, k)
  local free, again = 0, now + per + 1
  for i = 1, k do
    local t = unpack8(raw, (i - 1) * 8 + 1)
    if now - t > per then
      free = free + 1
    else
      again = t + per + 1
      break
    end
  end
  if free > most then
    free = most
    again = now + 10 -- a sibling was refused: it gets its turn first
  elseif free == n and want > n then
    again = now + per + 1
  end
  if free > 0 then
    local stamp = pack8(now)
    if cursor + free <= n then
      redis.call('SETRANGE', K.slots, 16 + cursor * 8, string.rep(stamp, free))
    else
      redis.call('SETRANGE', K.slots, 16 + cursor * 8, string.rep(stamp, n - cursor))
      redis.call('SETRANGE', K.slots, 16, string.rep(stamp, cursor + free - n))
    end
    redis.call('SETRANGE', K.slots, 8, pack8((cursor + free) % n))
  end
  return free, again
end

-- usedSlots counts the entries within the window that ends now. They are in order
-- from the cursor on, so it looks for the first.
local function usedSlots(per)
  local headRaw = redis.call('GETRANGE', K.slots, 0, 15)
  if #headRaw < 16 then return 0 end
  local n, cursor = unpack8(headRaw, 1), unpack8(headRaw, 9)
  local low, high = 0, n
  while low < high do
    local mid = math.floor((low + high) / 2)
    local at = 16 + (cursor + mid) % n * 8
    local entry = redis.call('GETRANGE', K.slots, at, at + 7)
    if #entry == 8 and now - unpack8(entry, 1) <= per then high = mid else low = mid + 1 end
  end
  return n - low
end

-- Gates that were refused in the last window, as "gate:time,gate:time".
local function othersRefused(gate, per)
  local raw = redis.call('HGET', K.airport, 'refused') or ''
  local others, keep = 0, {}
  for g, t in string.gmatch(raw or '', '([^,@]+)@(%d+)') do
    if now - num(t) <= per + 1 and g ~= gate then -- who was refused asks again after one window and 1 ms
      others = others + 1
      keep[#keep + 1] = g .. '@' .. t
    end
  end
  return others, keep
end
local function noteRefused(gate, keep)
  keep[#keep + 1] = gate .. '@' .. str(now)
  redis.call('HSET', K.airport, 'refused', table.concat(keep, ','))
end

