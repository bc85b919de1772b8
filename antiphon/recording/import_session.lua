-- Renames the staged keys of a session into place in one step; from then on the session is kept like any other that
-- has ended. Nothing is put into an inbox, so no component works on it.
--
-- KEYS[1]  the staged log         KEYS[2]  the staged records
-- KEYS[3]  the session's log      KEYS[4]  its records
-- KEYS[5]  its state              KEYS[6]  its response
-- KEYS[7]  all sessions           KEYS[8]  queries waiting
--
-- ARGV[1]  session id     ARGV[2]  when it was opened, in Unix milliseconds    ARGV[3]  retention in milliseconds
-- ARGV[4]  version of the state   ARGV[5]  state, empty for none
-- ARGV[6]  response, empty for none
--
-- Returns "done"; "there" if the session exists, or its query waits to be opened; "gone" if the staged keys have
-- expired. After the latter two nothing has changed.

redis.call('ZCARD', KEYS[7])
if redis.call('EXISTS', KEYS[3]) == 1 or redis.call('HEXISTS', KEYS[8], ARGV[1]) == 1 then
  return 'there'
end
if redis.call('EXISTS', KEYS[1]) == 0 then
  return 'gone'
end

-- Remaining keys of an earlier session of this id, whose log has expired, do not belong to this one.
redis.call('DEL', KEYS[4], KEYS[5], KEYS[6])
redis.call('RENAME', KEYS[1], KEYS[3])
redis.call('PEXPIRE', KEYS[3], ARGV[3])
if redis.call('EXISTS', KEYS[2]) == 1 then
  redis.call('RENAME', KEYS[2], KEYS[4])
  redis.call('PEXPIRE', KEYS[4], ARGV[3])
end
if ARGV[5] ~= '' then
  redis.call('HSET', KEYS[5], 'version', ARGV[4], 'content', ARGV[5])
  redis.call('PEXPIRE', KEYS[5], ARGV[3])
end
if ARGV[6] ~= '' then
  redis.call('HSET', KEYS[6], 'version', 1, 'content', ARGV[6])
  redis.call('PEXPIRE', KEYS[6], ARGV[3])
end
redis.call('ZADD', KEYS[7], ARGV[2], ARGV[1])
return 'done'
