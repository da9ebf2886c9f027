-- Sets names.
-- KEYS 1 names
-- ARGV for each name: name, value ("": remove it)
-- Returns 1.
setAll(KEYS[1], 1)
return 1
