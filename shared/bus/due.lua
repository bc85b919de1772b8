-- Moves the timers that are due into their inboxes.
--
-- KEYS[1]  timers            KEYS[2]  timer messages      KEYS[3]  the partition's feed
-- ARGV[1]  prefix of the partition's keys     ARGV[2]  timers to move at most
-- ARGV[3]  retention in milliseconds          ARGV[4]  length of the feed
--
-- A message is "component session type log attempt", a line break, and the event. `log` is the event's place
-- in the session's log, or "-" for an event that is logged when it is due.
--
-- Returns the milliseconds until the next timer is due, -1 when there is none.

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

for _, name in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now, 'LIMIT', 0, ARGV[2])) do
  local message = redis.call('HGET', KEYS[2], name)
  if message then
    local component, session, type, at, attempt, event =
      string.match(message, '^(%S+) (%S+) (%S+) (%S+) (%d+)\n(.*)$')
    if at == '-' then
      local log = ARGV[1] .. 'session:' .. session .. ':events'
      at = redis.call('XADD', log, '*', 'event', event)
      redis.call('PEXPIRE', log, ARGV[3])
      redis.call('XADD', KEYS[3], 'MAXLEN', '~', ARGV[4], '*', 'session', session, 'type', type, 'entry', at)
    end
    redis.call('XADD', ARGV[1] .. 'inbox:' .. component, '*', 'event', event, 'log', at, 'attempt', attempt)
  end
  redis.call('ZREM', KEYS[1], name)
  redis.call('HDEL', KEYS[2], name)
end

local nearest = redis.call('ZRANGE', KEYS[1], 0, 0, 'WITHSCORES')
return nearest[2] and math.max(0, nearest[2] - now) or -1
