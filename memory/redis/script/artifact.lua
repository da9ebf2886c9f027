-- Keeps an artifact of a run.
-- KEYS 1 run, 2 artifacts
-- ARGV 1 hash, 2 data
-- Returns 0 where there is no such run, else 1.
if redis.call('EXISTS', KEYS[1]) == 0 then
  return 0
end
redis.call('HSETNX', KEYS[2], ARGV[1], ARGV[2])
return 1
