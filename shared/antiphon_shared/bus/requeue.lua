-- Moves one dead letter back into an inbox with its counts reset; `again` marks that a worker has begun it before.
--
-- KEYS[1]  dead letters      KEYS[2]  inbox
-- ARGV[1]  entry of the dead letter    ARGV[2]  event    ARGV[3]  its entry in the session's log
-- ARGV[4]  the signature that it had in that inbox; absent without one
--
-- Returns 1 when it was moved, 0 when the letter no longer exists.

redis.call('XLEN', KEYS[2])
if redis.call('XDEL', KEYS[1], ARGV[1]) == 0 then
  return 0
end
add(KEYS[2], ARGV[4], 'event', ARGV[2], 'log', ARGV[3], 'again', '1')
return 1
