-- Keeps leases of one shard for another lease time.
-- KEYS 1 due, 2 alive
-- ARGV 1 lease, 2 the prefix of the shard's runs' keys; then for each lease:
--      run, strand, epoch
-- Returns the places (from 0) of the leases that are gone.
local now, lease = clock(KEYS[2]), tonumber(ARGV[1])
local lost = {}
stamp(KEYS[2], now, lease)
for i = 3, #ARGV, 3 do
  local packed = redis.call('HGET', ARGV[2] .. ARGV[i], 'strand:' .. ARGV[i + 1])
  local epoch, _, leased
  if packed then
    epoch, _, leased = read(packed)
  end
  if leased and epoch == tonumber(ARGV[i + 2]) then
    redis.call('ZADD', KEYS[1], int(now + lease), ARGV[i] .. '/' .. ARGV[i + 1])
  else
    lost[#lost + 1] = (i - 3) / 3
  end
end
return lost
