-- Leaves word that somebody awaits a run, where there is none yet.
-- KEYS 1 run
-- Returns the length of its journal.
local stored = redis.call('HMGET', KEYS[1], 'head', 'watched')
if not stored[1] then
  return 0
end
if not stored[2] then
  redis.call('HSET', KEYS[1], 'watched', '1')
end
return tonumber(string.match(stored[1], '^%d+'))
