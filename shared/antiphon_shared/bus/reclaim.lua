-- Takes over deliveries whose worker has not renewed its lease in time.
--
-- KEYS[1]  the inbox
-- ARGV[1]  group    ARGV[2]  the consumer that takes over
-- ARGV[3]  lease in milliseconds              ARGV[4]  the largest number of deliveries to take over
-- ARGV[5]  deliveries after which an entry is suspect, and has to run alone
-- ARGV[6+] entries that the consumer has in flight: a takeover from itself would renew a lease that it has missed
--
-- Returns {entry, deliveries including this one, fields} of each. A suspect's delivery is counted when its handler
-- begins (renew.lua), not here: it waits for its turn first, and if the process dies meanwhile, another entry was
-- the cause. Entries that the stream no longer has are dropped.

local most = tonumber(ARGV[4])
local in_flight = {}
for i = 6, #ARGV do
  in_flight[ARGV[i]] = true
end

local function take(entry, deliveries)
  local counted = deliveries < tonumber(ARGV[5]) and deliveries + 1 or deliveries
  local claimed = redis.call('XCLAIM', KEYS[1], ARGV[1], ARGV[2], ARGV[3], entry, 'RETRYCOUNT', counted)
  if claimed[1] then
    return { entry, deliveries + 1, claimed[1][2] }
  end
  redis.call('XACK', KEYS[1], ARGV[1], entry)
end

local taken = {}
local looked_at = most + #ARGV - 5
for _, stale in ipairs(redis.call('XPENDING', KEYS[1], ARGV[1], 'IDLE', ARGV[3], '-', '+', looked_at)) do
  if not in_flight[stale[1]] and #taken < most then
    taken[#taken + 1] = take(stale[1], stale[4])
  end
end
return taken
