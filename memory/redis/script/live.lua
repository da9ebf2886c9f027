-- Lists the live runs of one or more shards, the newest first.
-- KEYS for each shard: runs, ended, live
-- ARGV 1 how many of each shard at most (0: all, -1: only count)
-- Returns for each shard: how many there are, and a list of run, start, run, …
--
-- Live is what runs has and ended has not. A replica of a build that does not
-- know the key starts and ends runs without it: whatever does not add up is
-- made anew.
local most = tonumber(ARGV[1])
local found = {}
for i = 1, #KEYS, 3 do
  local runs, ended, live = KEYS[i], KEYS[i + 1], KEYS[i + 2]
  if redis.call('ZCARD', runs) ~= redis.call('ZCARD', ended) + redis.call('ZCARD', live)
    or redis.call('ZINTERCARD', 2, live, ended, 'LIMIT', 1) > 0 then
    redis.call('ZDIFFSTORE', live, 2, runs, ended)
  end
  found[#found + 1] = redis.call('ZCARD', live)
  found[#found + 1] = most < 0 and {} or redis.call('ZRANGE', live, 0, most - 1, 'REV', 'WITHSCORES')
end
return found
