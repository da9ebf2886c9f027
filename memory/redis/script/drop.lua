-- Removes a run that ended before a time.
-- KEYS 1 ended, 2 runs, 3 due, 4 run, 5 journal, 6 snapshot, 7 spent, 8 live,
--      9 artifacts
-- ARGV 1 run id, 2 the time
-- Returns how many runs were removed.
local at = redis.call('ZSCORE', KEYS[1], ARGV[1])
if not at or tonumber(at) >= tonumber(ARGV[2]) then
  return 0
end
for _, field in ipairs(redis.call('HKEYS', KEYS[4])) do
  local name = string.match(field, '^strand:(.*)$')
  if name then
    redis.call('ZREM', KEYS[3], ARGV[1] .. '/' .. name)
  end
end
redis.call('ZREM', KEYS[1], ARGV[1])
redis.call('ZREM', KEYS[2], ARGV[1])
redis.call('ZREM', KEYS[8], ARGV[1])
redis.call('UNLINK', KEYS[4], KEYS[5], KEYS[6], KEYS[7], KEYS[9])
return 1
