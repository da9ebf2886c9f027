-- Reserves an amount on a counter for a commit (Cluster only).
-- KEYS 1 counter, 2 reservation
-- ARGV 1 field ("": the key itself), 2 amount, 3 limit (0: none), 4 seconds that the reservation is known
-- Returns 0 over the limit, 1 where it was reserved before, 2 where it is now.
if redis.call('EXISTS', KEYS[2]) == 1 then
  return 1
end
local high, low = parts(value(KEYS[1], ARGV[1]))
high, low = add(high, low, ARGV[2])
if over(high, low, ARGV[2], ARGV[3]) then
  return 0
end
spend(KEYS[1], ARGV[1], ARGV[2])
redis.call('SET', KEYS[2], ARGV[2], 'EX', ARGV[4])
return 2
