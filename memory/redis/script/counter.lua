-- Stands between strand.lua and the scripts that spend, behind the constant
-- COUNTER_TTL: how long a counter of its own key is kept since it changed last. Counters are 64-bit
-- integers, which Lua's floats hold only up to 2^53: limits are compared in
-- two parts, value = high * 10^9 + low with 0 <= low < 10^9.

local function parts(text)
  local sign, digits = string.match(text, '^(%-?)(%d+)$')
  local high = tonumber(string.sub(digits, 1, -10)) or 0
  local low = tonumber(string.sub(digits, -9))
  if sign == '' then
    return high, low
  elseif low == 0 then
    return -high, 0
  end
  return -high - 1, 1000000000 - low
end

-- add returns the parts of a + b.
local function add(high, low, text)
  local h, l = parts(text)
  high, low = high + h, low + l
  if low >= 1000000000 then
    high, low = high + 1, low - 1000000000
  end
  return high, low
end

-- value is a counter's value as text. An empty field: the key itself holds it.
local function value(key, field)
  if field == '' then
    return redis.call('GET', key) or '0'
  end
  return redis.call('HGET', key, field) or '0'
end

-- over says whether an amount may not lead to a value: it passes a limit
-- (0: none) upwards, or leaves 64 bits.
local function over(high, low, amount, limit)
  if high >= 9223372036 or high < -9223372036 then
    return true
  end
  if limit == '0' or tonumber(amount) <= 0 then
    return false
  end
  local h, l = parts(limit)
  return high > h or high == h and low > l
end

local function spend(key, field, amount)
  if field == '' then
    redis.call('INCRBY', key, amount)
    redis.call('EXPIRE', key, COUNTER_TTL)
  else
    redis.call('HINCRBY', key, field, amount)
  end
end
