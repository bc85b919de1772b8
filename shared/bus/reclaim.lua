-- Takes over deliveries whose worker has been silent for longer than a lease.
--
-- KEYS[1]  the inbox
-- ARGV[1]  group    ARGV[2]  the consumer that takes over
-- ARGV[3]  lease in milliseconds              ARGV[4]  deliveries to take over at most
-- ARGV[5]  deliveries after which an entry is suspect, and has to run alone
--
-- Returns {entry, deliveries so far with this one, fields} of each. A suspect's delivery is counted when its
-- handler begins (renew.lua), not here: it waits for its turn first, and whatever kills the process meanwhile
-- was another one. Entries that are gone from the stream are dropped.

local taken = {}
for _, stale in ipairs(redis.call('XPENDING', KEYS[1], ARGV[1], 'IDLE', ARGV[3], '-', '+', ARGV[4])) do
  local entry, deliveries = stale[1], stale[4]
  local counted = deliveries < tonumber(ARGV[5]) and deliveries + 1 or deliveries
  local claimed = redis.call('XCLAIM', KEYS[1], ARGV[1], ARGV[2], ARGV[3], entry, 'RETRYCOUNT', counted)
  if claimed[1] then
    taken[#taken + 1] = { entry, deliveries + 1, claimed[1][2] }
  else
    redis.call('XACK', KEYS[1], ARGV[1], entry)
  end
end
return taken
