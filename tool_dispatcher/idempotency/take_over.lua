-- Takes over a write whose claimant has let the lease expire.
--
-- KEYS[1]  the record of the write
-- KEYS[2]  the session's writes, KEYS[3] their order: see begin.lua; neither in sessions of format 1
-- ARGV[1]  the fence with which it was found abandoned
-- ARGV[2]  claimant: drawn for each takeover     ARGV[3]  lease, ARGV[4] life of the record, in milliseconds
-- ARGV[5]  without KEYS[2]: "1" when a write that has ended is taken over too, to run once more under its key;
--          with KEYS[2]: the field of the call that takes it over; ARGV[6] the write's identity,
-- ARGV[7]  "ROUND/INDEX/KEY"; ARGV[8] "1" when a write of unknown outcome is taken over too, to find the outcome
--
-- Returns the new fence, one above the old one: later requests of the old claimant are refused. Returns 0, and changes
-- nothing, when the write's status has changed: it was settled, renewed, or taken over by another worker. Repeating a
-- takeover whose reply was lost finds its own claimant, and restarts the lease.

local record = redis.call('HMGET', KEYS[1], 'state', 'claimant', 'fence', 'lease_ends')
local state, claimant, fence, lease_ends = record[1], record[2], record[3], record[4]
local is_indexed = #KEYS > 1
local newest = is_indexed and redis.call('HGET', KEYS[2], 'of:' .. ARGV[6])
local is_unknown = newest and ARGV[8] == '1' and string.match(newest, '^%d+ (%a+)') == 'unknown'
local is_again = state and not is_indexed and ARGV[5] == '1'
if state ~= 'in_progress' and not is_unknown and not is_again then
  return 0
end

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
if claimant ~= ARGV[2] then
  if fence ~= ARGV[1] or (state == 'in_progress' and tonumber(lease_ends) > now) then
    return 0
  end
  fence = tonumber(fence) + 1
end
if is_indexed then
  local key = string.match(ARGV[7], '^%d+/%d+/(.*)$')
  redis.call('HSET', KEYS[2], ARGV[5], 'own ' .. key)
  redis.call('HSET', KEYS[2], 'of:' .. ARGV[6], string.match(key, '(%d+)$') .. ' open ' .. key .. ' 1')
  local member = redis.call('HGET', KEYS[1], 'member')
  if member and member ~= ARGV[7] then
    redis.call('ZREM', KEYS[3], member)
  end
  redis.call('ZADD', KEYS[3], '+inf', ARGV[7])
  redis.call('HSET', KEYS[1], 'member', ARGV[7])
end
redis.call('HSET', KEYS[1], 'state', 'in_progress', 'claimant', ARGV[2], 'fence', fence,
  'lease_ends', string.format('%.0f', now + ARGV[3]))
redis.call('PEXPIRE', KEYS[1], ARGV[4])
return tonumber(fence)
