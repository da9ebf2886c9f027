-- Reserves a once-key for a commit (Cluster only: there the key and the run
-- are in different slots).
-- KEYS 1 once-key
-- ARGV 1 attempt id, 2 seconds that an unconfirmed reservation is kept
-- Returns 0 where another attempt has the key, 1 where this one had it, 2 where it has it now.
local holder = redis.call('GET', KEYS[1])
if holder then
  return holder == ARGV[1] and 1 or 0
end
redis.call('SET', KEYS[1], ARGV[1], 'EX', ARGV[2])
return 2
