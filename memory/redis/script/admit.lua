-- Admits one call to an endpoint whose limits are shared, or gives its strand a
-- place in the endpoint's line (see memory.Lines, which does the same in Go).
-- As in commit.lua, everything is read and worked out first, and nothing that
-- is written after that can fail.
-- KEYS 1 the endpoint: hash of
--          earned:LIMIT   when all that was taken is earned, in µs
--          served:CLASS   the round that is being served
--          seq            counts arrivals
--          told:MEMBER    when it was asked to come again, in µs
--          waiting:RUN, last:RUN  how many of its strands wait, and their last round
--      2 its line: ZSET of members RUN/STRAND by class, round and arrival
--      3 idle (not in a Cluster: there it is in another slot, and the endpoint
--      goes by the server's own clock)
-- ARGV 1 member ("": the charges are booked alone), 2 class: 0 people's, 1 background,
--      3 longest wait, 4 grace, 5 longest debt (all in µs);
--      then for each charge 4: limit, takes, ahead, hold (µs)
-- Returns how many µs to wait, 0 where the call may be made.
local endpoint, line = KEYS[1], KEYS[2]
local member, class = ARGV[1], tonumber(ARGV[2])
local longest, grace, debt = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local now = clock(KEYS[3])
local CLASS, ROUND, TTL = 2 ^ 50, 2 ^ 20, 3600000

local function whole(n)
  return string.format('%.0f', n)
end

-- What is to be written: fields of the endpoint (false: the field goes), who
-- leaves the line, and the score of the member that joins it.
local fields, left, joined = {}, {}, nil

local function number(field)
  local n = fields[field]
  if n == nil then
    n = redis.call('HGET', endpoint, field)
  end
  return tonumber(n or 0)
end

local function set(field, n)
  fields[field] = n
end

local function leave(who)
  local run = string.match(who, '^([^/]*)/')
  set('told:' .. who, false)
  local waiting = number('waiting:' .. run) - 1
  if waiting > 0 then
    set('waiting:' .. run, waiting)
  else
    set('waiting:' .. run, false)
    set('last:' .. run, false)
  end
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

-- admit returns the wait.
local function admit()
  if member == '' then
    take()
    return 0
  end

  -- Who did not come when it was told to loses its place.
  local scores = {}
  while true do
    local head = redis.call('ZRANGE', line, #left, #left, 'WITHSCORES')
    if not head[1] or head[1] == member then
      break
    end
    local told = number('told:' .. head[1])
    if told >= now - grace and told <= now + 2 * longest then
      break
    end
    leave(head[1])
    left[#left + 1], scores[#scores + 1] = head[1], tonumber(head[2])
  end

  local function join()
    local run = string.match(member, '^([^/]*)/')
    local round = math.max(number('served:' .. class), number('last:' .. run)) + 1
    local seq = number('seq') + 1
    set('seq', seq)
    set('last:' .. run, round)
    set('waiting:' .. run, number('waiting:' .. run) + 1)
    joined = class * CLASS + round * ROUND + seq % ROUND
    local before = redis.call('ZCOUNT', line, '-inf', '(' .. whole(joined))
    for _, score in ipairs(scores) do
      if score < joined then
        before = before - 1
      end
    end
    return before
  end

  local place, score = redis.call('ZRANK', line, member), nil
  if place then
    place, score = place - #left, tonumber(redis.call('ZSCORE', line, member))
  elseif redis.call('ZCARD', line) > #left then
    place = join()
    score = joined
  end
  local wait = 0
  for _, c in ipairs(taking) do
    wait = math.max(wait, owing(c) + (place or 0) * c.takes - c.ahead)
  end
  if wait <= 0 then
    take()
    if place then
      set('served:' .. class, math.max(number('served:' .. class), math.floor((score - class * CLASS) / ROUND)))
      leave(member)
      if joined then
        joined = nil
      else
        left[#left + 1] = member
      end
    end
    return 0
  end
  if not place then
    join()
  end
  wait = math.ceil(math.min(wait, longest))
  set('told:' .. member, now + wait)
  return wait
end

local wait = admit()
local kept, gone = {}, {}
for field, n in pairs(fields) do
  if n then
    kept[#kept + 1], kept[#kept + 2] = field, whole(n)
  else
    gone[#gone + 1] = field
  end
end

-- From here on everything is written.
chunked('HSET', endpoint, kept)
chunked('HDEL', endpoint, gone)
chunked('ZREM', line, left)
if joined then
  redis.call('ZADD', line, whole(joined), member)
end
redis.call('PEXPIRE', endpoint, TTL)
if wait > 0 then
  redis.call('PEXPIRE', line, TTL)
end
return wait
