-- notes: a process's own notes, so that it can find what it no longer has in hand.
--
-- KEYS and the head of ARGV: lib.lua. Then: number of notes to remove, each 2:
-- flight, start. A note is removed only where it is the caller's and its start is
-- the one read before.
-- Reply: head, "flight incarnation start" of each note that is left.

local drop = {}
for i = 1, argn() do drop[i] = { flight = arg(), start = argn() } end
guard()
for _, d in ipairs(drop) do
  local n = parseNote(redis.call('HGET', K.flying, d.flight))
  if n and not n.mark and n.worker == caller and n.start == d.start then redis.call('HDEL', K.flying, d.flight) end
end
local mine = {}
local raw = redis.call('HGETALL', K.flying)
for i = 1, #raw, 2 do
  local n = parseNote(raw[i + 1])
  if n and not n.mark and n.worker == caller then
    mine[#mine + 1] = raw[i] .. ' ' .. n.inc .. ' ' .. str(n.start)
  end
end
tell()
return { head(), mine }
