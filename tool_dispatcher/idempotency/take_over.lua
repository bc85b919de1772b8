-- Takes over a write whose claimant has let the lease run out.
--
-- KEYS[1]  the record of the write
-- ARGV[1]  the fence it was found abandoned with
-- ARGV[2]  claimant: drawn for each takeover     ARGV[3]  lease, ARGV[4] life of the record, in milliseconds
--
-- Returns the new fence, one above the old: what the old claimant still sends is refused from now on. Returns 0,
-- and changes nothing, when the write does not stand like that any more: it was settled, renewed, or somebody
-- else was faster. Repeating a takeover whose reply was lost finds its own claimant, and begins the lease anew.

local record = redis.call('HMGET', KEYS[1], 'state', 'claimant', 'fence', 'lease_ends')
local state, claimant, fence, lease_ends = record[1], record[2], record[3], record[4]
if state ~= 'in_progress' then
  return 0
end

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
if claimant ~= ARGV[2] then
  if fence ~= ARGV[1] or tonumber(lease_ends) > now then
    return 0
  end
  fence = tonumber(fence) + 1
end
redis.call('HSET', KEYS[1], 'claimant', ARGV[2], 'fence', fence, 'lease_ends', string.format('%.0f', now + ARGV[3]))
redis.call('PEXPIRE', KEYS[1], ARGV[4])
return tonumber(fence)
