-- Writes one commit, all of it or nothing.
-- KEYS 1 due, 2 run, 3 journal, 4 runs, 5 ended, 6 attempt, 7 alive, 8 idle,
--      9 watch; then the once-keys; then one counter's key for each spend
-- ARGV 1 run id, 2 attempt id, 3 strand ("": a fact), 4 epoch, 5 turn, 6 seen,
--      7 "1" strict, 8 "1" ends the run, 9 lease, 10 "1" to stamp alive,
--      11 the bell's channel, 12 how near a due time must be to ring (µs),
--      13 seconds that a once-key is kept, 14 seconds that a fact's attempt is kept,
--      15 "1" to ask only whether attempt, lease and strictness allow the commit,
--      16 number of events, 17 of wake-ups, 18 of once-keys, 19 of spends;
--      then for each event: its line from ,"strand": on;
--      for each wake-up: strand, time ("-": parked);
--      for each spend: field ("": the key itself), amount, limit (0: none)
-- Returns { "ok", seq, at }, { "conflict" }, { "stale" }, { "seen" },
-- { "budget", place of the spend from 0 }, or { "fits" } to a question.
local id, own = ARGV[2], ARGV[3]
local seen, ends, lease = tonumber(ARGV[6]), ARGV[8] == '1', tonumber(ARGV[9])
local events, wakes, onces, spends = tonumber(ARGV[16]), tonumber(ARGV[17]), tonumber(ARGV[18]), tonumber(ARGV[19])
local now = clock()

local stored = redis.call('HMGET', KEYS[2], 'head', 'ended', 'strand:' .. own)
local length, at = 0, now
if stored[1] then
  local seq, last = string.match(stored[1], '^(%d+) (%d+)$')
  length, at = tonumber(seq), math.max(now, tonumber(last))
end

-- The attempt, before anything else.
local mine
if own ~= '' then
  mine = stored[3] and read(stored[3])
  local turn = tonumber(ARGV[5])
  if mine and mine.attempt == id and mine.turn == turn + 1 then
    return { 'ok', tonumber(mine.seq), tonumber(mine.at) }
  end
  if not mine or not mine.leased or mine.epoch ~= tonumber(ARGV[4]) or mine.turn ~= turn then
    return { 'conflict' }
  end
else
  local first = redis.call('GET', KEYS[6])
  if first then
    local seq, then_ = string.match(first, '^(%d+) (%d+)$')
    return { 'ok', tonumber(seq), tonumber(then_) }
  end
end
if ARGV[7] == '1' and length > seen then
  return { 'stale' }
end
if ARGV[15] == '1' then
  return { 'fits' }
end
if onces > 0 and redis.call('EXISTS', unpack(KEYS, 10, 9 + onces)) > 0 then
  return { 'seen' }
end
local firstWake = 20 + events
local firstSpend = firstWake + 2 * wakes
local sums = {}
for i = 0, spends - 1 do
  local key, p = KEYS[10 + onces + i], firstSpend + 3 * i
  local field, amount = ARGV[p], ARGV[p + 1]
  local name = key .. ' ' .. field
  local sum = sums[name] or { parts(value(key, field)) }
  sum[1], sum[2] = add(sum[1], sum[2], amount)
  if over(sum[1], sum[2], amount, ARGV[p + 2]) then
    return { 'budget', i }
  end
  sums[name] = sum
end

-- From here on everything is written.
if ARGV[10] == '1' then
  stamp(KEYS[7], now, lease)
end
local stampText = int(at)
local fields = {}
local function set(field, v)
  fields[#fields + 1] = field
  fields[#fields + 1] = v
end

if events > 0 then
  if length == 0 then
    set('started', stampText)
    redis.call('ZADD', KEYS[4], stampText, ARGV[1])
  end
  for i = 1, events do
    length = length + 1
    redis.call('RPUSH', KEYS[3], '{"seq":' .. int(length) .. ',"at":' .. stampText .. ARGV[19 + i])
  end
  set('head', int(length) .. ' ' .. stampText)
  if redis.call('DEL', KEYS[9]) == 1 then
    redis.call('PUBLISH', ARGV[11], ARGV[1])
  end
end
local ended = stored[2] or ends
if ends and not stored[2] then
  set('ended', stampText)
  redis.call('ZADD', KEYS[5], stampText, ARGV[1])
end

local soonest, release
local function wake(strand, due)
  redis.call('ZADD', KEYS[1], 'LT', int(due), ARGV[1] .. '/' .. strand)
  soonest = math.min(soonest or due, due)
end
for i = 0, wakes - 1 do
  local strand, due = ARGV[firstWake + 2 * i], ARGV[firstWake + 2 * i + 1]
  if strand == own then
    release = due
  elseif due ~= '-' and (not ended or strand == 'voice') then
    local packed = redis.call('HGET', KEYS[2], 'strand:' .. strand)
    if not packed then
      set('strand:' .. strand, '0 0 0 0 0 ')
    end
    if not packed or not read(packed).leased then
      wake(strand, math.max(tonumber(due), now))
    end
  end
end

if mine then
  mine.turn, mine.seq, mine.at, mine.attempt = mine.turn + 1, int(length), stampText, id
  local name = ARGV[1] .. '/' .. own
  if ended and own ~= 'voice' then
    mine.leased = false
    redis.call('ZREM', KEYS[1], name)
  elseif not release then
    redis.call('ZADD', KEYS[1], int(now + lease), name)
  else
    mine.leased = false
    redis.call('ZREM', KEYS[1], name)
    if length - events > seen then
      wake(own, now)
    elseif release ~= '-' then
      wake(own, math.max(tonumber(release), now))
    end
  end
  set('strand:' .. own, pack(mine))
end
if ends then
  for _, field in ipairs(redis.call('HKEYS', KEYS[2])) do
    local name = string.match(field, '^strand:(.*)$')
    if name and name ~= 'voice' and name ~= own then
      local s = read(redis.call('HGET', KEYS[2], field))
      s.leased = false
      set(field, pack(s))
      redis.call('ZREM', KEYS[1], ARGV[1] .. '/' .. name)
    end
  end
end
if #fields > 0 then
  redis.call('HSET', KEYS[2], unpack(fields))
end

for i = 1, onces do
  redis.call('SET', KEYS[9 + i], id, 'EX', ARGV[13])
end
for i = 0, spends - 1 do
  local p = firstSpend + 3 * i
  spend(KEYS[10 + onces + i], ARGV[p], ARGV[p + 1])
end
if not mine then
  redis.call('SET', KEYS[6], int(length) .. ' ' .. stampText, 'EX', ARGV[14])
end
if soonest and soonest <= now + tonumber(ARGV[12]) then
  ring(KEYS[8], ARGV[11])
end
return { 'ok', length, at }
