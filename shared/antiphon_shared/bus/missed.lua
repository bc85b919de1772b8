-- Returns the entries that a consumer holds according to Redis. Used after a read or a claim whose reply was lost.
--
-- KEYS[1]  the inbox
-- ARGV[1]  group    ARGV[2]  the consumer    ARGV[3]  the largest number of entries
-- ARGV[4]  deliveries after which an entry is suspect; see reclaim.lua
--
-- Returns {entry, deliveries including this one, fields} of each. Entries that the stream no longer has are dropped.

local held = {}
for _, mine in ipairs(redis.call('XPENDING', KEYS[1], ARGV[1], '-', '+', ARGV[3], ARGV[2])) do
  local entry, deliveries = mine[1], mine[4]
  local found = redis.call('XRANGE', KEYS[1], entry, entry)
  if found[1] then
    held[#held + 1] = { entry, deliveries < tonumber(ARGV[4]) and deliveries or deliveries + 1, found[1][2] }
  else
    redis.call('XACK', KEYS[1], ARGV[1], entry)
  end
end
return held
