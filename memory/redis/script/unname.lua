-- Removes the names that go with a run.
-- KEYS 1 names
-- ARGV 1 the run's id, 2 what names of the run begin with, 3 the least string
--      behind those
-- Returns how many names were removed.
local removed = 0

-- drop removes the entries of a range; first and second stand for what is
-- before and behind an entry's zero byte.
local function drop(from, to, byName)
  for _, entry in ipairs(redis.call('ZRANGE', KEYS[1], from, to, 'BYLEX')) do
    local first, second = string.match(entry, '^.(%Z*)%z(.*)$')
    if byName then
      remove(KEYS[1], first, second)
    else
      remove(KEYS[1], second, first)
    end
    removed = removed + 1
  end
end

drop('[v' .. ARGV[1] .. '\0', '(v' .. ARGV[1] .. '\1', false)
drop('[v' .. ARGV[1] .. '/', '(v' .. ARGV[1] .. '0', false)
drop('[n' .. ARGV[2], '(n' .. ARGV[3], true)
return removed
