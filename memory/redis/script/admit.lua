-- Admits one call to an endpoint whose limits are shared, or gives its strand a
-- place in the endpoint's line (see memory.Lines, which does the same in Go).
-- KEYS 1 the endpoint: hash of
--          earned:LIMIT   when all that was taken is earned, in µs
--          served:CLASS   the round that is being served
--          seq            counts arrivals
--          told:MEMBER    when it was asked to come again, in µs
--          waiting:RUN, last:RUN  how many of its strands wait, and their last round
--      2 its line: ZSET of members RUN/STRAND by class, round and arrival
-- ARGV 1 member ("": the charges are booked alone), 2 class: 0 people's, 1 background,
--      3 longest wait, 4 grace, 5 longest debt (all in µs);
--      then for each charge 4: limit, takes, ahead, hold (µs)
-- Returns how many µs to wait, 0 where the call may be made.
local endpoint, line = KEYS[1], KEYS[2]
local member, class = ARGV[1], tonumber(ARGV[2])
local longest, grace, debt = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local t = redis.call('TIME')
local now = t[1] * 1000000 + t[2]
local CLASS, ROUND, TTL = 2 ^ 50, 2 ^ 20, 3600000

local function whole(n)
  return string.format('%.0f', n)
end

local function number(field)
  return tonumber(redis.call('HGET', endpoint, field) or 0)
end

local function set(field, n)
  redis.call('HSET', endpoint, field, whole(n))
end

local function leave(who)
  local run = string.match(who, '^([^/]*)/')
  redis.call('ZREM', line, who)
  redis.call('HDEL', endpoint, 'told:' .. who)
  if redis.call('HINCRBY', endpoint, 'waiting:' .. run, -1) <= 0 then
    redis.call('HDEL', endpoint, 'waiting:' .. run, 'last:' .. run)
  end
end

local function join()
  local run = string.match(member, '^([^/]*)/')
  local round = math.max(number('served:' .. class), number('last:' .. run)) + 1
  local seq = redis.call('HINCRBY', endpoint, 'seq', 1) % ROUND
  set('last:' .. run, round)
  redis.call('HINCRBY', endpoint, 'waiting:' .. run, 1)
  redis.call('ZADD', line, whole(class * CLASS + round * ROUND + seq), member)
  return redis.call('ZRANK', line, member)
end

-- owing is what was taken of a limit and is not earned yet.
local function owing(c)
  return math.min(math.max(number(c.field) - now, 0), c.ahead + debt)
end

-- What is given back and held counts at once; what is taken, once all is free.
local taking = {}
for i = 6, #ARGV, 4 do
  local c = { field = 'earned:' .. ARGV[i], takes = tonumber(ARGV[i + 1]), ahead = tonumber(ARGV[i + 2]) }
  local hold = tonumber(ARGV[i + 3])
  if c.takes > 0 then
    taking[#taking + 1] = c
  else
    local owed = math.max(owing(c) + c.takes, 0)
    if hold > 0 then
      owed = math.max(owed, c.ahead + hold)
    end
    set(c.field, now + owed)
  end
end

local function take()
  for _, c in ipairs(taking) do
    set(c.field, now + owing(c) + c.takes)
  end
end

if member == '' then
  take()
  redis.call('PEXPIRE', endpoint, TTL)
  return 0
end

-- Who did not come when it was told to loses its place.
while true do
  local head = redis.call('ZRANGE', line, 0, 0)[1]
  if not head or head == member then
    break
  end
  local told = number('told:' .. head)
  if told >= now - grace and told <= now + 2 * longest then
    break
  end
  leave(head)
end

local place = redis.call('ZRANK', line, member)
if not place and redis.call('ZCARD', line) > 0 then
  place = join()
end
local wait = 0
for _, c in ipairs(taking) do
  wait = math.max(wait, owing(c) + (place or 0) * c.takes - c.ahead)
end
if wait <= 0 then
  take()
  if place then
    local round = math.floor((tonumber(redis.call('ZSCORE', line, member)) - class * CLASS) / ROUND)
    set('served:' .. class, math.max(number('served:' .. class), round))
    leave(member)
  end
  redis.call('PEXPIRE', endpoint, TTL)
  return 0
end
if not place then
  join()
end
wait = math.ceil(math.min(wait, longest))
set('told:' .. member, now + wait)
redis.call('PEXPIRE', endpoint, TTL)
redis.call('PEXPIRE', line, TTL)
return wait
