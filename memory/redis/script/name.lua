-- Stands before the scripts that set names. All names are in one ZSET, each
-- twice and at score 0, where lexicographic ranges find them:
--   "n" NAME zero VALUE, by name, and "v" VALUE zero NAME, by value.
-- zero is a zero byte, which neither a name nor a value has.

-- behind returns what is behind the zero byte of the entries that begin with a
-- letter and a word.
local function behind(key, letter, word)
  local found = redis.call('ZRANGE', key, '[' .. letter .. word .. '\0', '(' .. letter .. word .. '\1', 'BYLEX')
  for i, entry in ipairs(found) do
    found[i] = string.sub(entry, #letter + #word + 2)
  end
  return found
end

local function remove(key, name, value)
  redis.call('ZREM', key, 'n' .. name .. '\0' .. value, 'v' .. value .. '\0' .. name)
end

-- setAll sets the names, each with its value behind it, from a place of ARGV on.
-- An empty value removes the name.
local function setAll(key, first)
  for i = first, #ARGV, 2 do
    local name, value = ARGV[i], ARGV[i + 1]
    local old = behind(key, 'n', name)[1]
    if old ~= value then
      if old then
        remove(key, name, old)
      end
      if value ~= '' then
        redis.call('ZADD', key, 0, 'n' .. name .. '\0' .. value, 0, 'v' .. value .. '\0' .. name)
      end
    end
  end
end
