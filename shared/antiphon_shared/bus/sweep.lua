-- Removes sessions from the set of open ones that have expired or been answered, and are not closed yet.
--
-- KEYS[1]  open sessions         ARGV[1]  prefix of the partition's keys
-- ARGV[2]  number of sessions to skip            ARGV[3]  the largest number of sessions to check
-- ARGV[4]  time that a coordinator has to close an answered session, in milliseconds
--
-- A session is opened, and counted as open, in one step with the first entry of its log (arrive.lua, admit.lua). So
-- a session without a log is not about to be opened: its keys have expired, were deleted, or never existed. A
-- session with an answer, and with no new log entry for that long, waits for an event that was lost.
--
-- Returns {number of removed sessions, number of checked sessions that remain}.

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
