-- Records that a worker is alive, on Redis's clock, and removes workers that have long been silent and entries that
-- are not heartbeats; a key of another type is deleted.
--
-- KEYS[1]  workers of the component
-- ARGV[1]  the consumer    ARGV[2]  its own description, JSON    ARGV[3]  silence after which a worker is removed, ms

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
