-- Keeps a recipe, and lets those go that were not learned or used for longest, in one step.
--
-- KEYS[1]  the recipes, by name    KEYS[2]  their names, by recency
--
-- ARGV[1]  name    ARGV[2]  the recipe    ARGV[3]  how many are kept    ARGV[4]  "1" if it may replace another
-- ARGV[5]  the field that changes with the recipes
--
-- Returns {"kept", names that went}; {"taken"} when another recipe has the name, and nothing was written.

local there = redis.call('HGET', KEYS[1], ARGV[1])
if there and there ~= ARGV[2] and ARGV[4] ~= '1' then
  return {'taken'}
end
local time = redis.call('TIME')
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
redis.call('ZADD', KEYS[2], time[1] * 1000 + math.floor(time[2] / 1000), ARGV[1])
local gone = {}
while redis.call('ZCARD', KEYS[2]) > tonumber(ARGV[3]) do
  local name = redis.call('ZPOPMIN', KEYS[2])[1]
  redis.call('HDEL', KEYS[1], name)
  table.insert(gone, name)
end
if there ~= ARGV[2] or #gone > 0 then
  redis.call('HSET', KEYS[1], ARGV[5], time[1] .. '.' .. time[2])
end
return {'kept', gone}
