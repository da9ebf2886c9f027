-- Reads the store's clock.
-- KEYS 1 idle
-- Returns the time.
return clock(KEYS[1])
