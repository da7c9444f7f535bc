-- flight: settles flights of one gate, gives back what was not flown, then clears
-- flights, in that order, in one atomic step.
--
-- KEYS and the head of ARGV: lib.lua, with exactly one gate and the charters that the
-- flights name. Then:
--   incarnation  seq  mode (enforce, observe, observe-told)
--   thresholds: airport_fault gate_fault record_fault transient  window_ms
--   slots_n slots_per_ms slots_stamp
--   number of delay steps, each in ms
--   number of marks, each: flight                       (landing marks to remove)
--   number of returns, each: flight                     (own notes to remove)
--   number of settlements, each 14: flight, incarnation, epoch airport, epoch gate,
--     start, outcome or finding, move, otherwise, gone (0, 1), record, evidence,
--     run, seat, after_ms.   A move is L, J, S, D, H<ms> or P<REASON>; otherwise may be ''.
--   number of clearances, each 5: flight, run, seat, alone (1: nothing else is in the
--     air of this process, which holds the solo lease), slot (requests of one call
--     with the same number share one slot; 0: one of its own)
--
-- Reply: head (lib.lua), start, answers to the settlements, answers to the
-- clearances.
--   settlement: M make the move (M=<deaths>: and write them on the copy); O make the otherwise; A landed already, ack;
--     N not yours, nack; G counted, nothing to do; H held by another, hold 10 s;
--     U scope unknown, bear it and ask again
--   clearance: cleared, solo (a suspect: drain, then ask for it alone), suspect
--     (another process holds the lease), convicted, landed, held, aborted, malformed, charter-lost, stopped, throttled <until>,
--     gate-stopped, gate-stays, wait <until>, unknown, lapsed, again
--
-- A call with the number of the lane's last call gets that call's settlement
-- answers and clears nothing ("again"); an older one changes nothing.

local inc, seq, mode = arg(), argn(), arg()
local limAirport, limGate, limRecord, limTransient, window = argn(), argn(), argn(), argn(), argn()
local cfgN, cfgPer, cfgStamp = argn(), argn(), argn()
local steps = {}
local longest = 0
for i = 1, argn() do steps[i] = argn() end
if #steps == 0 then steps = { 30000, 120000, 600000 } end
for _, step in ipairs(steps) do longest = math.max(longest, step) end
local MAX_RETRY_AFTER = 900000 -- what is further off was written before the clock was set back
local observing = mode ~= 'enforce'
local G = gates[1]

-- Where an argument list does not add up nothing is done.
local marks, returns, settles, clears = {}, {}, {}, {}
for i = 1, argn() do marks[i] = arg() end
for i = 1, argn() do returns[i] = arg() end
for i = 1, argn() do
  settles[i] = { flight = arg(), inc = arg(), epA = argn(), epG = argn(), start = argn(), outcome = arg(),
    move = arg(), otherwise = arg(), gone = arg() == '1', record = arg(), evidence = arg(), run = arg(), seat = argn(), after = argn() }
end
for i = 1, argn() do clears[i] = { flight = arg(), run = arg(), seat = argn(), alone = arg() == '1', slot = argn() } end
if pos - 1 ~= #ARGV then return redis.error_reply('flight: arguments do not add up') end

-- A repeat of this lane's last call, or an older one.
local lane = caller .. '/' .. G.id
local saved = redis.call('HGET', K.replies, lane)
if saved then
  local lastSeq, answers = string.match(saved, '^(%d+) ?(.*)$')
  if num(lastSeq) >= seq then
    gateScope(G)
    local s, c = {}, {}
    if num(lastSeq) == seq then
      for a in string.gmatch(answers, '%S+') do s[#s + 1] = a end
    end
    for i = #s + 1, #settles do s[i] = 'late' end
    for i = 1, #clears do c[i] = 'again' end
    return { head(), '0', s, c }
  end
end

guard()
gateScope(G)
local as, gs = A.s, G.s
local noDeaths = redis.call('HLEN', K.deaths) == 0
local noWatch = #settles == 0 or redis.call('EXISTS', K.watch) == 0
local function runFor(x) return x.run ~= '' and runOf[G.id .. '/' .. x.run] or nil end

-- Deaths of a flight: "incarnation@time,incarnation@time", then "!incident" once it
-- is convicted.
local function deathsOf(flight)
  if noDeaths then return 0, '' end
  local raw = redis.call('HGET', K.deaths, flight) or ''
  local entries, incident = string.match(raw, '^([^!]*)!?(.*)$')
  local n = 0
  for _ in string.gmatch(entries, '[^,]+') do n = n + 1 end
  return n, entries, incident
end
local function addDeath(flight, inc)
  local _, had, incident = deathsOf(flight)
  noDeaths = false
  local entry = inc .. '@' .. str(now)
  redis.call('HSET', K.deaths, flight, (had ~= '' and (had .. ',' .. entry) or entry) .. (incident and incident ~= '' and '!' .. incident or ''))
end

-- takeOver moves a dead incarnation from a flight's note to its deaths, and keeps
-- which workers died, the last ten, for people.
local function takeOver(flight, note, leaving)
  redis.call('HDEL', K.flying, flight)
  if leaving then return end
  addDeath(flight, note.inc)
  local dead = redis.call('HGET', K.airport, 'dead') or ''
  if not string.find(',' .. dead, ',' .. note.inc .. '@', 1, true) then
    local keep, n = note.inc .. '@' .. str(now), 1
    for entry in string.gmatch(dead, '[^,]+') do
      if n < 10 then keep, n = keep .. ',' .. entry, n + 1 end
    end
    redis.call('HSET', K.airport, 'dead', keep)
  end
end

-- convict opens one incident that names the flight and the workers it killed.
local function convict(s)
  local _, entries, incident = deathsOf(s.flight)
  if incident and incident ~= '' then return end
  if not known(gs) then return end
  local f = { reason = 'POISON_PILL', record = s.flight, records = orNil(addListed(nil, s.flight, s.record)), workers = {},
    evidence = s.evidence, worker = '' }
  for inc in string.gmatch(entries, '([^@,]+)@') do f.workers = addListed(f.workers, workerOf(inc)) end
  f.count = #f.workers
  local id = openIncident(G, 'POISON_PILL', f)
  redis.call('HSET', K.deaths, s.flight, entries .. '!' .. id)
end

-- ---------------------------------------------------------------- settlements

local landedNow, rejectedNow, parkedNow, clearedStreaks = 0, 0, 0, false
local ackedNow, doneNow = 0, 0

local function fault(s)
  return { reason = s.outcome, evidence = s.evidence, record = s.record, worker = caller }
end

local function reached(x, kind, f)
  if observing then
    observeStop(x, kind, f, mode == 'observe-told')
  else
    stop(x, kind, f)
  end
end

local SEAT_OF = { L = LANDED, J = REJECTED, S = SKIPPED, P = PARKED }

-- watched notes what became of a flight that somebody looks after.
local function watched(flight, move)
  if not noWatch and redis.call('HEXISTS', K.watch, flight) == 1 then redis.call('HSET', K.watch, flight, move) end
end

-- carried counts what the move does to the gate's books and the charter's.
local function carried(move, s)
  local c, record = string.sub(move, 1, 1), s.record
  if SEAT_OF[c] then moveSeat(runFor(s), s.seat, SEAT_OF[c]) end
  watched(s.flight, move)
  if c == 'H' then
    local due = math.ceil((now + num(string.sub(move, 2))) / 1000)
    redis.call('HINCRBY', G.holding, str(due), 1)
  elseif c == 'J' then
    rejectedNow = rejectedNow + 1
  elseif c == 'P' then
    parkedNow = parkedNow + 1
    local reason = string.sub(move, 2)
    if reason == 'HOLD_BUDGET' or reason == 'INTERNAL' or reason == 'MALFORMED' or reason == 'DELIVERY_LIMIT' then
      if gs and redis.call('HSETNX', G.key, 'parking:' .. reason, str(now)) == 1 then
        -- never a number that was told before a store forgot
        local n = math.max(now, num(redis.call('HGET', K.airport, 'notices')) + 1)
        redis.call('HSET', K.airport, 'notices', str(n))
        notify({ key = scopeName(G) .. '/' .. str(n) .. '/PARKING', type = 'PARKING', scope = scopeName(G), reason = reason,
          records = orNil(addListed(nil, record)), workers = { caller } })
      end
    end
  end
end

local function countCanary(x, token)
  local s = x.s
  if s.state ~= 'CANARY' or isLost(as) or token ~= s.fence then return end
  local n = s.canary_landed + 1
  if n < s.canary_n then
    put(x.key, s, { canary_landed = n })
    return
  end
  closeIncident(s.incident, 'canary')
  if s.incident ~= '' then
    notify({ key = s.incident .. '/REOPENED', type = 'REOPENED', scope = scopeName(x), reason = 'CANARY', incident = s.incident, actor = 'canary' })
  end
  put(x.key, s, { state = 'OPEN', epoch = nextEpoch(s, maxSeen), incident = '', canary_n = 0, canary_landed = 0,
    reason = '', evidence = '', since = now, by = 'canary' })
  announce(x)
end

local function settleLanded(s, note, own)
  redis.call('HSET', K.flying, s.flight, 'L ' .. caller .. ' ' .. str(now) .. (own and ' 1' or ' 0'))
  moveSeat(runFor(s), s.seat, LANDED)
  watched(s.flight, 'L')
  if not own or not as or not gs then return 'M' end
  if not noDeaths then redis.call('HDEL', K.deaths, s.flight) end
  landedNow = landedNow + 1
  if not clearedStreaks then
    clearedStreaks = true
    redis.call('DEL', G.sGate, G.sRecord, G.sTransient)
  end
  if gs.delay_start > 0 and s.start >= gs.delay_start then endDelay(G, 'a landing') end
  countCanary(A, note.tokA)
  countCanary(G, note.tokG)
  return 'M'
end

-- judge applies what a failure says about its scopes: stops, streaks, throttles
-- and delays. They look at the fence alone, not at the note.
local function judge(s)
  local o = s.outcome
  local f = fault(s)
  clearedStreaks = false -- a landing after this one clears again
  if o == 'AIRPORT_FAULT' then
    if s.epA >= math.max(as.fence, A.seenFence) then
      if as.state == 'CANARY' or limAirport <= 1 then
        reached(A, 'GROUND_STOP', f)
      elseif as.state == 'STOPPED' and not observing then
        stop(A, 'GROUND_STOP', f)
      elseif streak(A, 'airport', K.streak, f, window) >= limAirport then
        endStreak(A, 'airport', K.streak, f)
        reached(A, 'GROUND_STOP', f)
      end
    end
  elseif o == 'RATE_LIMIT' then
    if s.start > as.throttled_since and not observing and as.state ~= 'STOPPED' then
      local ms = math.min(s.after, MAX_RETRY_AFTER)
      if ms <= 0 then ms = as.slots_n > 0 and as.slots_per or 30000 end
      -- what was cleared so far is from before this throttle, whatever the clock did
      put(A.key, as, { throttled_since = math.max(now, as.epoch, gs.epoch, s.start), throttled_until = now + ms })
      announce(A)
    end
  elseif o == 'TRANSIENT' then
    if gs.delay_start == 0 and s.epG >= math.max(gs.fence, G.seenFence)
      and streak(G, 'transient', G.sTransient, f, 0) >= limTransient then
      endStreak(G, 'transient', G.sTransient, f)
      if not observing then
        local began = math.max(now, as.epoch, gs.epoch, s.start) + 1
        put(G.key, gs, { delay_start = began, delay_since = now, delay_n = 0, delay_probe = now + steps[1], delay_told = '' })
        put(G.key, gs, { delay_id = openIncident(G, 'GROUND_DELAY', f, false, true) })
        announce(G)
      end
    end
  else
    if gs.delay_start > 0 and s.start >= gs.delay_start and (o == 'GATE_FAULT' or o == 'FLIGHT_FAULT') then
      endDelay(G, 'an answer')
    end
    if s.epG >= math.max(gs.fence, G.seenFence) then
      if o == 'GATE_FAULT' then
        if gs.state == 'CANARY' then
          reached(G, 'GATE_STOP', f)
        elseif streak(G, 'gate', G.sGate, f, window) >= limGate then
          endStreak(G, 'gate', G.sGate, f)
          reached(G, 'GATE_STOP', f)
        end
      elseif streak(G, 'record', G.sRecord, f, window) >= limRecord then
        endStreak(G, 'record', G.sRecord, f)
        reached(G, 'GATE_STOP', f)
      end
    end
  end
end

local function settleFlown(s, note)
  local own = note ~= nil and not note.mark and note.inc == s.inc
  if s.outcome == 'LANDED' then return settleLanded(s, note, own) end
  if not known(as) then return 'U' end
  if not known(gs) then
    -- a gate missing under a lost airport: nothing to count against, except what
    -- is said of the airport itself
    if not isLost(as) then return 'U' end
    if s.outcome == 'AIRPORT_FAULT' then judge(s) end
    if own then redis.call('HDEL', K.flying, s.flight) end
    if s.gone then return 'G' end
    return 'N'
  end
  local delayedBefore = gs.delay_start > 0
  local died = s.outcome == 'DIED' or s.outcome == 'LEAKED'
  if not died then judge(s) end
  if own then
    redis.call('HDEL', K.flying, s.flight)
    if died then
      addDeath(s.flight, s.inc)
    elseif not noDeaths then
      redis.call('HDEL', K.deaths, s.flight)
    end
  end
  if s.gone then return 'G' end
  if not own then return 'N' end
  local answer = 'M'
  if s.outcome == 'AIRPORT_FAULT' or s.outcome == 'RATE_LIMIT' then
    if as.state ~= 'STOPPED' and as.throttled_until <= now then answer = 'O' end
  elseif s.outcome == 'TRANSIENT' and delayedBefore then
    answer = 'O'
  end
  carried(answer == 'M' and s.move or s.otherwise, s)
  return answer
end

-- A flight that did not fly passes the poison rules first: its note may be the
-- trace of a worker that died with it.
local function settleUnflown(s, note)
  if note and note.mark then return 'A' end
  local r = runFor(s)
  local books = r and loadRun(r)
  if books and s.seat < books.expected and seatAt(r, s.seat) == LANDED then return 'A' end
  if s.gone then return 'G' end
  if note and note.worker ~= caller then
    local isDead, leaving = dead(note.inc, inc)
    if not isDead then return 'H' end
    takeOver(s.flight, note, leaving)
  elseif note then
    redis.call('HDEL', K.flying, s.flight)
  end
  if s.outcome == 'POISON_PILL' then
    if not known(gs) then return 'U' end -- its incident needs a place
    if deathsOf(s.flight) < 2 then return 'H' end -- an operator has cleared it meanwhile
  end
  if s.outcome == 'MALFORMED' and known(as) and known(gs) then
    s.epG = gs.epoch
    if gs.state ~= 'STOPPED' then judge(s) end
  end
  if s.outcome == 'POISON_PILL' then convict(s) end
  carried(s.move, s)
  local n, entries = deathsOf(s.flight)
  if n > 0 then return 'M=' .. entries end
  return 'M'
end

-- left counts a flight whose delivery is acknowledged now, and whether it left for
-- good: what is held or deferred comes back.
local function left(s, answer)
  local a = string.sub(answer, 1, 1)
  if s.gone or not (a == 'M' or a == 'O' or a == 'A' or a == 'H') then return end
  ackedNow = ackedNow + 1
  if a == 'A' or SEAT_OF[string.sub(a == 'O' and s.otherwise or a == 'M' and s.move or '', 1, 1)] then doneNow = doneNow + 1 end
end

-- Pace: what left for good, by the minute, in fields of the gate's hash, and since
-- when it does so without a rest of minutes, and how many the first call had. Totals of
-- minutes tell how fast work goes whether it comes one by one or in bursts.
local PACE_MINUTES, PACE_REST = 16, 5

-- openMinute is for the first that leave in a minute: it clears away what is out of the
-- ring, and notices the end of a rest.
local function openMinute(minute, n)
  local last, old = 0, {}
  for _, f in ipairs(redis.call('HKEYS', G.key)) do
    local m = num(string.match(f, '^m:(%d+)$'))
    if m > 0 and m ~= minute then
      if m > minute or m <= minute - PACE_MINUTES then old[#old + 1] = f else last = math.max(last, m) end
    end
  end
  hdel(G.key, old)
  if last < minute - PACE_REST then redis.call('HSET', G.key, 'pace_from', str(now), 'pace_first', str(n), 'pace_early', '0') end
end

-- Minutes are too coarse for the first two after a rest. For these there is the first
-- burst besides, which is what left in five seconds: how many, and when the last of them
-- did. And when the last of all did.
local PACE_YOUNG, PACE_EARLY = 120000, 5000
local function keepYoungPace(n)
  local v = redis.call('HMGET', G.key, 'pace_from', 'pace_early')
  local age = now - num(v[1])
  if age < 0 or age > PACE_YOUNG then return end
  redis.call('HSET', G.key, 'pace_last', str(now))
  if age <= PACE_EARLY then redis.call('HSET', G.key, 'pace_early', str(num(v[2]) + n), 'pace_early_at', str(now)) end
end

local function keepPace(n)
  local minute = math.floor(now / 60000)
  if redis.call('HINCRBY', G.key, 'm:' .. str(minute), n) <= n then openMinute(minute, n) end
  keepYoungPace(n)
end

local FLOWN = { LANDED = true, FLIGHT_FAULT = true, GATE_FAULT = true, AIRPORT_FAULT = true, RATE_LIMIT = true,
  TRANSIENT = true, INTERNAL = true, DIED = true, LEAKED = true }

local answers = {}
if #settles > 0 then
  local ids = {}
  for i, s in ipairs(settles) do ids[i] = s.flight end
  local raw = hmget(K.flying, ids)
  local seenHere = {}
  for i, s in ipairs(settles) do
    local r = raw[i]
    if seenHere[s.flight] then r = redis.call('HGET', K.flying, s.flight) end
    seenHere[s.flight] = true
    local note = parseNote(r)
    if FLOWN[s.outcome] then
      answers[i] = settleFlown(s, note)
    else
      answers[i] = settleUnflown(s, note)
    end
    left(s, answers[i])
  end
  if gs then
    if landedNow > 0 then redis.call('HINCRBY', G.key, 'landed', landedNow) end
    if rejectedNow > 0 then redis.call('HINCRBY', G.key, 'rejected', rejectedNow) end
    if parkedNow > 0 then redis.call('HINCRBY', G.key, 'parked', parkedNow) end
    if ackedNow > 0 then redis.call('HINCRBY', G.key, 'acked', ackedNow) end
    if doneNow > 0 then keepPace(doneNow) end
  end
end

-- ------------------------------------------------- marks and notes to take away

local function removeWhere(ids, is)
  if #ids == 0 then return end
  local raw = hmget(K.flying, ids)
  local gone = {}
  for i, id in ipairs(ids) do
    local note = parseNote(raw[i])
    if note and is(note) then gone[#gone + 1] = id end
  end
  hdel(K.flying, gone)
end
removeWhere(marks, function(n) return n.mark and n.own and n.worker == caller end)
removeWhere(returns, function(n) return not n.mark and n.worker == caller end)

-- ----------------------------------------------------------------- clearances

local cleared = {}
local start = now
if #clears > 0 then
  local ids = {}
  for i, c in ipairs(clears) do ids[i] = c.flight end
  local raw = hmget(K.flying, ids)
  local notes = {}
  for i = 1, #clears do notes[i] = parseNote(raw[i]) end

  -- what is true of all of them
  local all = nil
  local beat = parseBeat(redis.call('HGET', K.beats, inc))
  if not known(as) then all = 'unknown'
  elseif as.state == 'STOPPED' or as.paused == '1' then all = 'stopped'
  elseif not known(gs) then all = 'unknown'
  elseif as.throttled_until > now and as.throttled_until - now <= math.max(MAX_RETRY_AFTER, as.slots_per) then all = 'throttled ' .. str(as.throttled_until)
  elseif gs.state == 'STOPPED' and gs.lost == '1' then all = 'gate-stays'
  elseif gs.state == 'STOPPED' then all = 'gate-stopped'
  elseif gs.paused == '1' then all = 'gate-stays'
  elseif not alive(beat) then all = 'lapsed'
  end

  local want, gone = {}, {}
  local function refuse(i, answer)
    cleared[i] = answer
    local n = notes[i]
    if n and not n.mark and n.worker == caller then gone[#gone + 1] = clears[i].flight end
  end
  -- a delayed gate flies one probe at a time; a probe further off than the longest
  -- step was set before the clock was set back
  local delayed = not all and gs.delay_start > 0
  local due = delayed and (gs.delay_probe <= now or gs.delay_probe - now > longest)
  local probe = nil
  -- the solo lease: one process an airport flies suspects; it is free when its holder
  -- is dead
  local function leased()
    local holder = redis.call('GET', K.solo)
    if holder and workerOf(holder) ~= caller and not dead(holder, inc) then return false end
    if holder ~= inc then redis.call('SET', K.solo, inc) end
    return true
  end
  for i, c in ipairs(clears) do
    local n = notes[i]
    local mine = n and not n.mark and n.worker == caller
    if all then
      refuse(i, all)
    elseif delayed and not due and not (mine and n.start >= gs.delay_start) then
      refuse(i, 'wait ' .. str(gs.delay_probe))
    elseif n and n.mark then
      cleared[i] = 'landed'
    elseif c.run ~= '' and not loadRun(runFor(c)) then
      refuse(i, 'charter-lost')
    elseif c.run ~= '' and c.seat >= runFor(c).s.expected then
      refuse(i, 'malformed')
    elseif c.run ~= '' and seatAt(runFor(c), c.seat) == LANDED then
      refuse(i, 'landed')
    elseif c.run ~= '' and runFor(c).s.state == 'ABORTED' then
      refuse(i, 'aborted')
    else
      local free = true
      if n and not mine then
        local isDead, leaving = dead(n.inc, inc)
        if isDead then
          takeOver(c.flight, n, leaving)
          notes[i] = nil
        else
          cleared[i] = 'held'
          free = false
        end
      end
      if free then
        local deaths = deathsOf(c.flight)
        if deaths >= 2 then
          refuse(i, 'convicted')
        elseif deaths == 1 and not leased() then
          refuse(i, 'suspect')
        elseif deaths == 1 and not c.alone then
          refuse(i, 'solo')
        else
          want[#want + 1] = i
        end
      end
    end
  end
  if due then
    local rest = {}
    for _, i in ipairs(want) do
      local n = notes[i]
      if n and n.start >= gs.delay_start then
        rest[#rest + 1] = i -- the probe before, asked for again
      elseif not probe then
        probe = i
        rest[#rest + 1] = i
      else
        refuse(i, 'wait ' .. str(now + steps[math.min(gs.delay_n + 2, #steps)]))
      end
    end
    want = rest
  end

  -- canary tokens of airport and gate
  local tokA, tokG = {}, {}
  if #want > 0 and (as.state == 'CANARY' or gs.state == 'CANARY') then
    local freeA = as.state == 'CANARY' and freeTokens(A, false) or math.huge
    local freeG = gs.state == 'CANARY' and freeTokens(G, true) or math.huge
    local rest = {}
    for _, i in ipairs(want) do
      local n = notes[i]
      -- a token kept by an incarnation that lapsed is free, and may be taken by now
      if n and (n.tokA > 0 or n.tokG > 0) and n.inc ~= inc and not alive(parseBeat(redis.call('HGET', K.beats, n.inc))) then n = nil end
      local hasA = n and n.tokA == as.fence
      local hasG = n and n.tokG == gs.fence
      if (hasA or freeA > 0) and (hasG or freeG > 0) then
        if not hasA then freeA = freeA - 1 end
        if not hasG then freeG = freeG - 1 end
        if as.state == 'CANARY' then tokA[i] = as.fence end
        if gs.state == 'CANARY' then tokG[i] = gs.fence end
        rest[#rest + 1] = i
      else
        refuse(i, 'wait ' .. str(now + 1000))
      end
    end
    want = rest
  end

  -- slots, shared by all gates of the airport
  if #want > 0 then
    local n, per = as.slots_n, as.slots_per
    if cfgStamp > as.slots_stamp then n, per = cfgN, cfgPer end
    if n > 0 then
      local others, keep = othersRefused(G.id, per)
      local most = math.huge
      if others > 0 then most = math.max(1, math.floor(n / (1 + others))) end
      -- requests that fly in one call share its slot
      local nth, need = {}, 0
      local shared = {}
      for j, i in ipairs(want) do
        local with = clears[i].slot
        if with > 0 and shared[with] then
          nth[j] = shared[with]
        else
          need = need + 1
          nth[j] = need
          if with > 0 then shared[with] = need end
        end
      end
      local got, again = takeSlots(need, most, n, per)
      if got < need then noteRefused(G.id, keep) end
      local rest = {}
      for j, i in ipairs(want) do
        if nth[j] <= got then rest[#rest + 1] = i else refuse(i, 'wait ' .. str(again)) end
      end
      want = rest
    end
  end
  if cfgStamp > (as and as.slots_stamp or math.huge) then
    put(A.key, as, { slots_n = cfgN, slots_per = cfgPer, slots_stamp = cfgStamp })
  end

  if probe and not cleared[probe] then
    local n = gs.delay_n + 1
    put(G.key, gs, { delay_n = n, delay_probe = now + steps[math.min(n + 1, #steps)] })
  end

  if #want > 0 then
    -- after whatever throttle or delay there was, even where the clock was set back
    start = math.max(now, as.epoch, gs.epoch, as.throttled_since + 1, gs.delay_start)
    local tail = ' ' .. str(start) .. ' ' .. str(as.epoch) .. ' ' .. str(gs.epoch) .. ' '
    local set = {}
    for _, i in ipairs(want) do
      cleared[i] = 'cleared'
      set[#set + 1] = clears[i].flight
      set[#set + 1] = 'N ' .. inc .. tail .. str(tokA[i] or 0) .. ' ' .. str(tokG[i] or 0) .. ' ' .. G.id
    end
    hset(K.flying, set)
  end
  hdel(K.flying, gone)
end

closeBooks()
redis.call('HSET', K.replies, lane, str(seq) .. ' ' .. table.concat(answers, ' '))
tell()
return { head(), str(start), answers, cleared }
