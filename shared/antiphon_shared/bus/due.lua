-- Moves timers that are due into their inboxes.
--
-- KEYS[1]  timers            KEYS[2]  timer messages      KEYS[3]  the partition's feed
-- ARGV[1]  prefix of the partition's keys     ARGV[2]  the largest number of timers to move
-- ARGV[3]  retention in milliseconds          ARGV[4]  length of the feed
--
-- A message is "component session type log attempt", a line break, and the event. `log` is the event's entry in the
-- session's log, or "-" for an event that is logged when it is due. If messages are signed, the header ends with the
-- signatures of the event in its log and in its inbox.
--
-- A timer that cannot be moved, because a foreign client wrote it or uses its key for something else, becomes a dead
-- letter without a description.
--
-- Returns the milliseconds until the next timer is due; -1 without a timer.

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

local function try_add(stream, signature, ...)
  if signature ~= '' then
    return try_append(stream, '*', 'signature', signature, ...)
  end
  return try_append(stream, '*', ...)
end

local function log(session, kind, event, signature)
  local key = ARGV[1] .. 'session:' .. session .. ':events'
  local at = try_add(key, signature, 'event', event)
  if is_error(at) then
    return nil
  end
  keep_for(key, ARGV[3])
  try_append(KEYS[3], 'MAXLEN', '~', ARGV[4], '*', 'session', session, 'type', kind, 'entry', at)
  return at
end

local function move(message)
  local component, session, kind, at, attempt, of_log, of_inbox, event =
    string.match(message, '^(%S+) (%S+) (%S+) (%S+) (%d+) ?(%S*) ?(%S*)\n(.*)$')
  if component and at == '-' then
    at = log(session, kind, event, of_log)
  end
  if not component or not at then
    return false
  end
  local inbox = ARGV[1] .. 'inbox:' .. component
  return not is_error(try_add(inbox, of_inbox, 'event', event, 'log', at, 'attempt', attempt))
end

for _, name in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now, 'LIMIT', 0, ARGV[2])) do
  local message = redis.call('HGET', KEYS[2], name)
  redis.call('ZREM', KEYS[1], name)
  redis.call('HDEL', KEYS[2], name)
  if message and not move(message) then
    try_append(ARGV[1] .. 'dead', '*', 'letter', '', 'event', message)
  end
end

local nearest = redis.call('ZRANGE', KEYS[1], 0, 0, 'WITHSCORES')
return nearest[2] and math.max(0, nearest[2] - now) or -1
