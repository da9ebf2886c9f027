-- Writes one commit, all of it or nothing.
-- KEYS 1 due, 2 run, 3 journal, 4 idle; then those that the letters ask for:
--      r runs, f attempt, e ended, a alive, n names; then the once-keys; then
--      one counter's key for each spend. (Each key costs time: the letters
--      leave out what a common commit doesn't touch.)
-- ARGV 1 run id, 2 attempt id, 3 strand ("": a fact), 4 epoch, 5 turn, 6 seen:
--      "SEQ", or "SEQ AT" where the entry at SEQ must have that stamp,
--      7 lease, 8 letters: s strict, r the run may be new, f a fact, e ends the
--      run, a stamp alive, n set names, q ask only whether the commit would be
--      written,
--      9 number of events, 10 of wake-ups, 11 of once-keys, 12 of spends;
--      then for each event: its line from ,"strand": on;
--      for each wake-up: strand, time ("-": parked);
--      for each spend: field ("": the key itself), amount, limit (0: none);
--      for each name to set: name, value
-- Returns { "ok", seq, at, stamp of the newest entry before (0: none) } (an
-- attempt that was accepted before: { "ok", seq, at }), { "lost" }, { "conflict" }, { "stale" }, { "seen" },
-- { "budget", place of the spend from 0 }, { "fits" } to a question, or
-- { "empty" } where the run is new and no letter said that it may be.
local run, id, own = ARGV[1], ARGV[2], ARGV[3]
local seen, seenAt = string.match(ARGV[6], '^(%d+) ?(%d*)$')
local letters = ARGV[8]
seen = tonumber(seen)
local events, wakes, onces, spends = tonumber(ARGV[9]), tonumber(ARGV[10]), tonumber(ARGV[11]), tonumber(ARGV[12])
local now = clock()
local keys = 4
local function key(letter)
  if letters ~= '' and string.find(letters, letter) then
    keys = keys + 1
    return KEYS[keys]
  end
end
local runsKey, attemptKey, endedKey, aliveKey, namesKey = key('r'), key('f'), key('e'), key('a'), key('n')
local ends = endedKey ~= nil
local LIVE = string.sub(KEYS[1], 1, -4) .. 'live' -- "live" stands for "due"

local stored = redis.call('HMGET', KEYS[2], 'head', 'ended', 'watched', 'strand:' .. own)
local length, at, newest = 0, now, '0'
if stored[1] then
  local seq
  seq, newest = string.match(stored[1], '^(%d+) (%d+)$')
  length, at = tonumber(seq), math.max(now, tonumber(newest))
end

-- The attempt, before anything else.
local epoch, turn, leased, last
if own == '' then
  last = redis.call('GET', attemptKey)
  if last then
    local seq, stamped = string.match(last, '^(%d+) (%d+)$')
    return { 'ok', tonumber(seq), tonumber(stamped) }
  end
else
  if not stored[4] then
    return { 'conflict' }
  end
  epoch, turn, leased, last = read(stored[4])
  local taken = tonumber(ARGV[5])
  if turn == taken + 1 then
    local seq, stamped, attempt = string.match(last, '^(%d+) (%d+) (.*)$')
    if attempt == id then
      return { 'ok', tonumber(seq), tonumber(stamped) }
    end
  end
  if not leased or turn ~= taken or epoch ~= tonumber(ARGV[4]) then
    return { 'conflict' }
  end
end
-- An entry's seq and stamp stand for all before it.
if seenAt ~= '' then
  local there = length == seen and newest
  if length > seen then
    there = string.match(redis.call('LINDEX', KEYS[3], seen - 1) or '', '^{"seq":%d+,"at":(%d+)')
  end
  if there ~= seenAt then
    return { 'lost' }
  end
end
if length > seen and string.find(letters, 's') then
  return { 'stale' }
end
if length == 0 and events > 0 and not runsKey then
  return { 'empty' }
end
if onces > 0 and redis.call('EXISTS', unpack(KEYS, keys + 1, keys + onces)) > 0 then
  return { 'seen' }
end
local firstWake = 13 + events
local firstSpend = firstWake + 2 * wakes
if spends > 0 then
  local sums = {}
  for i = 0, spends - 1 do
    local key, p = KEYS[keys + 1 + onces + i], firstSpend + 3 * i
    local field, amount = ARGV[p], ARGV[p + 1]
    local name = key .. ' ' .. field
    local sum = sums[name] or { parts(value(key, field)) }
    sum[1], sum[2] = add(sum[1], sum[2], amount)
    if over(sum[1], sum[2], amount, ARGV[p + 2]) then
      return { 'budget', i }
    end
    sums[name] = sum
  end
end
if string.find(letters, 'q') then
  return { 'fits' }
end

-- From here on everything is written.
if aliveKey then
  stamp(aliveKey, now, tonumber(ARGV[7]))
end
local stamped = int(at)
local fields, n = {}, 0 -- of the run's hash: name, value, name, …
local news = length > seen
if events > 0 then
  if length == 0 then
    fields[1], fields[2], n = 'started', stamped, 2
    redis.call('ZADD', runsKey, stamped, run)
    redis.call('ZADD', LIVE, stamped, run)
  end
  local lines = { 'RPUSH', KEYS[3] }
  local middle = ',"at":' .. stamped
  for i = 1, events do
    lines[2 + i] = '{"seq":' .. (length + i) .. middle .. ARGV[12 + i]
  end
  redis.call(unpack(lines))
  length = length + events
  fields[n + 1], fields[n + 2], n = 'head', length .. ' ' .. stamped, n + 2
  if stored[3] then
    redis.call('HDEL', KEYS[2], 'watched')
    redis.call('PUBLISH', BELL, run)
  end
end
local ended = stored[2] or ends
if ends and not stored[2] then
  fields[n + 1], fields[n + 2], n = 'ended', stamped, n + 2
  redis.call('ZADD', endedKey, stamped, run)
  redis.call('ZREM', LIVE, run)
end

local soonest, release
for i = firstWake, firstSpend - 1, 2 do
  local strand, due = ARGV[i], ARGV[i + 1]
  if strand == own then
    release = due
  elseif due ~= '-' and (not ended or strand == 'voice') then
    local packed = redis.call('HGET', KEYS[2], 'strand:' .. strand)
    local held = false
    if packed then
      local _
      _, _, held = read(packed)
    else
      fields[n + 1], fields[n + 2], n = 'strand:' .. strand, '0 0 0 0 0 ', n + 2
    end
    if not held then
      local score = math.max(tonumber(due), now)
      redis.call('ZADD', KEYS[1], 'LT', int(score), run .. '/' .. strand)
      soonest = math.min(soonest or score, score)
    end
  end
end

if own ~= '' then
  local score -- nil: off the clock
  leased = false
  if ended and own ~= 'voice' then
    score = nil
  elseif not release then
    leased, score = true, now + tonumber(ARGV[7])
  elseif news then
    score = now
  elseif release ~= '-' then
    score = math.max(tonumber(release), now)
  end
  if score then
    redis.call('ZADD', KEYS[1], int(score), run .. '/' .. own)
    if not leased then
      soonest = math.min(soonest or score, score)
    end
  else
    redis.call('ZREM', KEYS[1], run .. '/' .. own)
  end
  local receipt = length .. ' ' .. stamped .. ' ' .. id
  fields[n + 1], fields[n + 2], n = 'strand:' .. own, pack(epoch, turn + 1, leased, receipt), n + 2
else
  redis.call('SET', attemptKey, length .. ' ' .. stamped, 'EX', ATTEMPT_TTL)
end
if ends then
  for _, field in ipairs(redis.call('HKEYS', KEYS[2])) do
    local name = string.match(field, '^strand:(.*)$')
    if name and name ~= 'voice' and name ~= own then
      local e, t, _, l = read(redis.call('HGET', KEYS[2], field))
      fields[n + 1], fields[n + 2], n = field, pack(e, t, false, l), n + 2
      redis.call('ZREM', KEYS[1], run .. '/' .. name)
    end
  end
end
if n > 0 then
  redis.call('HSET', KEYS[2], unpack(fields))
end

for i = 1, onces do
  redis.call('SET', KEYS[keys + i], id, 'EX', ONCE_TTL)
end
for i = 0, spends - 1 do
  local p = firstSpend + 3 * i
  spend(KEYS[keys + 1 + onces + i], ARGV[p], ARGV[p + 1])
end
if namesKey then
  setAll(namesKey, firstSpend + 3 * spends)
end
if soonest and soonest <= now + POLL then
  ring(KEYS[4])
end
return { 'ok', length, at, tonumber(newest) }
