-- Restarts the lease of a claimant.
--
-- KEYS[1]  the record of the write
-- ARGV[1]  claimant     ARGV[2]  its fence     ARGV[3]  lease, ARGV[4] life of the record, in milliseconds
--
-- Returns 1; 0, and changes nothing, when the write was taken over, or is no longer in progress. An expired lease is
-- renewed too, unless the write was taken over: after that no takeover is possible.

local record = redis.call('HMGET', KEYS[1], 'state', 'claimant', 'fence')
if record[1] ~= 'in_progress' or record[2] ~= ARGV[1] or record[3] ~= ARGV[2] then
  return 0
end

local time = redis.call('TIME')
local lease_ends = time[1] * 1000 + math.floor(time[2] / 1000) + ARGV[3]
redis.call('HSET', KEYS[1], 'lease_ends', string.format('%.0f', lease_ends))
redis.call('PEXPIRE', KEYS[1], ARGV[4])
return 1
