-- Adds an event from outside to an existing session. The component that handles the event renews the session's data.
--
-- KEYS[1]  the session's log
-- KEYS[2]  the inbox of the event
-- KEYS[3]  the partition's feed
--
-- ARGV[1]  session id        ARGV[2]  event type       ARGV[3]  event
-- ARGV[4]  length of the feed
-- ARGV[5]  signature in the log, ARGV[6] in the inbox  (if messages are signed)
--
-- Returns "sent"; "unknown" when the session does not exist. The latter writes nothing, so the script may be repeated.
-- Its first read, of the inbox, fails on a key of another type before anything is written.

redis.call('XLEN', KEYS[2])
if redis.call('EXISTS', KEYS[1]) == 0 then
  return 'unknown'
end

local at = add(KEYS[1], ARGV[5], 'event', ARGV[3])
add(KEYS[2], ARGV[6], 'event', ARGV[3], 'log', at)
try_append(KEYS[3], 'MAXLEN', '~', ARGV[4], '*', 'session', ARGV[1], 'type', ARGV[2], 'entry', at)
return 'sent'
