-- Gives back leases of one shard that nobody will work: due again at once.
-- KEYS 1 due, 2 idle
-- ARGV 1 the prefix of the shard's runs' keys; then for each lease: run,
--      strand, epoch, turn
-- Returns how many were given back.
local now, back = clock(KEYS[2]), 0
for i = 2, #ARGV, 4 do
  local run, field = ARGV[1] .. ARGV[i], 'strand:' .. ARGV[i + 1]
  local packed = redis.call('HGET', run, field)
  local epoch, turn, leased, last
  if packed then
    epoch, turn, leased, last = read(packed)
  end
  if leased and epoch == tonumber(ARGV[i + 2]) and turn == tonumber(ARGV[i + 3]) then
    redis.call('HSET', run, field, pack(epoch, turn, false, last))
    redis.call('ZADD', KEYS[1], int(now), ARGV[i] .. '/' .. ARGV[i + 1])
    back = back + 1
  end
end
if back > 0 then
  ring(KEYS[2])
end
return back
