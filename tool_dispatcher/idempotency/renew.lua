-- Begins the lease of a claimant anew.
--
-- KEYS[1]  the record of the write
-- ARGV[1]  claimant     ARGV[2]  its fence     ARGV[3]  lease, ARGV[4] life of the record, in milliseconds
--
-- Returns 1; 0, and changes nothing, when somebody has taken the write over, or it is not in progress any more.
-- A lease that has run out is renewed too, as long as nobody has taken over: from then on nobody can.

local record = redis.call('HMGET', KEYS[1], 'state', 'claimant', 'fence')
if record[1] ~= 'in_progress' or record[2] ~= ARGV[1] or record[3] ~= ARGV[2] then
  return 0
end

local time = redis.call('TIME')
local lease_ends = time[1] * 1000 + math.floor(time[2] / 1000) + ARGV[3]
redis.call('HSET', KEYS[1], 'lease_ends', string.format('%.0f', lease_ends))
redis.call('PEXPIRE', KEYS[1], ARGV[4])
return 1
