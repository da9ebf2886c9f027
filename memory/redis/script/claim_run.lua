-- Claims due strands of one run.
-- KEYS 1 idle, 2 due, 3 alive, 4 run
-- ARGV 1 how many at most, 2 lease, 3 "1" to stamp alive, 4 run id
-- Returns what claim.lua returns.
local now = clock(KEYS[1])
local left, lease = tonumber(ARGV[1]), tonumber(ARGV[2])
if ARGV[3] == '1' then
  stamp(KEYS[3], now, lease)
end
local strands = {}
for _, field in ipairs(redis.call('HKEYS', KEYS[4])) do
  local name = string.match(field, '^strand:(.*)$')
  local score = name and redis.call('ZSCORE', KEYS[2], ARGV[4] .. '/' .. name)
  if score then
    strands[#strands + 1] = { name = name, field = field, score = tonumber(score) }
  end
end
table.sort(strands, function(a, b) return a.score < b.score end)

local got, soonest = { now, -1 }, nil
for _, w in ipairs(strands) do
  local epoch, turn, head
  if w.score <= now and left > 0 then
    epoch, turn, head = take(KEYS[2], w.score, ARGV[4] .. '/' .. w.name, KEYS[4], w.field, KEYS[3], now, lease)
  end
  if epoch then
    left = left - 1
    local n = #got
    got[n + 1], got[n + 2], got[n + 3], got[n + 4], got[n + 5] = ARGV[4], w.name, epoch, turn, head
  elseif w.score > now then
    soonest = math.min(soonest or w.score, w.score)
  end
end
if left > 0 then
  redis.call('SET', KEYS[1], '1')
end
if soonest then
  got[2] = soonest - now
end
return got
