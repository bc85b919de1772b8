-- Records that a worker is alive, on Redis's clock. Removes workers without a heartbeat for too long, and entries
-- that are not heartbeats; deletes a key of another type.
--
-- KEYS[1]  workers of the component
-- ARGV[1]  the consumer    ARGV[2]  its own description, JSON
-- ARGV[3]  time without a heartbeat after which a worker is removed, in milliseconds
--
-- Returns the present on Redis's clock, in Unix milliseconds.

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
if redis.call('TYPE', KEYS[1]).ok ~= 'hash' then
  redis.call('DEL', KEYS[1])
end
redis.call('HSET', KEYS[1], ARGV[1], now .. ' ' .. ARGV[2])
local all = redis.call('HGETALL', KEYS[1])
for i = 1, #all, 2 do
  if math.abs(now - tonumber(string.match(all[i + 1], '^%d+') or 0)) > tonumber(ARGV[3]) then
    redis.call('HDEL', KEYS[1], all[i])
  end
end
return now
