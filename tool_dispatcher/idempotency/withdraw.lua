-- Takes back a claim of begin.lua under which nothing has begun: all stands as if the write had not been asked for.
--
-- KEYS[1]  the record of the write      KEYS[2]  the journal of its batch
-- KEYS[3]  the session's writes         KEYS[4]  their order
-- ARGV[1]  claimant     ARGV[2]  "ROUND/PLACE/KEY"     ARGV[3]  round
-- ARGV[4+] for each call: its id, its journal entry for "begun", its identity
--
-- Returns 1; 0, and changes nothing, when the record is another claimant's, or settled: what it says holds.

local record = redis.call('HMGET', KEYS[1], 'state', 'claimant', 'before')
if record[1] ~= 'in_progress' or record[2] ~= ARGV[1] then
  return 0
end
redis.call('DEL', KEYS[1])
redis.call('ZREM', KEYS[4], ARGV[2])
for i = 4, #ARGV, 3 do
  redis.call('HDEL', KEYS[3], 'call:' .. ARGV[3] .. '/' .. ARGV[i])
  if record[3] and record[3] ~= '' then
    redis.call('HSET', KEYS[3], 'of:' .. ARGV[i + 2], record[3])
  else
    redis.call('HDEL', KEYS[3], 'of:' .. ARGV[i + 2])
  end
  if redis.call('HGET', KEYS[2], ARGV[i + 1]) == ARGV[1] then
    redis.call('HDEL', KEYS[2], ARGV[i + 1])
  end
end
return 1
