-- Returns the status of a write. Changes nothing.
--
-- KEYS[1]  the record of the write
-- ARGV[1]  tool     ARGV[2]  fingerprint of tool and arguments; both empty: not checked
--
-- Returns {state, fence, milliseconds left of the lease, outcomes}. The outcomes are a JSON array; empty if none are
-- recorded. The state is one of:
--   "in_progress", "settled", "unknown"   as in the record
--   "abandoned"                           the write is in progress, and its claimant's lease is over
--   "none"                                there is no record
--   "mismatch"                            the record is that of another tool or of other arguments

local record = redis.call('HMGET', KEYS[1], 'state', 'fence', 'lease_ends', 'outcomes', 'tool', 'fingerprint')
local state, fence, lease_ends = record[1], tonumber(record[2] or 0), tonumber(record[3] or 0)
if not state then
  return { 'none', 0, 0, '' }
end
if ARGV[1] ~= '' and (record[5] ~= ARGV[1] or record[6] ~= ARGV[2]) then
  return { 'mismatch', 0, 0, '' }
end
if state ~= 'in_progress' then
  return { state, fence, 0, record[4] or '' }
end

local time = redis.call('TIME')
local left = lease_ends - (time[1] * 1000 + math.floor(time[2] / 1000))
if left <= 0 then
  return { 'abandoned', fence, 0, '' }
end
return { 'in_progress', fence, left, '' }
