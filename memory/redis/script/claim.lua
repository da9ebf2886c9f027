-- Claims due strands of one or more shards.
-- KEYS 1 idle, 2 alive; then for each shard: due. Its runs' keys are made from
--      it: "run:RUN" stands for "due".
-- ARGV 1 how many at most (0: only look), 2 lease, 3 "1" to stamp alive,
--      4 "1" to leave word
-- Returns { now, µs until the next is due (-1: not known), run, strand, epoch,
-- turn, head ("SEQ AT"), run, strand, … }. Word is left at idle where it takes fewer than asked
-- for: somebody waits.
local now = clock(KEYS[1])
local left, lease = tonumber(ARGV[1]), tonumber(ARGV[2])
local got, soonest = { now, -1 }, nil

-- claim takes what is due in one shard, and returns when the next is.
local function claim(due, tag)
  local newer = 0 -- strands that are left to newer builds: they stay in front
  while true do
    local found = redis.call('ZRANGE', due, newer, newer + math.max(left, 1) - 1, 'WITHSCORES')
    for i = 1, #found, 2 do
      local score = tonumber(found[i + 1])
      if score > now or left == 0 then
        return score
      end
      local run, strand = string.match(found[i], '^([^/]*)/(.*)$')
      local epoch, turn, head = take(due, score, found[i], tag .. 'run:' .. run, 'strand:' .. strand, KEYS[2], now, lease)
      if epoch then
        left = left - 1
        local n = #got
        got[n + 1], got[n + 2], got[n + 3], got[n + 4], got[n + 5] = run, strand, epoch, turn, head
      elseif turn then
        newer = newer + 1
      end
    end
    if #found == 0 or left == 0 then
      return nil
    end
  end
end

if ARGV[3] == '1' then
  stamp(KEYS[2], now, lease)
end
local wanted = left
for i = 3, #KEYS do
  if left == 0 and wanted > 0 then
    break
  end
  local at = claim(KEYS[i], string.sub(KEYS[i], 1, -4))
  if at then
    soonest = math.min(soonest or at, at)
  end
end
if ARGV[4] == '1' and (left > 0 or wanted == 0) then
  redis.call('SET', KEYS[1], '1')
end
if soonest then
  got[2] = math.max(soonest - now, 0)
end
return got
