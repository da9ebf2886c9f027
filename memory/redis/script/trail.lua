-- Appends lines to the trail.
-- KEYS 1 trail (a hash: end, and each line by its number)
-- ARGV 1 the number of the line that must be the last one, then the lines
-- Returns 1, or 0 where another line is the last one.
local last = tonumber(redis.call('HGET', KEYS[1], 'end') or '0')
if last ~= tonumber(ARGV[1]) then
  return 0
end
for i = 2, #ARGV do
  last = last + 1
  redis.call('HSET', KEYS[1], string.format('%d', last), ARGV[i])
end
redis.call('HSET', KEYS[1], 'end', string.format('%d', last))
return 1
