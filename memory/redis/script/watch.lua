-- Leaves word that somebody awaits a run.
-- KEYS 1 run
-- Returns the length of its journal.
local head = redis.call('HGET', KEYS[1], 'head')
if not head then
  return 0
end
redis.call('HSET', KEYS[1], 'watched', '1')
return tonumber(string.match(head, '^%d+'))
