-- Drops data that has outlived its retention and does not expire by itself.
--
-- KEYS[1]  stream of responses   KEYS[2]  feed   KEYS[3]  open sessions   KEYS[4]  all sessions
-- ARGV[1]  prefix of the partition's keys        ARGV[2]  retention in milliseconds
-- ARGV[3]  the largest number of sessions to check
--
-- A session whose log has expired is removed from both sets, in any state.
--
-- Returns the number of removed sessions.

local time = redis.call('TIME')
local oldest = time[1] * 1000 + math.floor(time[2] / 1000) - ARGV[2]
if oldest < 0 then
  return 0
end
redis.call('XTRIM', KEYS[1], 'MINID', oldest)
redis.call('XTRIM', KEYS[2], 'MINID', oldest)

local gone = 0
for _, session in ipairs(redis.call('ZRANGEBYSCORE', KEYS[4], '-inf', oldest, 'LIMIT', 0, ARGV[3])) do
  if redis.call('EXISTS', ARGV[1] .. 'session:' .. session .. ':events') == 0 then
    redis.call('ZREM', KEYS[3], session)
    redis.call('ZREM', KEYS[4], session)
    gone = gone + 1
  end
end
return gone
