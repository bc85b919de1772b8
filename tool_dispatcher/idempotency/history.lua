-- Records the id of this server, and returns the time at which it was first seen after another server.
--
-- KEYS[1]  the partition's history: run_id, and lost_ms, when that changed
-- ARGV[1]  life of the history, in milliseconds
--
-- Returns lost_ms in Unix milliseconds; 0 if it has always been the same server, or if servers have no run_id.
-- The hash is replicated like everything else: writes that a promoted replica lacks are older than the change. A key
-- with foreign content is dropped, and counts as a change: the history before it is not known.

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
