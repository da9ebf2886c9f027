-- Reads records in the order of their last writes.
-- KEYS 1 data, 2 order
-- ARGV 1 the seq after which, 2 how many at most
-- Returns the newest seq, the number of records, and for each its id, seq and
-- data (false where it was removed).
local newest = redis.call('ZRANGE', KEYS[2], -1, -1, 'WITHSCORES')
local found = redis.call('ZRANGEBYSCORE', KEYS[2], '(' .. ARGV[1], '+inf', 'WITHSCORES', 'LIMIT', 0, ARGV[2])
local reply = { newest[2] or '0', redis.call('HLEN', KEYS[1]) }
for i = 1, #found, 2 do
  reply[#reply + 1] = found[i]
  reply[#reply + 1] = found[i + 1]
  reply[#reply + 1] = redis.call('HGET', KEYS[1], found[i])
end
return reply
