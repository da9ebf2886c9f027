-- Removes the names that have a value.
-- KEYS 1 names
-- ARGV 1 the value
-- Returns how many names were removed.
local names = behind(KEYS[1], 'v', ARGV[1])
for _, name in ipairs(names) do
  remove(KEYS[1], name, ARGV[1])
end
return #names
