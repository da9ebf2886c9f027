-- Reserves a once-key for a commit of another shard (Cluster only).
-- KEYS 1 once-key
-- ARGV 1 "held " and the key of the attempt, 2 attempt id, 3 seconds that the
--      key is kept
-- Returns "used" where the key was used, "held" where another attempt holds
-- it, 1 where this one had it, 2 where it has it now.
local holder = redis.call('GET', KEYS[1])
if not holder then
  redis.call('SET', KEYS[1], ARGV[1], 'EX', ARGV[3])
  return 2
elseif holder == ARGV[1] or holder == ARGV[2] then
  return 1
elseif string.sub(holder, 1, 5) == 'held ' then
  return 'held'
end
return 'used'
