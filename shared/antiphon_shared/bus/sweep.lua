-- Takes out of the open sessions those that hold room for nothing.
--
-- KEYS[1]  open sessions         ARGV[1]  prefix of the partition's keys
-- ARGV[2]  how many to pass over                 ARGV[3]  sessions to look at, at most
--
-- A session is opened, and counted as open, in one step with the first entry of its log (arrive.lua, admit.lua), so
-- that one without a log is none that is about to be opened: its keys have expired, somebody has deleted them, or
-- there was never any. One that has its answer waits only to be closed, or for news of it that was lost.
--
-- Returns how many were taken out, and how many of those looked at stay.

local found = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', '+inf', 'LIMIT', ARGV[2], ARGV[3])
local gone = 0
for _, session in ipairs(found) do
  local of_session = ARGV[1] .. 'session:' .. session .. ':'
  local answered = redis.pcall('HGET', of_session .. 'response', 'version')
  if type(answered) == 'string' or redis.call('EXISTS', of_session .. 'events') == 0 then
    redis.call('ZREM', KEYS[1], session)
    gone = gone + 1
  end
end
return { gone, #found - gone }
