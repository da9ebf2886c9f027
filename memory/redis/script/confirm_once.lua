-- Marks a once-key as used whose holder's commit was written.
-- KEYS 1 once-key
-- ARGV 1 "held " and the key of the attempt, 2 the new value, 3 seconds that
--      it is kept
-- Returns 1 where it was still held, else 0.
if redis.call('GET', KEYS[1]) == ARGV[1] then
  redis.call('SET', KEYS[1], ARGV[2], 'EX', ARGV[3])
  return 1
end
return 0
