-- Keeps a run's snapshot unless a newer one is kept.
-- KEYS 1 run, 2 snapshot
-- ARGV 1 seq, 2 data
-- Returns 0 where there is no such run, else 1.
if redis.call('EXISTS', KEYS[1]) == 0 then
  return 0
end
local kept = redis.call('HGET', KEYS[2], 'seq')
if not kept or tonumber(kept) < tonumber(ARGV[1]) then
  redis.call('HSET', KEYS[2], 'seq', ARGV[1], 'data', ARGV[2])
end
return 1
