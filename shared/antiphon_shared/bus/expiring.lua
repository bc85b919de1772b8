-- One command on one key, and how long the key is kept, in one step: a process that dies between the two, or a
-- connection that tears, would leave a key that never expires.
--
-- KEYS[1]  the key
-- ARGV[1]  milliseconds it is kept from now on    ARGV[2]  the command    ARGV[3...]  its arguments after the key
--
-- Returns what the command does.

local reply = redis.call(ARGV[2], KEYS[1], unpack(ARGV, 3))
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return reply
