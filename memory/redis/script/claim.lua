-- Claims due strands of one or more shards.
-- KEYS 1 idle; then for each shard: due, alive
-- ARGV 1 how many at most (0: only look), 2 lease, 3 "1" to stamp alive;
--      then for each shard: the prefix of its runs' keys
-- Returns { now, µs until the next is due (-1: not known), run, strand, epoch,
-- turn, run, strand, … }. Where it takes fewer than asked for, it leaves word
-- at idle that somebody waits.
local now = clock()
local left, lease = tonumber(ARGV[1]), tonumber(ARGV[2])
local got, soonest = { now, -1 }, nil

local function claim(due, alive, prefix)
  while left > 0 do
    local found = redis.call('ZRANGEBYSCORE', due, '-inf', int(now), 'WITHSCORES', 'LIMIT', 0, left)
    if #found == 0 then
      return
    end
    for i = 1, #found, 2 do
      local run, strand = string.match(found[i], '^([^/]*)/(.*)$')
      local s = take(due, tonumber(found[i + 1]), found[i], prefix .. run, 'strand:' .. strand, alive, now, lease)
      if s then
        left = left - 1
        local n = #got
        got[n + 1], got[n + 2], got[n + 3], got[n + 4] = run, strand, s.epoch, s.turn
      end
    end
  end
end

local wanted = left
for i = 2, #KEYS, 2 do
  local due, alive = KEYS[i], KEYS[i + 1]
  if ARGV[3] == '1' then
    stamp(alive, now, lease)
  end
  if left > 0 or wanted == 0 then
    local first = redis.call('ZRANGE', due, 0, 0, 'WITHSCORES')
    if #first > 0 and tonumber(first[2]) <= now and left > 0 then
      claim(due, alive, ARGV[3 + i / 2])
      first = redis.call('ZRANGE', due, 0, 0, 'WITHSCORES')
    end
    if #first > 0 then
      local at = tonumber(first[2])
      soonest = math.min(soonest or at, at)
    end
  end
end
if left > 0 or wanted == 0 then
  redis.call('SET', KEYS[1], '1')
end
if soonest then
  got[2] = math.max(soonest - now, 0)
end
return got
