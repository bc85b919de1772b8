-- Takes over deliveries whose worker has been silent for longer than a lease.
--
-- KEYS[1]  the inbox
-- ARGV[1]  group    ARGV[2]  the consumer that takes over
-- ARGV[3]  lease in milliseconds              ARGV[4]  deliveries to take over at most
--
-- Returns {entry, deliveries so far with this one, fields} of each. The count tells the reader whether the
-- entry has to run alone, or has used up its deliveries. Entries that are gone from the stream are dropped.

local taken = {}
for _, stale in ipairs(redis.call('XPENDING', KEYS[1], ARGV[1], 'IDLE', ARGV[3], '-', '+', ARGV[4])) do
  local entry, deliveries = stale[1], stale[4]
  local claimed = redis.call('XCLAIM', KEYS[1], ARGV[1], ARGV[2], ARGV[3], entry)
  if claimed[1] then
    taken[#taken + 1] = { entry, deliveries + 1, claimed[1][2] }
  else
    redis.call('XACK', KEYS[1], ARGV[1], entry)
  end
end
return taken
