-- Gives a reserved once-key back.
-- KEYS 1 once-key
-- ARGV 1 "held " and the key of the attempt
-- Returns how many keys were given back.
if redis.call('GET', KEYS[1]) == ARGV[1] then
  return redis.call('DEL', KEYS[1])
end
return 0
