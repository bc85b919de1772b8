-- Brings an event from outside into a session: opens the session with it, or adds it to one that is there.
--
-- KEYS[1]  the session's log
-- KEYS[2]  the inbox the event goes to
-- KEYS[3]  the partition's feed
-- KEYS[4]  open sessions     KEYS[5]  all sessions
--
-- ARGV[1]  "open" or "signal"
-- ARGV[2]  session id        ARGV[3]  event type       ARGV[4]  event
-- ARGV[5]  sessions that may be open at once (for "open")
-- ARGV[6]  retention in milliseconds                   ARGV[7]  length of the feed
-- ARGV[8]  signature in the log, ARGV[9] in the inbox  (where messages are signed)
--
-- Returns "sent"; "known" when the session to open is there already; "full" when too many are open; "unknown"
-- when the session to signal is not there. Nothing is written unless "sent", so both may be repeated; reading
-- the inbox first fails, while nothing is written, on a key of another type.

redis.call('XLEN', KEYS[2])
local known = redis.call('EXISTS', KEYS[1]) == 1
if ARGV[1] == 'open' then
  if known then
    return 'known'
  end
  if redis.call('ZCARD', KEYS[4]) >= tonumber(ARGV[5]) then
    return 'full'
  end
  local time = redis.call('TIME')
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  redis.call('ZADD', KEYS[4], now, ARGV[2])
  redis.call('ZADD', KEYS[5], now, ARGV[2])
elseif not known then
  return 'unknown'
end

local function add(stream, signature, ...)
  if signature then
    return redis.call('XADD', stream, '*', 'signature', signature, ...)
  end
  return redis.call('XADD', stream, '*', ...)
end

local at = add(KEYS[1], ARGV[8], 'event', ARGV[4])
redis.call('PEXPIRE', KEYS[1], ARGV[6])
add(KEYS[2], ARGV[9], 'event', ARGV[4], 'log', at)
redis.pcall('XADD', KEYS[3], 'MAXLEN', '~', ARGV[7], '*', 'session', ARGV[2], 'type', ARGV[3], 'entry', at)
return 'sent'
