-- Stands before every other script, and behind the constants BELL (a channel),
-- WORD (what a run's topic begins with for a person's word), POLL (µs) and the like (script.go). Times are microseconds of the store's
-- clock. A strand is one field of its run's hash,
--   strand:NAME = "EPOCH TURN LEASED SEQ AT ATTEMPT"
-- LEASED is 0 or 1; SEQ, AT and ATTEMPT are the receipt and the id of its last
-- leased commit. Its due time, or the end of its lease, is its score in the
-- shard's ZSET; a parked strand has none.

-- beside is the key of a name next to another key: of the same shard.
local function beside(key, name)
  return string.match(key, '^.*:') .. name
end

-- clock is the store's time. It is the server's, but where that steps back (a
-- correction, or a failover to a host that is behind) it goes on from where it
-- was, at 7/8 of the speed until the server has caught up: what was due or
-- leased does not wait for an hour to pass again. The key clock next to the
-- given one has "TIME WALL" of the last stamp; of what passed since then a
-- minute counts at most, as the server may step forward again. Without a key it
-- is the server's own.
local wall -- the server's own clock
local function clock(key)
  local t = redis.call('TIME')
  wall = t[1] * 1000000 + t[2]
  local kept = key and redis.call('GET', beside(key, 'clock'))
  if kept then
    local at, read = string.match(kept, '^(%d+) (%d+)$')
    at = tonumber(at)
    if wall < at then
      local passed = math.min(math.max(wall - tonumber(read), 0), 60000000)
      return math.max(wall, at + math.floor(passed * 7 / 8))
    end
  end
  return wall
end

-- Lua's own conversion rounds to 14 digits.
local function int(n)
  return string.format('%d', n)
end

-- read takes a strand's field apart; last is "SEQ AT ATTEMPT".
local function read(packed)
  local epoch, turn, leased, last = string.match(packed, '^(%d+) (%d+) (%d) (.*)$')
  return tonumber(epoch), tonumber(turn), leased == '1', last
end

local function pack(epoch, turn, leased, last)
  return string.format(leased and '%d %d 1 %s' or '%d %d 0 %s', epoch, turn, last)
end

-- stamp notes that a worker is alive, and the store's time, and returns when the last outage of more
-- than a lease ended (0: there was none).
local function stamp(key, now, lease)
  local last, back = now, 0
  local v = redis.call('GET', key)
  if v then
    last, back = string.match(v, '^(%d+) (%d+)$')
    last, back = tonumber(last), tonumber(back)
  end
  if now - last > lease then
    back = now
  end
  redis.call('SET', key, int(now) .. ' ' .. int(back))
  redis.call('SET', beside(key, 'clock'), int(now) .. ' ' .. int(wall))
  return back
end

-- take leases a strand that is due and returns its epoch, its turn and the
-- run's head. It returns nil for one that is gone, for a lease that ran out
-- during an outage (its holder gets one more), and, with true, for one that
-- stays as it is for a newer build.
local function take(due, score, member, run, field, alive, now, lease)
  local stored = redis.pcall('HMGET', run, field, 'head', 'needs') -- a damaged run must not keep the others from being claimed
  local packed = stored[1]
  if not packed then
    redis.call('ZREM', due, member)
    return nil
  end
  if (tonumber(stored[3] or 0) or 0) > GENERATION then
    return nil, true
  end
  local epoch, turn, leased, last = read(packed)
  if not epoch then
    redis.call('ZREM', due, member)
    return nil
  end
  if leased then
    local back = stamp(alive, now, lease)
    if score <= back and back + lease > now then
      redis.call('ZADD', due, int(back + lease), member)
      return nil
    end
  end
  redis.call('HSET', run, field, pack(epoch + 1, turn, true, last))
  redis.call('ZADD', due, int(now + lease), member)
  return epoch + 1, turn, stored[2] or '0 0'
end

-- chunked calls a command with as many values as there are, 1,000 at a time:
-- Lua's stack holds some 8,000. The number of values of one thing divides 1,000.
local function chunked(command, key, values)
  for first = 1, #values, 1000 do
    redis.call(command, key, unpack(values, first, math.min(first + 999, #values)))
  end
end

-- tell publishes on the bell. It is a favour to who waits and looks for itself
-- besides: a user that may not publish must not fail what was written before.
local function tell(word)
  redis.pcall('PUBLISH', BELL, word)
end

-- ring wakes those who wait for work, if anybody does.
local function ring(idle)
  if redis.call('DEL', idle) == 1 then
    tell('')
  end
end
