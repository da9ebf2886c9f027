-- Gives back leases of one shard that nobody will work: due again at once.
-- KEYS 1 due, 2 idle
-- ARGV 1 the bell's channel, 2 the prefix of the shard's runs' keys; then for
--      each lease: run, strand, epoch, turn
-- Returns how many were given back.
local now, back = clock(), 0
for i = 3, #ARGV, 4 do
  local run, field = ARGV[2] .. ARGV[i], 'strand:' .. ARGV[i + 1]
  local packed = redis.call('HGET', run, field)
  local s = packed and read(packed)
  if s and s.leased and s.epoch == tonumber(ARGV[i + 2]) and s.turn == tonumber(ARGV[i + 3]) then
    s.leased = false
    redis.call('HSET', run, field, pack(s))
    redis.call('ZADD', KEYS[1], int(now), ARGV[i] .. '/' .. ARGV[i + 1])
    back = back + 1
  end
end
if back > 0 then
  ring(KEYS[2], ARGV[1])
end
return back
