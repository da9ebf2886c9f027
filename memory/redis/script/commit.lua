-- Writes one commit, all of it or nothing: Redis does not undo what a script
-- wrote before an error. So everything is checked and worked out in the first
-- half, nothing in the second half can fail, and what listeners are told comes
-- last, in a call whose failure is none of the commit's.
-- KEYS 1 due, 2 run, 3 journal, 4 idle; then those that the letters ask for:
--      r runs, f attempt, e ended, a alive, n names; then the once-keys; then
--      one counter's key for each spend. (Each key costs time: the letters
--      leave out what a common commit doesn't touch.)
-- ARGV 1 run id, 2 attempt id, 3 strand ("": a fact), 4 epoch, 5 turn, 6 seen:
--      "SEQ", "SEQ AT" where the entry at SEQ must have that stamp, or "*" for
--      whatever there is,
--      7 lease, 8 letters: s strict, r starts the run where it is new, f a
--      fact, e ends the run, a stamp alive, n set names, w tell those who await
--      a word, q ask only whether the commit would be written, a number: the generation of builds that its
--      events need,
--      9 number of events, 10 of wake-ups, 11 of once-keys, 12 of spends;
--      then for each event: its line from ,"strand": on;
--      for each wake-up: strand, time ("-": parked);
--      for each spend: field ("": the key itself), amount, limit (0: none);
--      for each name to set: name, value
-- Returns { "ok", seq, at, stamp of the newest entry before (0: none) } (an
-- attempt that was accepted before: { "ok", seq, at }), { "lost" }, { "conflict" }, { "stale" },
-- { "seen" or "held", place of the once-key from 0 }, { "busy" } for an attempt that was made void,
-- { "budget", place of the spend from 0 }, { "fits" } to a question,
-- { "empty" } where there is no such run and the commit starts none, or
-- { "damaged", entries, length } where the journal has fewer entries than its
-- head says.
local run, id, own = ARGV[1], ARGV[2], ARGV[3]
local seen, seenAt = tonumber(string.match(ARGV[6], '^%d+')), string.match(ARGV[6], ' (%d+)$')
local letters = ARGV[8]
local events, wakes, onces, spends = tonumber(ARGV[9]), tonumber(ARGV[10]), tonumber(ARGV[11]), tonumber(ARGV[12])
local now = clock(KEYS[4])
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
  if last == 'void' then
    return { 'busy' }
  elseif last then
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
  if attemptKey and redis.call('GET', attemptKey) == 'void' then
    return { 'busy' }
  end
end
-- An entry's seq and stamp stand for all before it.
if seenAt then
  local there = length == seen and newest
  if length > seen then
    there = string.match(redis.call('LINDEX', KEYS[3], seen - 1) or '', '^{"seq":%d+,"at":(%d+)')
  end
  if there ~= seenAt then
    return { 'lost' }
  end
end
local news = seen and length ~= seen
if news and string.find(letters, 's') then
  return { 'stale' }
end
if length == 0 and run ~= '' and not runsKey then
  return { 'empty' }
end
local entries = length
if events > 0 then
  entries = redis.call('LLEN', KEYS[3])
  if entries < length then
    return { 'damaged', entries, length }
  end
end
for i = 1, onces do
  local holder = redis.call('GET', KEYS[keys + i])
  if holder then
    return { string.sub(holder, 1, 5) == 'held ' and 'held' or 'seen', i - 1 }
  end
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

-- What is written: fields of the run's hash (name, value, name, …), scores of
-- strands in due, strands that leave it, and lines of the journal.
local stamped = int(at)
local lines, fields, scores, gone = {}, {}, {}, {}
local starts = events > 0 and length == 0
if events > 0 then
  local middle = ',"at":' .. stamped
  for i = 1, events do
    lines[i] = '{"seq":' .. (length + i) .. middle .. ARGV[12 + i]
  end
end
local orphans = entries > length -- of a commit that broke off half written
local kept = length
length = length + events
local n = 0
local function field(name, value)
  fields[n + 1], fields[n + 2], n = name, value, n + 2
end
if starts then
  field('started', stamped)
end
local needs = tonumber(string.match(letters, '%d+'))
if needs and needs > tonumber(redis.call('HGET', KEYS[2], 'needs') or 0) then
  field('needs', int(needs))
end
if events > 0 then
  field('head', length .. ' ' .. stamped)
end
local ended = stored[2] or ends
if ends and not stored[2] then
  field('ended', stamped)
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
      field('strand:' .. strand, '0 0 0 0 0 ')
    end
    if not held then
      local score = math.max(tonumber(due), now)
      scores[#scores + 1], scores[#scores + 2] = int(score), run .. '/' .. strand
      soonest = math.min(soonest or score, score)
    end
  end
end

local ownScore -- nil: off the clock
if own ~= '' then
  leased = false
  if not ended or own == 'voice' then
    if not release then
      leased, ownScore = true, now + tonumber(ARGV[7])
    elseif news then
      ownScore = now
    elseif release ~= '-' then
      ownScore = math.max(tonumber(release), now)
    end
  end
  if ownScore and not leased then
    soonest = math.min(soonest or ownScore, ownScore)
  end
  field('strand:' .. own, pack(epoch, turn + 1, leased, length .. ' ' .. stamped .. ' ' .. id))
end
if ends then
  for _, name in ipairs(redis.call('HKEYS', KEYS[2])) do
    local strand = string.match(name, '^strand:(.*)$')
    if strand and strand ~= 'voice' and strand ~= own then
      local e, t, _, l = read(redis.call('HGET', KEYS[2], name))
      field(name, pack(e, t, false, l))
      gone[#gone + 1] = run .. '/' .. strand
    end
  end
end
-- A key of another type is an error of its first call: here, where nothing is
-- written yet. (What is due comes first of what is written.)
local function sorted(set)
  if set then
    redis.call('ZCARD', set)
  end
end
sorted((starts or ends) and LIVE)
sorted(runsKey)
sorted(endedKey)
sorted(namesKey)
sorted(own ~= '' and not ownScore and KEYS[1])

-- From here on everything is written.
if aliveKey then
  stamp(aliveKey, now, tonumber(ARGV[7]))
end
for i = 1, #scores, 2 do
  redis.call('ZADD', KEYS[1], 'LT', scores[i], scores[i + 1])
end
if ownScore then
  redis.call('ZADD', KEYS[1], int(ownScore), run .. '/' .. own)
end
if events > 0 then
  if orphans and kept == 0 then
    redis.call('DEL', KEYS[3])
  elseif orphans then
    redis.call('LTRIM', KEYS[3], 0, kept - 1)
  end
  chunked('RPUSH', KEYS[3], lines)
end
if n > 0 then
  chunked('HSET', KEYS[2], fields)
end
if starts then
  redis.call('ZADD', runsKey, stamped, run)
  redis.call('ZADD', LIVE, stamped, run)
end
if ends and not stored[2] then
  redis.call('ZADD', endedKey, stamped, run)
  redis.call('ZREM', LIVE, run)
end
chunked('ZREM', KEYS[1], gone)
if own ~= '' then
  if not ownScore then
    redis.call('ZREM', KEYS[1], run .. '/' .. own)
  end
end
if attemptKey then
  redis.call('SET', attemptKey, length .. ' ' .. stamped, 'EX', string.find(letters, 'h') and ONCE_TTL or ATTEMPT_TTL)
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
if stored[3] and events > 0 then
  redis.call('HDEL', KEYS[2], 'watched')
  tell(run)
end
if string.find(letters, 'w') then
  tell(WORD .. run)
end
if soonest and soonest <= now + POLL then
  ring(KEYS[4])
end
return { 'ok', length, at, tonumber(newest) }
