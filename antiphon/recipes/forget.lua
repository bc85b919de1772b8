-- Removes a recipe, in one step.
--
-- KEYS[1]  the recipes, by name    KEYS[2]  their names, by recency
--
-- ARGV[1]  name    ARGV[2]  the field that changes with the recipes
--
-- Returns how many were removed.

local removed = redis.call('HDEL', KEYS[1], ARGV[1])
redis.call('ZREM', KEYS[2], ARGV[1])
if removed > 0 then
  local time = redis.call('TIME')
  redis.call('HSET', KEYS[1], ARGV[2], time[1] .. '.' .. time[2])
end
return removed
