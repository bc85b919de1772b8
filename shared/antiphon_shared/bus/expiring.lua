-- Runs one command on one key and sets the key's life, in one step. In two steps, a process or connection that fails
-- between them would leave a key that never expires.
--
-- KEYS[1]  the key
-- ARGV[1]  its life from now on, in milliseconds    ARGV[2]  the command    ARGV[3...]  its arguments after the key
--
-- Returns the command's result.

local reply = redis.call(ARGV[2], KEYS[1], unpack(ARGV, 3))
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return reply
