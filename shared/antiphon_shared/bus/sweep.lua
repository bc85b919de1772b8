-- Takes out of the open sessions those that hold room for nothing.
--
-- KEYS[1]  open sessions         ARGV[1]  prefix of the partition's keys
-- ARGV[2]  how many to pass over                 ARGV[3]  sessions to look at, at most
-- ARGV[4]  how long a coordinator may take to close a session that is answered, in milliseconds
--
-- A session is opened, and counted as open, in one step with the first entry of its log (arrive.lua, admit.lua), so
-- that one without a log is none that is about to be opened: its keys have expired, somebody has deleted them, or
-- there was never any. One that has its answer, and of which nothing was logged for so long, waits for news that was
-- lost.
--
-- Returns how many were taken out, and how many of those looked at stay.

local time = redis.call('TIME')
local late = time[1] * 1000 + math.floor(time[2] / 1000) - ARGV[4]

local function is_over(of_session)
  if redis.call('EXISTS', of_session .. 'events') == 0 then
    return true
  end
  if type(redis.pcall('HGET', of_session .. 'response', 'version')) ~= 'string' then
    return false
  end
  local newest = redis.pcall('XREVRANGE', of_session .. 'events', '+', '-', 'COUNT', 1)
  return newest[1] ~= nil and tonumber(string.match(newest[1][1], '^%d+')) < late
end

local found = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', '+inf', 'LIMIT', ARGV[2], ARGV[3])
local gone = 0
for _, session in ipairs(found) do
  if is_over(ARGV[1] .. 'session:' .. session .. ':') then
    redis.call('ZREM', KEYS[1], session)
    gone = gone + 1
  end
end
return { gone, #found - gone }
