-- Takes one turn at a pace, if it is free or to be booked (see memory.Slack).
-- KEYS 1 pace, 2 idle (not in a Cluster: there it is in another slot, and the
--      pace goes by the server's own clock)
-- ARGV 1 µs from turn to turn, 2 µs that a turn may be taken ahead of its time,
--      3 "1" to book
-- Returns how many µs ahead the turn is, 0 for one that is free.
local now = clock(KEYS[2])
local earned = math.max(tonumber(redis.call('GET', KEYS[1]) or now), now)
local wait = math.max(earned - now - tonumber(ARGV[2]), 0)
if wait == 0 or ARGV[3] == '1' then
  earned = math.min(earned + tonumber(ARGV[1]), FAR)
  if earned > now then
    redis.call('SET', KEYS[1], int(earned), 'PX', int(math.ceil((earned - now) / 1000)))
  end
end
return wait
