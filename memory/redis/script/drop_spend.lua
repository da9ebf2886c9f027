-- Gives a reservation back.
-- KEYS 1 counter, 2 reservation
-- ARGV 1 field ("": the key itself), 2 the amount with its sign turned
-- Returns how many reservations were given back.
local held = redis.call('DEL', KEYS[2])
if held == 1 then
  spend(KEYS[1], ARGV[1], ARGV[2])
end
return held
