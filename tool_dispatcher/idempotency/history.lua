-- Notes which server this is, and says when it was first seen in place of another.
--
-- KEYS[1]  the partition's history: run_id, and lost_ms, when that changed
-- ARGV[1]  how long it is kept, in milliseconds
--
-- Returns lost_ms in Unix milliseconds; 0 when it has been the same server all along, or where servers do not say who
-- they are. The hash is replicated with everything else: what a promoted replica lacks, it lacks from before. What
-- something foreign has left in its place is dropped: from now on nothing is known of what was before.

local info = redis.pcall('INFO', 'server')
local run_id = type(info) == 'string' and string.match(info, 'run_id:(%x+)')
if not run_id then
  return 0
end
local known = redis.pcall('HMGET', KEYS[1], 'run_id', 'lost_ms')
local is_foreign = known.err or (known[2] and not string.match(known[2], '^%d+$'))
if is_foreign then
  redis.call('DEL', KEYS[1])
end
local lost_ms = not is_foreign and known[2] or '0'
if is_foreign or (known[1] and known[1] ~= run_id) then
  local time = redis.call('TIME')
  lost_ms = string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000))
end
redis.call('HSET', KEYS[1], 'run_id', run_id, 'lost_ms', lost_ms)
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return tonumber(lost_ms)
