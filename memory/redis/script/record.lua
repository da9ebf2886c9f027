-- Writes records, each where its condition holds.
-- KEYS 1 data, 2 order
-- ARGV for each record: id, the seq that it replaces (0: none, "any"), data ("": remove it)
-- Returns for each 1 where it was written, else 0.
local newest = redis.call('ZRANGE', KEYS[2], -1, -1, 'WITHSCORES')
local seq = newest[2] and tonumber(newest[2]) or 0
local done = {}
for i = 1, #ARGV, 3 do
  local id, seen, data = ARGV[i], ARGV[i + 1], ARGV[i + 2]
  local old = redis.call('ZSCORE', KEYS[2], id)
  if seen == 'any' or tonumber(seen) == (old and tonumber(old) or 0) then
    seq = seq + 1
    redis.call('ZADD', KEYS[2], seq, id)
    if data == '' then
      redis.call('HDEL', KEYS[1], id)
    else
      redis.call('HSET', KEYS[1], id, data)
    end
    done[#done + 1] = 1
  else
    done[#done + 1] = 0
  end
end
return done
