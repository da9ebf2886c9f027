-- Says what became of an attempt, and makes it void where asked for: then it
-- can be written no more.
-- KEYS 1 attempt
-- ARGV 1 "1" to make it void, 2 seconds that this is known
-- Returns 0 void, 1 written, 2 neither.
local receipt = redis.call('GET', KEYS[1])
if receipt then
  return receipt == 'void' and 0 or 1
end
if ARGV[1] == '1' then
  redis.call('SET', KEYS[1], 'void', 'EX', ARGV[2])
  return 0
end
return 2
